/**
 * What a mapping would read beyond the generic layout: a file with its key column may have further columns under the names of a program, such as
 * the country of its numbers. Pure.
 */
import { columnUses } from '#src/mapping/show/explain-row.ts';
import { tidyHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import type { FileFacts } from './column-facts.ts';
import type { ProposedColumn } from './proposal.ts';
import { countryTarget, proposeMapping } from './propose.ts';

/**
 * Those columns of a table, with what each would become. Of JSON (null) the country alone: its lists are named by a mapping in another way, so
 * that of other members it is not known whether the generic layout reads them.
 */
export function moreThanGeneric(
  { columns, facts }: { readonly columns: readonly string[] | null; readonly facts: FileFacts },
  options: Parameters<typeof proposeMapping>[1],
): readonly ProposedColumn[] {
  if (columns === null) {
    const proposed = proposeMapping(facts, options).columns;
    return proposed.filter(({ target, example }) => target === countryTarget && example !== null);
  }
  const names = facts.columns.map(({ name }) => name);
  const uses = columnUses(null, names);
  return proposeMapping(facts, options).columns.filter(
    ({ target, example }, index) => target !== null && example !== null && uses[index]?.length === 0,
  );
}

/** Of a file that is read by the generic layout: a person decides. */
export function moreNote(more: readonly ProposedColumn[]): readonly string[] {
  if (more.length === 0) return [];
  const named = more.map(({ column, target }) => `"${tidyHeader(column)}" (${target})`).join(', ');
  return [`a mapping would also read ${named}; --save makes one, which leaves the keys as they are`];
}

/** Of the mapping that is proposed for it. */
export function moreRead(more: readonly ProposedColumn[]): readonly string[] {
  if (more.length === 0) return [];
  const names = listNames(more.map(({ column }) => column));
  return [`the file is in the generic layout, which does not read ${names}; the keys are those that it had there`];
}
