/**
 * Paths into JSON records: `properties.email`, `emails[0].value`, `phones[].value`. Names are compared as headers are. A
 * member whose own name has the dot wins: `{"a.b": 1}` has a member `a.b`.
 */

import { normaliseHeader } from '#src/sources/column-name.ts';
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject } from './cell.ts';

/** What a path leads to. */
export interface Member {
  /** As the record names it. */
  readonly name: string;
  /** Undefined where the record has no such member. A path with `[]` leads to a list. */
  readonly raw: JsonValue | undefined;
  /** A second member whose name is as similar, so that neither can be meant. */
  readonly rival?: string;
}

interface Step {
  /** As written, with brackets. */
  readonly text: string;
  readonly name: string;
  /** Null is `[]`: every element. */
  readonly indexes: readonly (number | null)[];
}

const stepsMax = 20;

/** A function that finds the member of a record. A path of more than 20 steps leads nowhere but to a member of that name. */
export function memberFinder(path: string): (object: JsonObject) => Member {
  const steps = path
    .split('.')
    .slice(0, stepsMax + 1)
    .map(stepOf);
  const isTooLong = steps.length > stepsMax;
  return (object) => {
    const whole = memberNamed(object, path);
    if (whole.raw !== undefined || steps.length === 1 || isTooLong) {
      const [only] = steps;
      const hasIndexes = whole.raw === undefined && only !== undefined && !isTooLong && only.indexes.length > 0;
      return hasIndexes ? follow(object, steps, '') : whole;
    }
    return follow(object, steps, '');
  };
}

/** Paths are few, and asked of every record. */
const finders = new Map<string, (object: JsonObject) => Member>();
const findersMax = 1_000;

export function finderOf(path: string): (object: JsonObject) => Member {
  const finder = finders.get(path) ?? memberFinder(path);
  if (finders.size < findersMax) finders.set(path, finder);
  return finder;
}

/** The steps of a path without their brackets, in the form in which names are compared: `phones[].value` → phones, value. */
export function pathNames(path: string): readonly string[] {
  return path.split('.').map((text) => normaliseHeader(nameOfStep(text)));
}

/** A step of a path without its brackets. */
export function nameOfStep(text: string): string {
  return stepOf(text).name;
}

function stepOf(text: string): Step {
  const match = /^(.*?)((?:\[\d{0,4}\])+)$/s.exec(text);
  if (match === null) return { text, name: text, indexes: [] };
  const indexes = [...(match[2] ?? '').matchAll(/\[(\d*)\]/g)].map(([, digits = '']) =>
    digits === '' ? null : Number(digits),
  );
  return { text, name: match[1] ?? '', indexes };
}

const nowhere = (name: string): Member => ({ name, raw: undefined });

/** Ends at the last step: each turn takes at least one of them. */
function follow(value: JsonValue, steps: readonly Step[], above: string): Member {
  const [first, ...others] = steps;
  if (first === undefined) return { name: above, raw: value };
  if (!isJsonObject(value)) return nowhere(above);
  for (let count = steps.length; count > 1; count -= 1) {
    const text = steps.slice(0, count).map((step) => step.text);
    const found = memberNamed(value, text.join('.'));
    if (found.raw === undefined) continue;
    const end = follow(found.raw, steps.slice(count), joined(above, found.name));
    if (end.raw !== undefined) return rivalled(end, found);
  }
  const literal = memberNamed(value, first.text);
  if (literal.raw !== undefined) return rivalled(follow(literal.raw, others, joined(above, literal.name)), literal);
  if (first.indexes.length === 0) return nowhere(joined(above, first.text));
  const own = first.name === '' ? { name: '', raw: value as JsonValue } : memberNamed(value, first.name);
  return rivalled(followIndexes(own.raw, first.indexes, others, joined(above, own.name)), own);
}

function followIndexes(
  value: JsonValue | undefined,
  indexes: readonly (number | null)[],
  steps: readonly Step[],
  above: string,
): Member {
  if (value === undefined) return nowhere(above);
  const [index, ...rest] = indexes;
  if (index === undefined) return follow(value, steps, above);
  // As everywhere, null says that there is no value.
  if (value === null && index === null) return { name: `${above}[]`, raw: [] };
  if (!Array.isArray(value)) return nowhere(above);
  if (index !== null) return followIndexes(value[index], rest, steps, `${above}[${index}]`);
  const ends = value.map((element: JsonValue) => followIndexes(element, rest, steps, `${above}[]`));
  const isListOfLists = rest.includes(null) || steps.some((step) => step.indexes.includes(null));
  const found = ends.flatMap(({ raw }) => {
    if (raw === undefined) return [];
    return Array.isArray(raw) && isListOfLists ? raw : [raw];
  });
  const [name] = ends.map((end) => end.name);
  // A member that no element has is absent: an empty list would say that there is no value. A blank element, or an empty list, says that.
  const isSaid = ends.length === 0 || ends.some(({ raw }, at) => raw !== undefined || isBlank(value[at]));
  return { name: name ?? `${above}[]`, raw: isSaid ? found : undefined };
}

/** Of an element of a list: it is left out. */
export function isBlank(element: JsonValue | undefined): boolean {
  return element === null || element === '';
}

function rivalled(end: Member, { rival }: Member): Member {
  return rival === undefined ? end : { ...end, rival };
}

function joined(above: string, name: string): string {
  return above === '' ? name : `${above}.${name}`;
}

/** By its exact name, else by its normalised one. */
export function memberNamed(object: JsonObject, name: string): Member {
  if (Object.hasOwn(object, name)) return { name, raw: object[name] };
  const [found, rival] = namesByHeader(object).get(normaliseHeader(name)) ?? [];
  if (found === undefined) return nowhere(name);
  return { name: found, raw: object[found], ...(rival === undefined ? {} : { rival }) };
}

/** For as long as the record lives: several columns may ask for the same. */
const known = new WeakMap<JsonObject, ReadonlyMap<string, readonly string[]>>();

function namesByHeader(object: JsonObject): ReadonlyMap<string, readonly string[]> {
  const met = known.get(object);
  if (met !== undefined) return met;
  const names = new Map<string, string[]>();
  for (const name of Object.keys(object)) {
    const header = normaliseHeader(name);
    const list = names.get(header);
    if (list === undefined) names.set(header, [name]);
    else list.push(name);
  }
  known.set(object, names);
  return names;
}
