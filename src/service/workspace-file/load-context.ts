/**
 * What the loading of a workspace file keeps at hand while it takes records: the tables, the problems, the counts, and the
 * owner and the custom fields of the workspace, which are made where the file has none.
 */
import type { Clock } from '#src/clock.ts';
import { inventUsers } from '#src/service/seed/seed-phone-numbers.ts';
import { seededCustomFields } from '#src/service/seed/seed-workspace.ts';
import type { StoreTables } from '#src/service/store/open-store.ts';
import type { CustomFieldTable, UserTable } from '#src/service/store/workspace-tables.ts';
import type { CustomFieldDefinition, CustomFieldDefinitions } from '#src/service/stored-records.ts';
import type { Problems, RecordPlace } from './problems.ts';
import { type ListSectionName, noRecords, type SectionCounts } from './sections.ts';

export interface LoadContext {
  /** How errors call the file. */
  readonly file: string;
  readonly clock: Clock;
  readonly tables: StoreTables;
  readonly problems: Problems;
  readonly counts: () => SectionCounts;
  /** Inserts a record and counts it, unless the store has one of the same id: that is a problem. */
  readonly keep: (section: ListSectionName, place: RecordPlace, insert: () => void) => void;
  readonly owner: WorkspaceOwner;
  readonly definitions: WorkspaceDefinitions;
}

/** Takes one record of a section. */
export type TakeRecord = (value: unknown, place: RecordPlace) => void;

export function createLoadContext(file: string, tables: StoreTables, problems: Problems, clock: Clock): LoadContext {
  const counts = noRecords();
  return {
    file,
    clock,
    tables,
    problems,
    counts: () => counts,
    keep: (section, place, insert) => {
      if (insertRecord(insert, place, problems)) counts[section] += 1;
    },
    owner: createWorkspaceOwner(tables.users),
    definitions: createWorkspaceDefinitions(tables.customFields),
  };
}

/** Extended result codes of SQLite: UNIQUE and PRIMARY KEY. */
const takenCodes: readonly unknown[] = [2067, 1555];

/** Returns whether it was inserted. @throws what the store throws for other reasons, such as a full disk. */
function insertRecord(insert: () => void, place: RecordPlace, problems: Problems): boolean {
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
  if (reason.includes('phone_number_users.')) return { path: ['users'], message: 'one user occurs here twice' };
  if (reason.endsWith('.external_id')) {
    return { path: ['externalId'], message: 'another contact of the file has this externalId' };
  }
  const member = reason.endsWith('.key') ? 'key' : 'id';
  return { path: [member], message: `another record of this section has this ${member}` };
}

/** Who owns a loaded workspace: the creator of a contact that names none, and the user of a key. */
interface WorkspaceOwner {
  /** What the file's section `workspace` says. */
  readonly name: (id: string, place: RecordPlace) => void;
  /**
   * The user whom the file names; else the first with that role; else the first; else a new one, who is added to the users.
   * To be called when all users of the file are known; the same from then on.
   */
  readonly id: () => string;
  /** The same, after all sections: an owner whom the file names must be one of its users. */
  readonly settle: (problems: Problems) => string;
}

function createWorkspaceOwner(users: UserTable): WorkspaceOwner {
  let settled: string | null = null;
  let namedAt: RecordPlace | null = null;
  const id = () => {
    settled ??= firstOwnerId(users) ?? invent(users);
    return settled;
  };
  return {
    name: (named, place) => {
      settled = named;
      namedAt = place;
    },
    id,
    settle: (problems) => {
      const isKnown = users.find(id()) !== null;
      if (!isKnown && namedAt !== null) problems.add(namedAt, ['ownerUserId'], 'no user of the file has this id');
      return id();
    },
  };
}

function firstOwnerId(users: UserTable): string | null {
  let first: string | null = null;
  for (const user of users.each()) {
    if (user.role === 'owner') return user.id;
    first ??= user.id;
  }
  return first;
}

function invent(users: UserTable): string {
  const [owner] = inventUsers(0);
  users.insert(owner);
  return owner.id;
}

/** The custom fields of a workspace that is being loaded. Without any in the file, those of every new workspace. */
interface WorkspaceDefinitions {
  /** The file has the section, which may be empty. */
  readonly begin: () => void;
  readonly insert: (definition: CustomFieldDefinition) => void;
  /** All of them; none may be inserted afterwards. */
  readonly all: () => CustomFieldDefinitions;
}

function createWorkspaceDefinitions(customFields: CustomFieldTable): WorkspaceDefinitions {
  const definitions = new Map<string, CustomFieldDefinition>();
  let isGiven = false;
  const insert = (definition: CustomFieldDefinition) => {
    customFields.insert(definition);
    definitions.set(definition.key, definition);
  };
  return {
    begin: () => {
      isGiven = true;
    },
    insert,
    all: () => {
      if (!isGiven) for (const definition of seededCustomFields) insert(definition);
      isGiven = true;
      return definitions;
    },
  };
}
