/**
 * What a path leads to in a JSON record: `properties.email`, `emails[0].value`, `phones[].value`. A member whose own name has
 * the dot wins; names are compared as headers are. JSON objects are read by their own members only.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject } from './cell.ts';
import { normaliseHeader } from './header.ts';

/** A path has at most this many steps (`docs/bad-inputs.md`, "JSON, NDJSON, gzip": a file is at most 32 deep). */
const stepsMax = 32;

/** The values at the end of a path: several where it goes through lists, none where it leads nowhere. */
export function valuesAt(object: JsonObject, path: string): readonly JsonValue[] {
  const own = ownMember(object, path);
  if (own !== undefined) return [own];
  const steps = path.split('.').flatMap(stepsOf);
  if (steps.length > stepsMax) return [];
  return steps.reduce<readonly JsonValue[]>(
    (values, step) => values.flatMap((value) => stepInto(value, step)),
    [object],
  );
}

type Step = { readonly name: string } | { readonly index: number | null };

/** `phones[0]` is a name and an index; `phones[]` goes into all elements. */
function stepsOf(part: string): readonly Step[] {
  const match = /^([^[\]]*)((?:\[\d{0,9}\])*)$/.exec(part);
  if (match === null) return [{ name: part }];
  const [, name = '', brackets = ''] = match;
  const indexes = [...brackets.matchAll(/\[(\d*)\]/g)].map(
    ([, digits = '']): Step => ({
      index: digits === '' ? null : Number(digits),
    }),
  );
  return name === '' && indexes.length > 0 ? indexes : [{ name }, ...indexes];
}

function stepInto(value: JsonValue, step: Step): readonly JsonValue[] {
  if ('name' in step) {
    const found = isJsonObject(value) ? ownMember(value, step.name) : undefined;
    return found === undefined ? [] : [found];
  }
  if (!Array.isArray(value)) return [];
  const list: readonly JsonValue[] = value;
  if (step.index === null) return list;
  const element = list[step.index];
  return element === undefined ? [] : [element];
}

function ownMember(object: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = normaliseHeader(name);
  const alike = Object.keys(object).find((one) => normaliseHeader(one) === wanted);
  return alike === undefined ? undefined : object[alike];
}
