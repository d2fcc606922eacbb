/**
 * The sections of a workspace file, in the order in which a dump writes them.
 *
 * A section *needs* those whose records its own refer to: they are taken first, wherever they are in the file.
 * Invariant: the needs have no cycle, and each comes before those that need it.
 */

export const sectionNames = [
  'workspace',
  'users',
  'customFields',
  'phoneNumbers',
  'contacts',
  'calls',
  'recordings',
  'messages',
] as const;
export type SectionName = (typeof sectionNames)[number];

/** `workspace` is one object, the others are lists of records. */
export type ListSectionName = Exclude<SectionName, 'workspace'>;

export const sectionNeeds: Readonly<Record<SectionName, readonly SectionName[]>> = {
  workspace: [],
  users: [],
  customFields: [],
  // Without users in the file, they are those of the numbers.
  phoneNumbers: ['users'],
  // A contact that names no creator is the owner's, and the owner may be found among the users.
  contacts: ['workspace', 'users', 'customFields', 'phoneNumbers'],
  calls: ['workspace', 'users', 'phoneNumbers'],
  recordings: ['calls'],
  messages: ['workspace', 'users', 'phoneNumbers'],
};

export function isSectionName(name: string): name is SectionName {
  return sectionNames.some((one) => one === name);
}

/** How many records of each list there are. */
export type SectionCounts = Readonly<Record<ListSectionName, number>>;

/** The version of the format. A newer file is refused. */
export const workspaceFileFormat = 1;

export function noRecords(): Record<ListSectionName, number> {
  return { users: 0, customFields: 0, phoneNumbers: 0, contacts: 0, calls: 0, recordings: 0, messages: 0 };
}
