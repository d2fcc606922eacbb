/** Proposals for files of an unknown layout, made from rows as a reader gives them. */
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { collectFacts, type FileFacts } from '#src/mapping/propose/column-facts.ts';
import { draftText } from '#src/mapping/propose/proposal.ts';
import { proposeMapping } from '#src/mapping/propose/propose.ts';
import { cellsRow, objectRow } from '../../support.ts';

export type Cells = readonly string[];

export function tableFacts(header: Cells, rows: readonly Cells[]): FileFacts {
  const collector = collectFacts(header);
  for (const [index, cells] of rows.entries()) collector.see(cellsRow(header, cells, index + 2));
  return collector.facts(false);
}

export function jsonFacts(objects: readonly object[]): FileFacts {
  const collector = collectFacts(null);
  for (const [index, object] of objects.entries()) collector.see(objectRow(object, index + 1));
  return collector.facts(false);
}

const options = { fileName: 'contacts', feed: null, country: null, reading: {}, before: null } as const;

/** A proposal without a key has no text. */
export function proposal(facts: FileFacts, given: Partial<Parameters<typeof proposeMapping>[1]> = {}) {
  const draft = proposeMapping(facts, { ...options, ...given });
  const text = draftText(draft, { file: 'contacts.csv', rows: facts.rows });
  return { draft, text };
}

/** Each proposal with a key is a valid mapping, whatever the file. */
export function propose(facts: FileFacts, given: Partial<Parameters<typeof proposeMapping>[1]> = {}) {
  const { draft, text } = proposal(facts, given);
  if (text === null) throw new Error(`no key: ${draft.remarks.join('; ')}`);
  return { draft, text, mapping: parseMapping(text, 'draft.yaml') };
}

/** `ID → key (certain)`; left out: `Notes → –`. */
export const lines = (facts: FileFacts, given = {}) =>
  proposal(facts, given).draft.columns.map(
    ({ column, target, confidence }) => `${column} → ${target === null ? '–' : `${target} (${confidence})`}`,
  );

export const people: readonly Cells[] = [
  ['Ada', 'Lovelace'],
  ['Bob', 'Byron'],
  ['Cleo', 'Carter'],
  ['Dora', 'Dyer'],
  ['Emil', 'Eck'],
  ['Fay', 'Fox'],
];
export const six = (make: (index: number) => Cells): readonly Cells[] => [0, 1, 2, 3, 4, 5].map(make);
export const first = (index: number) => people[index]?.[0] ?? '';
export const last = (index: number) => people[index]?.[1] ?? '';
