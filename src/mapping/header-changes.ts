/**
 * What changed in the header since the feed's last accepted file: columns that are new, that are gone, and that have another
 * name now. Pure.
 *
 * A column counts as renamed if the old and the new name have the same place, next to the same column before or behind
 * them, and if they mean the same by themselves (`Tel`, `Phone`) or are spelt alike. Otherwise one is gone and one is new.
 */
import { closestName, isIgnoredHeader, normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { genericMeaning } from './layout.ts';

interface HeaderChanges {
  /** Names as their files write them, in the order of the files. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

interface Column {
  readonly name: string;
  /** The nearest columns that both files have, in normalised form; null at the ends. */
  readonly before: string | null;
  readonly behind: string | null;
}

/** The work is at most the product of the changed columns: 500 × 500. */
export function compareHeaders(before: readonly string[], now: readonly string[]): HeaderChanges {
  const removed = unshared(before, now);
  const added = unshared(now, before);
  const taken = new Set<Column>();
  const renamed = removed.flatMap((old) => {
    const candidates = added.filter((one) => !taken.has(one) && isSamePlace(old, one));
    const found = newNameOf(old.name, candidates, ({ name }) => name);
    if (found === null) return [];
    taken.add(found);
    return [{ old, from: old.name, to: found.name }];
  });
  const gone = new Set(renamed.map(({ old }) => old));
  return {
    added: added.filter((one) => !taken.has(one)).map(({ name }) => name),
    removed: removed.filter((one) => !gone.has(one)).map(({ name }) => name),
    renamed: renamed.map(({ from, to }) => ({ from, to })),
  };
}

/** The columns that the other file lacks, each with its neighbours. A name that occurs twice counts once. */
function unshared(columns: readonly string[], others: readonly string[]): readonly Column[] {
  const there = new Set(others.map(normaliseHeader));
  const named = [
    ...new Map(columns.filter((name) => !isIgnoredHeader(name)).map((name) => [normaliseHeader(name), name])),
  ];
  let before: string | null = null;
  const missing = named.flatMap(([form, name], index) => {
    if (!there.has(form)) return [{ name: tidyHeader(name), before, index }];
    before = form;
    return [];
  });
  return missing.map(({ index, ...one }) => ({
    ...one,
    behind: named.slice(index + 1).find(([form]) => there.has(form))?.[0] ?? null,
  }));
}

function isSamePlace(one: Column, other: Column): boolean {
  return one.before === other.before || one.behind === other.behind;
}

/**
 * The one of the candidates that is the column under another name: it means the same by itself, else it is spelt alike. Null where none is,
 * and where several are: none of them is more likely than the others.
 */
function newNameOf<T>(old: string, candidates: readonly T[], nameOf: (candidate: T) => string): T | null {
  const meaning = genericMeaning(old);
  const alike = meaning === null ? [] : candidates.filter((one) => genericMeaning(nameOf(one)) === meaning);
  const [found, second] =
    alike.length > 0
      ? alike
      : candidates.filter((one) => isSpeltAlike(normaliseHeader(old), normaliseHeader(nameOf(one))));
  return found === undefined || second !== undefined ? null : found;
}

/** What a column that a file lacks is probably called there, for "did you mean". @param names the file's columns that nothing else stands for. */
export function nameInstead(lacked: string, names: readonly string[]): string | null {
  return newNameOf(lacked, names, (name) => name) ?? closestName(lacked, names);
}

function isSpeltAlike(one: string, other: string): boolean {
  // `Phone 1` and `Phone 2` are two columns, however alike they are.
  return digitsOf(one) === digitsOf(other) && closestName(one, [other]) !== null;
}

function digitsOf(text: string): string {
  return text.replace(/\P{Nd}/gu, '');
}

/** How many names of each kind of change are listed. */
const listedMax = 10;

/** One sentence without a full stop; null where nothing changed. */
export function describeHeaderChanges({ added, removed, renamed }: HeaderChanges): string | null {
  const plural = (names: readonly string[]): string => (names.length === 1 ? 'column' : 'columns');
  const parts = [
    ...(added.length === 0 ? [] : [`new ${plural(added)} ${listed(added.map(quoted))}`]),
    ...(renamed.length === 0
      ? []
      : [listed(renamed.map(({ from, to }) => `${quoted(from)} is now called ${quoted(to)}`))]),
    ...(removed.length === 0
      ? []
      : [`the ${plural(removed)} ${listed(removed.map(quoted))} ${removed.length === 1 ? 'is' : 'are'} gone`]),
  ];
  return parts.length === 0 ? null : `since the last file: ${parts.join('; ')}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax).join(', ');
  return names.length <= listedMax ? shown : `${shown} and ${names.length - listedMax} more`;
}

/** At least half of the columns of each: otherwise the files are of two kinds, which `main` may hold side by side. */
export function areOfOneKind(before: readonly string[], now: readonly string[]): boolean {
  const forms = (columns: readonly string[]) =>
    new Set(columns.filter((one) => !isIgnoredHeader(one)).map(normaliseHeader));
  const [left, right] = [forms(before), forms(now)];
  return 2 * [...left].filter((form) => right.has(form)).length >= Math.max(left.size, right.size);
}
