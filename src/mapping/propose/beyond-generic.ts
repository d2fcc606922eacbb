/**
 * What a mapping would read beyond the generic layout: a file with its key column may have further columns under the names of a program, such as
 * the country of its numbers. Pure.
 */
import { isCustomListName, unreadInWords } from '#src/mapping/contradicted-country.ts';
import { columnUses } from '#src/mapping/show/explain-row.ts';
import { tidyHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import type { FileFacts } from './column-facts.ts';
import type { ProposedColumn } from './proposal.ts';
import { countryTarget, proposeMapping } from './propose.ts';

/**
 * Those columns of a table, with what each would become. Of JSON the country alone: its lists are named by a mapping in another way, so
 * that of other members it is not known whether the generic layout reads them.
 */
export function moreThanGeneric(
  { columns, facts }: Layout,
  options: Parameters<typeof proposeMapping>[1],
): readonly ProposedColumn[] {
  const proposed = proposeMapping(facts, options).columns;
  const isContradicting = new Set(options.contradicting?.map(tidyHeader));
  const isMore = ({ column, target, example }: ProposedColumn): boolean =>
    target !== null && (example !== null || isContradicting.has(tidyHeader(column)));
  if (columns === null) return proposed.filter((one) => one.target === countryTarget && isMore(one));
  const uses = columnUses(
    null,
    facts.columns.map(({ name }) => name),
  );
  return proposed.filter((one, index) => isMore(one) && uses[index]?.length === 0);
}

interface Layout {
  /** Null for JSON. */
  readonly columns: readonly string[] | null;
  readonly facts: FileFacts;
}

/** Members of JSON that the generic layout reads, and the mapping that is proposed does not: lists of custom fields, and those it makes nothing of. */
export function lessThanGeneric(
  { columns, facts }: Layout,
  options: Parameters<typeof proposeMapping>[1],
): readonly string[] {
  if (columns !== null) return [];
  const proposed = proposeMapping(facts, options).columns;
  const members = Map.groupBy(facts.columns.keys(), (index) => ownMember(facts.columns[index]?.name ?? ''));
  return [...members].flatMap(([name, indexes]) => {
    const isRead = isCustomListName(name) || columnUses(null, [name])[0]?.length !== 0;
    return isRead && indexes.every((index) => proposed[index]?.target === null) ? [name] : [];
  });
}

/** `customFields` of `customFields[0].key`; a path through objects as it is. */
function ownMember(path: string): string {
  return /^([^.[]+)\[\d*\]/.exec(path)?.[1] ?? path;
}

/** Of a file that is read by the generic layout: a person decides. */
export function moreNote(more: readonly ProposedColumn[], less: readonly string[]): readonly string[] {
  if (more.length === 0) return [];
  const named = more.map(({ column, target }) => `"${tidyHeader(column)}" (${target})`).join(', ');
  return [`a mapping would also read ${named}; --save makes one, which leaves the keys as they are`, ...lessNote(less)];
}

/** Of the mapping that is proposed for it. */
export function moreRead(more: readonly ProposedColumn[], less: readonly string[]): readonly string[] {
  if (more.length === 0) return [];
  const names = listNames(more.map(({ column }) => column));
  return [
    `the file is in the generic layout, which does not read ${names}; the keys are those that it had there`,
    ...lessNote(less),
  ];
}

function lessNote(less: readonly string[]): readonly string[] {
  const words = unreadInWords(less);
  return words === null ? [] : [`the mapping is to be checked: ${words}`];
}
