/** How a run came to be, what it is read by and what was approved, in words. Command line and page show the same. Pure. */
import { type GuardFigures, percent } from '#src/ledger/rules/approval.ts';
import type { RunOrigin, RunRecord } from '#src/ledger/runs.ts';

/** By what a run came to be. The path follows where it is known. */
export const originWords: Readonly<Record<RunOrigin, string>> = {
  folder: 'dropped into the import folder',
  command: 'named by a command:',
  schedule: 'taken by its schedule',
  request: 'taken by its schedule, on request',
  retry: 'a retry of dead letters',
  decision: 'a decision for held fields',
  undo: 'takes back what a run wrote',
};

/** What its rows are read by. */
export function layoutWords(mapping: RunRecord['mapping']): string {
  if (mapping === null) return 'generic layout';
  return mapping.recognise === undefined ? `mapping ${mapping.name}` : `preset ${mapping.name}`;
}

/** One figure of an approval. Columns are counted: a share of them says nothing. */
export function approvedText({ guard, count, base }: GuardFigures): string {
  switch (guard) {
    case 'unmapped':
      return `despite unmapped columns: ${count}`;
    case 'columns':
      return `despite missing columns: ${count}`;
    case 'blanks':
      return `despite blank columns: ${count}`;
    default:
      return `${guard} ${count} of ${base} (${percent(base === 0 ? 1 : count / base)})`;
  }
}
