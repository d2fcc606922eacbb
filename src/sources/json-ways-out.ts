/** What to do about JSON that holds contacts, but in a form that is not read: which program writes it, and the command that makes it a list. Pure. */
import type { JsonError } from '#src/json/place.ts';
import { isList, type JsonValue } from '#src/json/record-value.ts';
import { mayHoldRecords } from './json-wrapper.ts';

type JsonObject = { readonly [name: string]: JsonValue };

/** Why the text is no JSON, where that has a known cause; null for any other. */
export function hintOnSyntax({ found, message }: JsonError): string | null {
  if (found === 'NaN' || found === 'Infinity')
    return `${found} is no JSON: Python and pandas write it, mostly where a value is missing. Have them write null, as DataFrame.to_json does.`;
  if (!message.startsWith('expected nothing more') || (found !== '{' && found !== '[')) return null;
  return found === '{'
    ? 'Several objects follow each other, as jq prints them: have it print one per line (jq -c), or one list (jq -s).'
    : "Several lists follow each other, as jq prints them: have it print the objects alone, one per line (jq -c '.[]').";
}

const pandas =
  "It is a table as pandas writes it: have it write one object for each row, df.to_json(…, orient='records').";

/** Of a document whose columns, or rows, are members of an object: by their numbers. Null for any other. */
export function hintOnTable(root: JsonObject): string | null {
  const values = Object.values(root);
  if (values.length === 0 || !values.every(isObject)) return null;
  const isNumbered = (names: readonly string[]): boolean =>
    names.length > 0 && names.every((name) => /^\d{1,9}$/.test(name));
  const [first = {}] = values;
  const columns = Object.keys(first).join();
  const areColumns = isNumbered(Object.keys(first)) && values.every((one) => Object.keys(one).join() === columns);
  return areColumns || isNumbered(Object.keys(root)) ? pandas : null;
}

/** Of a document with its rows in lists, and the names of their members beside them. @param names of members before the rows. */
export function hintOnSplit(names: readonly string[]): string | null {
  return names.includes('columns') ? pandas : null;
}

const depthMax = 4;

/**
 * Of a document whose list is inside of an object.
 *
 * @param names of its members. @param root those of them that are not too long.
 */
export function hintOnInnerList(names: readonly string[], root: JsonObject): string | null {
  const [path] = innerLists(root, '', 1);
  if (path !== undefined) return innerHint(path.path, path.first);
  // What is longer than a record is not kept.
  if (names.includes('hits') && root.hits === undefined) return innerHint('.hits.hits', { _source: {} });
  return names.length === 1 && names[0] === 'd' && root.d === undefined ? innerHint('.d.results', {}) : null;
}

function innerHint(path: string, first: JsonObject): string {
  const inside = isObject(first._source ?? null) ? '._source' : '';
  return `The list is inside of it: write its objects alone, one per line, with jq -c '${path}[]${inside}'.`;
}

interface InnerList {
  /** As jq writes it: `.hits.hits`. */
  readonly path: string;
  readonly first: JsonObject;
}

/** Ends at the fourth level. */
function innerLists(object: JsonObject, above: string, depth: number): readonly InnerList[] {
  return Object.entries(object).flatMap(([name, value]): readonly InnerList[] => {
    if (!/^[a-z_]\w*$/i.test(name)) return [];
    const path = `${above}.${name}`;
    if (isObject(value)) return depth < depthMax ? innerLists(value, path, depth + 1) : [];
    if (depth === 1 || !isList(value) || !mayHoldRecords(name)) return [];
    const [first = null] = value;
    return isObject(first) ? [{ path, first }] : [];
  });
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}
