/**
 * Which members of an element of a JSON list hold its value and its label: `{"name": "work", "value": "+1…"}`, or what other programs
 * call them (`docs/mapping.md`, "JSON"). Names are compared as headers are.
 */
import { normaliseHeader } from '#src/sources/column-name.ts';
import { type JsonValue, listNames } from '#src/sources/row.ts';
import { bad, type Flaw, isJsonObject, type JsonObject } from './cell.ts';
import { contactColumnOf } from './contact-columns.ts';
import { isBlank, memberNamed } from './json-path.ts';
import { isPlainNumberWord } from './label-words.ts';

/** In order: of several that are filled, the first is the value. */
const valueMembers = ['value', 'number', 'email', 'address'] as const;
/** Each is the value where it is the only one that is filled. */
const furtherValueMembers = ['phone', 'phoneNumber', 'emailAddress'] as const;
const labelMembers = ['name', 'label', 'type'] as const;
/** Without one of those, the first of these that holds a word for numbers or addresses is the label. In the form in which names are compared. */
const furtherLabelMembers: readonly string[] = [
  ...['kind', 'phonetype', 'phonekind', 'phonelabel', 'numbertype', 'emailtype', 'emailkind', 'emaillabel'],
  ...['contacttype', 'category', 'usage', 'use', 'purpose'],
  ...[
    'art',
    'typ',
    'kategorie',
    'telefonart',
    'rufnummernart',
    'catégorie',
    'categorie',
    'tipo',
    'categoría',
    'categoria',
  ],
];
const furtherCharactersMax = 75;
/** Of a label that is an object: `{"phone_type": {"name": "fax"}}`. */
const labelTextMembers = ['name', 'label', 'value', 'type', 'title'] as const;

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

/** Names of lists of people, in the form in which names are compared. */
const listsOfPeople: ReadonlySet<string> = new Set([
  ...['contacts', 'people', 'persons', 'members', 'users', 'employees', 'customers', 'clients', 'leads', 'attendees'],
  ...['kontakte', 'personen', 'mitglieder', 'mitarbeiter', 'kunden', 'ansprechpartner', 'contactos', 'personas'],
]);
/** By its name. */
export function isListOfPeople(list: string): boolean {
  return listsOfPeople.has(normaliseHeader(list));
}

/** Of these members a list `contacts` may hold the ways to reach one person. */
const ofOnePerson: ReadonlySet<string> = new Set(['value', 'number', 'address']);

/**
 * The same for proposals, where the element is a value and what says something of it. One with a `phone`, or with a `number` and an `email`, may be
 * a person or an address, and one with a first or last name, or with an address in a list of people, is a person: its members are read one by one.
 *
 * @param list its name.
 */
export function loneValueMemberOf(element: JsonObject, list: string): string | null {
  const member = memberOfValue(element);
  const isOfPeople = isListOfPeople(list) && !ofOnePerson.has(normaliseHeader(member ?? 'value'));
  return isOfPeople ? null : member;
}

function memberOfValue(element: JsonObject): string | null {
  if (Object.keys(element).some(isPartOfName)) return null;
  if (Object.hasOwn(element, 'value')) return 'value';
  const further = namesOf(element, furtherValueMembers) ?? [];
  const named = namesOf(element, valueMembers) ?? [];
  return further.length > 0 || named.length > 1 ? null : valueMemberOf(element);
}

/** A `name` may be the label of an address. */
function isPartOfName(name: string): boolean {
  const kind = contactColumnOf(name)?.kind;
  return kind === 'firstName' || kind === 'lastName' || (kind === 'fullName' && normaliseHeader(name) !== 'name');
}

/** As the element names it; null for none. */
export function labelMemberOf(element: JsonObject): string | null {
  return plainLabelMemberOf(element) ?? furtherIn(element)[0] ?? null;
}

/** The same where a mapping has a label of its own, which only a `name`, `label` or `type` replaces. */
export function plainLabelMemberOf(element: JsonObject): string | null {
  return labelMembers.find((name) => Object.hasOwn(element, name)) ?? namesOf(element, labelMembers)?.[0] ?? null;
}

/** All of them, as the element names them. */
export function labelMembersOf(element: JsonObject): readonly string[] {
  return [...(namesOf(element, labelMembers) ?? []), ...furtherIn(element)];
}

/** Any other text there may be anything: an id, a code, a sentence. */
function furtherIn(element: JsonObject): readonly string[] {
  const names = Object.keys(element);
  return furtherLabelMembers.flatMap((form) =>
    names.filter((name) => normaliseHeader(name) === form && holdsNumberWord(labelIn(element, name).raw)),
  );
}

function holdsNumberWord(raw: JsonValue | undefined): boolean {
  return (
    typeof raw === 'string' && raw.length <= furtherCharactersMax && !/\p{Cc}/u.test(raw) && isPlainNumberWord(raw)
  );
}

/** What a label says: the text of the member, or what an object there holds as its name. @param name as the element names it. */
export function labelIn(
  element: JsonObject,
  name: string,
): { readonly path: string; readonly raw: JsonValue | undefined } {
  const raw = Object.hasOwn(element, name) ? element[name] : undefined;
  if (!isJsonObject(raw)) return { path: name, raw };
  const inner = labelTextMembers.find((one) => typeof memberNamed(raw, one).raw === 'string');
  if (inner === undefined) return { path: name, raw };
  const found = memberNamed(raw, inner);
  return { path: `${name}.${found.name}`, raw: found.raw };
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

/** Whether each element that holds a value has a label of its own. @param elements of a list that is read as a whole. */
export function areLabelled(elements: readonly JsonValue[]): boolean {
  return elements.every((element) => {
    if (!isJsonObject(element)) return isBlank(element);
    return isFilled(element, labelMemberOf(element) ?? '') || !isFilled(element, valueMemberOf(element) ?? '');
  });
}

/**
 * Of an element without a value that is known. It is no blank element: its value has another name, and to leave it out
 * would take the value away from the contact.
 *
 * @param list as a mapping names it. @param path of the list. @param all its elements: the mapping of the hint reads each of them.
 */
export function valueUnknown(
  element: JsonObject,
  list: 'emails' | 'phones',
  path: string,
  all: readonly JsonValue[],
): Flaw {
  const names = Object.keys(element);
  const known = [...valueMembers, ...furtherValueMembers];
  const message = `which member holds the value is not clear: it has ${listNames(names)}; known are ${known.join(', ')}`;
  const entries = entriesFor([element, ...all], path);
  const hint =
    entries === null || entries.length > entriesCharactersMax
      ? 'Write the value under the name "value", or leave the element out.'
      : `Call the member "value", or name it in a mapping: ${list}: [${entries}]`;
  return bad('shapeWrong', message, hint).flaw;
}

const entriesCharactersMax = 300;

/** One for each name that the value has. Null where an element has none that is clear. */
function entriesFor(elements: readonly JsonValue[], path: string): string | null {
  const entries = elements
    .filter((element) => !isBlank(element))
    .map((element) => (isJsonObject(element) ? entryFor(element, path) : null));
  return entries.includes(null) ? null : [...new Set(entries)].join(', ');
}

function entryFor(element: JsonObject, path: string): string | null {
  const label = labelMemberOf(element);
  const isText = (name: string): boolean =>
    ['string', 'number'].includes(typeof element[name]) || element[name] === null;
  const [lone, ...others] = Object.keys(element).filter((name) => name !== label && isText(name));
  const member = valueMemberOf(element) ?? (others.length === 0 ? lone : undefined);
  const labelPath = label === null ? null : `${path}[].${labelIn(element, label).path}`;
  return member === undefined ? null : entryOf(`${path}[].${member}`, labelPath);
}

function entryOf(column: string, label: string | null): string {
  const labelled = label === null ? '' : `, label: { column: ${JSON.stringify(label)} }`;
  return `{ column: ${JSON.stringify(column)}${labelled} }`;
}
