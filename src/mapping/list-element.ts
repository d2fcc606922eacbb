/**
 * Which members of an element of a JSON list hold its value and its label: `{"name": "work", "value": "+1…"}`, or what other programs
 * call them (`docs/mapping.md`, "JSON"). Names are compared as headers are.
 */
import { listNames } from '#src/sources/row.ts';
import { bad, type Flaw, type JsonObject } from './cell.ts';
import { memberNamed } from './json-path.ts';

/** In order: of several that are filled, the first is the value. */
const valueMembers = ['value', 'number', 'email', 'address'] as const;
/** Each is the value where it is the only one that is filled. */
const furtherValueMembers = ['phone', 'phoneNumber', 'emailAddress'] as const;
const labelMembers = ['name', 'label', 'type'] as const;

/** As the element names it. Null: none of its members is known as its value, or two may be. */
export function valueMemberOf(element: JsonObject): string | null {
  if (isFilled(element, 'value')) return 'value';
  const [named, further] = [namesOf(element, valueMembers), namesOf(element, furtherValueMembers)];
  if (named === null || further === null) return null;
  const [first, ...others] = [named, further].map((names) => names.filter((name) => isFilled(element, name)));
  if (first !== undefined && first.length > 0) return first[0] ?? null;
  const filled = others.flat();
  return filled.length > 1 ? null : (filled[0] ?? named[0] ?? further[0] ?? null);
}

/** As the element names it; null for none. */
export function labelMemberOf(element: JsonObject): string | null {
  return labelMembers.find((name) => Object.hasOwn(element, name)) ?? namesOf(element, labelMembers)?.[0] ?? null;
}

/** Null where two members have equally similar names. */
function namesOf(element: JsonObject, known: readonly string[]): readonly string[] | null {
  const members = known.map((name) => memberNamed(element, name)).filter(({ raw }) => raw !== undefined);
  return members.some(({ rival }) => rival !== undefined) ? null : members.map(({ name }) => name);
}

function isFilled(element: JsonObject, name: string): boolean {
  const raw = Object.hasOwn(element, name) ? element[name] : null;
  return raw !== null && !(typeof raw === 'string' && raw.trim() === '');
}

/**
 * Of an element without a value that is known. It is no blank element: its value has another name, and to leave it out
 * would take the value away from the contact.
 *
 * @param list as a mapping names it. @param path of the list.
 */
export function valueUnknown(element: JsonObject, list: 'emails' | 'phones', path: string): Flaw {
  const names = Object.keys(element);
  const known = [...valueMembers, ...furtherValueMembers];
  const message = `which member holds the value is not clear: it has ${listNames(names)}; known are ${known.join(', ')}`;
  const label = labelMemberOf(element);
  const [member, ...others] = names.filter((name) => name !== label && isText(element[name]));
  const isClear = member !== undefined && others.length === 0;
  const entry = isClear ? entryOf(`${path}[].${member}`, label === null ? null : `${path}[].${label}`) : null;
  const hint =
    entry === null || entry.length > entryCharactersMax
      ? 'Write the value under the name "value", or leave the element out.'
      : `Call the member "value", or name it in a mapping: ${list}: [${entry}]`;
  return bad('shapeWrong', message, hint).flaw;
}

const entryCharactersMax = 300;

function isText(raw: unknown): boolean {
  return typeof raw === 'string' || typeof raw === 'number' || raw === null;
}

function entryOf(column: string, label: string | null): string {
  const labelled = label === null ? '' : `, label: { column: ${JSON.stringify(label)} }`;
  return `{ column: ${JSON.stringify(column)}${labelled} }`;
}
