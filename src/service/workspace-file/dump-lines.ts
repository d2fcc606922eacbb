/**
 * A workspace as the text of a workspace file: one JSON document, each record on a line of its own, section by section.
 *
 * Nothing of it depends on when or where it is written: the same content gives the same bytes. API keys are never in
 * it.
 */
import type { StoreTables } from '../store/open-store.ts';
import { noRecords } from './record-counts.ts';
import { type ListSectionName, workspaceFileFormat } from './sections.ts';

export interface DumpLines {
  readonly lines: () => Iterable<string>;
  /** How many records each list had so far. */
  readonly counts: () => Readonly<Record<ListSectionName, number>>;
}

export function createDumpLines(tables: StoreTables, ownerUserId: string): DumpLines {
  const counts = noRecords();
  // In the order in which a load can take them in one reading.
  const sections: readonly (readonly [ListSectionName, () => Iterable<unknown>])[] = [
    ['users', tables.users.each],
    ['customFields', tables.customFields.all],
    ['phoneNumbers', tables.phoneNumbers.each],
    ['contacts', tables.contacts.each],
    ['calls', tables.calls.each],
    ['recordings', tables.recordings.each],
    ['messages', tables.messages.each],
  ];
  return {
    counts: () => counts,
    lines: function* () {
      yield `{\n"workspace":${JSON.stringify({ format: workspaceFileFormat, ownerUserId })}`;
      for (const [name, each] of sections) {
        yield `,\n${JSON.stringify(name)}:[`;
        for (const record of each()) {
          yield `${counts[name] === 0 ? '\n' : ',\n'}${JSON.stringify(record)}`;
          counts[name] += 1;
        }
        yield counts[name] === 0 ? ']' : '\n]';
      }
      yield '\n}\n';
    },
  };
}
