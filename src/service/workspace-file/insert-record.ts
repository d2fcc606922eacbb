/** Inserts a record, and tells where the store refuses it because another one has its id. */
import type { Problems, RecordPlace } from './problems.ts';
import type { ListSectionName } from './sections.ts';

/** Takes one record of a section. */
export type TakeRecord = (value: unknown, place: RecordPlace) => void;

/** Keeps a record unless the store has one of the same id, and counts it. */
export type KeepRecord = (section: ListSectionName, place: RecordPlace, insert: () => void) => void;

/** Extended result codes of SQLite: UNIQUE and PRIMARY KEY. */
const takenCodes: readonly unknown[] = [2067, 1555];

/** Answers whether it was inserted. Throws what the store throws for other reasons, as a full disk. */
export function insertRecord(insert: () => void, place: RecordPlace, problems: Problems): boolean {
  try {
    insert();
    return true;
  } catch (error) {
    if (!(error instanceof Error) || !('errcode' in error) || !takenCodes.includes(error.errcode)) throw error;
    const { path, message } = taken(error.message);
    problems.add(place, path, message);
    return false;
  }
}

/** SQLite names the columns: `UNIQUE constraint failed: contacts.external_id`. */
function taken(reason: string): { readonly path: readonly string[]; readonly message: string } {
  if (reason.includes('phone_number_users.')) return { path: ['users'], message: 'one user stands here twice' };
  if (reason.endsWith('.external_id')) {
    return { path: ['externalId'], message: 'another contact of the file has this externalId' };
  }
  const member = reason.endsWith('.key') ? 'key' : 'id';
  return { path: [member], message: `another record of this section has this ${member}` };
}
