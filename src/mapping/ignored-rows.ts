/**
 * Which rejected rows a mapping leaves alone, by `ignoreRejected` (`docs/mapping.md`, "Rows to leave out"): they are skipped and counted,
 * and leave no dead letter. Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { Mapping } from './mapping-schema.ts';

/** Whether a row with these problems is skipped: a rule fits each of them, so that no other problem is passed over. */
export type IgnoresRow = (problems: readonly Problem[]) => boolean;

export function ignoredRows(mapping: Pick<Mapping, 'ignoreRejected'> | null): IgnoresRow {
  const rules = mapping?.ignoreRejected ?? [];
  if (rules.length === 0) return () => false;
  const names = rules.map(({ code, column }) => ({
    code,
    column: column === undefined ? null : normaliseHeader(column),
  }));
  const fits = ({ code, field }: Problem): boolean =>
    names.some((rule) => rule.code === code && (rule.column === null || rule.column === normaliseHeader(field ?? '')));
  return (problems) => problems.length > 0 && problems.every(fits);
}
