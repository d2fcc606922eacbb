/**
 * Which elements of a list in JSON an address or a number is proposed from: each, or the first alone. Elements with a name or a key of their
 * own are people: the contact is the first of them, and what the others hold is not theirs. Pure.
 */
import type { ColumnFacts } from './column-facts.ts';
import { isNumberOfOther } from './column-names.ts';
import type { JudgedColumn } from './propose-columns.ts';

export interface PlacedColumn extends JudgedColumn {
  /** Of an address, a number or a label in a list: `phones[].nr`, or `people[0].phone`. Null for any other column. */
  readonly path: string | null;
}

/**
 * @param columns all of the file, of which one is left for each field.
 * @param judged the same, before that: with the names of people who are not the contact.
 */
export function placeInLists(
  columns: readonly JudgedColumn[],
  judged: readonly JudgedColumn[],
  key: ColumnFacts | null,
): readonly PlacedColumn[] {
  const people = listsOfPeople(judged, key);
  const ofContact = listsOfContact(columns, key);
  const place = (path: string): string =>
    path.replaceAll('[]', (every, at: number) => (people.has(firstOfEach(path.slice(0, at))) ? '[0]' : every));
  return columns.map((one): PlacedColumn => {
    const { facts, meaning } = one;
    if (facts.ofElements === null || (meaning.kind !== 'items' && meaning.kind !== 'label'))
      return { ...one, path: null };
    const path = place(facts.ofElements.path);
    if (path === facts.ofElements.path) return { ...one, path };
    if (meaning.kind === 'label') return { ...one, path };
    const { labelPath, ...items } = meaning;
    const placed = {
      ...one,
      path,
      meaning: labelPath === undefined ? items : { ...items, labelPath: place(labelPath) },
    };
    const isOfContact = listsIn(facts.name).every((list) => !people.has(list) || ofContact.has(list));
    return isOfContact
      ? { ...placed, reason: `${one.reason}; of the first alone, since the others are other people` }
      : { ...placed, confidence: 'guess', reason: `${one.reason}; beside another name, they may be another person's` };
  });
}

/** `people` for `people[0].firstName`. */
function listsOfPeople(columns: readonly JudgedColumn[], key: ColumnFacts | null): ReadonlySet<string> {
  const labels = new Set(columns.map(({ meaning }) => (meaning.kind === 'items' ? meaning.labelPath : undefined)));
  const isPerson = (one: JudgedColumn): boolean =>
    (isName(one) || isUnusedName(one)) && !labels.has(one.facts.ofElements?.path);
  return listsOf(columns.filter((one) => (one.facts === key ? isKeyOfPeople(one, columns) : isPerson(one))));
}

/** Those of the columns that the name of the contact is made of, or that are the key. */
function listsOfContact(columns: readonly JudgedColumn[], key: ColumnFacts | null): ReadonlySet<string> {
  const names = columns.filter(isName);
  const parts = names.filter(({ meaning }) => meaning.kind === 'scalar');
  return listsOf([...(parts.length > 0 ? parts : names), ...columns.filter(({ facts }) => facts === key)]);
}

function isName({ meaning }: JudgedColumn): boolean {
  if (meaning.kind === 'scalar') return meaning.name === 'firstName' || meaning.name === 'lastName';
  return meaning.kind === 'wholeName';
}

function isUnusedName({ facts, meaning, kinds }: JudgedColumn): boolean {
  const last = facts.name.slice(facts.name.lastIndexOf('.') + 1);
  return meaning.kind === 'unused' && /name$/i.test(last) && !isNumberOfOther(last) && kinds.wholeName >= mostly;
}

const mostly = 0.8;

/** An address that is the key may be one of several that the contact has, unless there are numbers beside it. */
function isKeyOfPeople({ facts, meaning }: JudgedColumn, all: readonly JudgedColumn[]): boolean {
  if (meaning.kind !== 'items') return true;
  const list = listsIn(facts.name).at(-1);
  return all.some(
    (one) =>
      one.meaning.kind === 'items' && one.meaning.list !== meaning.list && listsIn(one.facts.name).at(-1) === list,
  );
}

function listsOf(columns: readonly JudgedColumn[]): ReadonlySet<string> {
  return new Set(columns.flatMap(({ facts }) => listsIn(facts.name)));
}

/** `people[0].phones[0].nr` → `people`, `people[0].phones`. */
function listsIn(path: string): readonly string[] {
  return [...path.matchAll(/\[0\]/g)].map(({ index }) => path.slice(0, index));
}

function firstOfEach(path: string): string {
  return path.replaceAll('[]', '[0]');
}
