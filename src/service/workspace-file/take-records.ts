/**
 * Takes the records of each section into the tables: checks a record by itself, then against those before it.
 *
 * Every problem is counted; a record with one is not kept. The tables are those of a store that nobody uses yet.
 * Sections come in an order in which each finds those that it needs (`sections.ts`).
 */
import type { Clock } from '#src/clock.ts';
import type { StoreTables } from '../store/open-store.ts';
import { fittingRecord } from './check-record.ts';
import { fileNewer } from './file-errors.ts';
import { insertRecord, type KeepRecord, type TakeRecord } from './insert-record.ts';
import type { Problems, RecordPlace } from './problems.ts';
import { noRecords } from './record-counts.ts';
import * as schemas from './record-schemas.ts';
import { type SectionCounts, type SectionName, workspaceFileFormat } from './sections.ts';
import { takeActivity } from './take-activity.ts';
import { type ContactParts, takeContacts } from './take-contact.ts';
import { takePhoneNumber } from './take-phone-number.ts';
import { createWorkspaceDefinitions } from './workspace-definitions.ts';
import { createWorkspaceOwner } from './workspace-owner.ts';

export interface RecordTaker {
  /** A section begins. Each section begins once. */
  readonly begin: (section: SectionName) => void;
  /** Throws `workspaceFileNewer`, and what the store throws. */
  readonly take: (value: unknown, place: RecordPlace) => void;
  /** What the file leaves out is made. Answers the owner and how many records each section has. */
  readonly finish: () => { readonly ownerUserId: string; readonly counts: SectionCounts };
}

/** All definitions are kept in memory. */
const customFieldCountMax = 10_000;

export function createRecordTaker(file: string, tables: StoreTables, problems: Problems, clock: Clock): RecordTaker {
  const counts = noRecords();
  const keep: KeepRecord = (section, place, insert) => {
    if (insertRecord(insert, place, problems)) counts[section] += 1;
  };
  const owner = createWorkspaceOwner(tables.users);
  const definitions = createWorkspaceDefinitions(tables.customFields);
  let hasUsers = false;
  const parts: TakerParts = { file, tables, problems, keep, owner, definitions, clock };
  const takers: Readonly<Record<SectionName, TakeRecord>> = {
    workspace: takeWorkspace(parts),
    users: takeUsers(parts),
    customFields: takeCustomFields(parts, () => counts.customFields),
    phoneNumbers: (value, place) => takePhoneNumber(value, place, { tables, problems, keep, hasUsers }),
    contacts: takeContacts(parts),
    ...takeActivity(parts),
  };
  return {
    begin: (section) => {
      if (section === 'users') hasUsers = true;
      if (section === 'customFields') definitions.begin();
    },
    take: (value, place) => takers[place.section](value, place),
    finish: () => ({
      ownerUserId: owner.settle(problems),
      counts: { ...counts, customFields: definitions.all().size, users: countOf(tables.users.each()) },
    }),
  };
}

interface TakerParts extends ContactParts {
  readonly file: string;
}

function takeWorkspace({ file, problems, owner }: TakerParts): TakeRecord {
  return (value, place) => {
    // A newer program may know members that this one would call unknown.
    const format = schemas.workspaceFormat.safeParse(value).data?.format ?? workspaceFileFormat;
    if (format > workspaceFileFormat) throw fileNewer(file, format, workspaceFileFormat);
    const record = fittingRecord(schemas.workspaceRecord, value, place, problems);
    if (record?.ownerUserId !== undefined) owner.name(record.ownerUserId, place);
  };
}

function takeUsers({ tables, problems, keep }: TakerParts): TakeRecord {
  return (value, place) => {
    const user = fittingRecord(schemas.userRecord, value, place, problems);
    if (user !== null) keep('users', place, () => tables.users.insert(user));
  };
}

function takeCustomFields({ problems, keep, definitions }: TakerParts, keptCount: () => number): TakeRecord {
  return (value, place) => {
    const definition = fittingRecord(schemas.customFieldRecord, value, place, problems);
    if (definition === null) return;
    if (keptCount() < customFieldCountMax) {
      keep('customFields', place, () => definitions.insert(definition));
    } else {
      problems.add(place, [], `a workspace holds at most ${customFieldCountMax} custom fields`);
    }
  };
}

/** Users and custom fields may have been made, too. */
function countOf(records: Iterable<unknown>): number {
  let count = 0;
  for (const _record of records) count += 1;
  return count;
}
