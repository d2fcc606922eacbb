/**
 * The properties of a card to the object of a row, for the mapping `config/mappings/vcard.yaml` (docs/mapping.md, "vCard").
 *
 * - `EMAIL`, `TEL`, `URL`, `ADR` and the like are lists of `{ name, value }`, the preferred one first; `name` is the label, from
 *   `X-ABLabel`, `X-CUSTOM(…)` or TYPE. Numbers of fax machines and pagers are in the lists `FAX` and `PAGER`. `X-MS-TEL`, further
 *   numbers of Outlook, is a list of its own: the number of a company is no key of its people.
 * - `N`, `ORG` and the elements of `ADR` are objects, since their values are.
 * - `FN`, `TITLE` and other properties are text. A second one, which programs rarely write, is `TITLE 2`.
 * - `nameOnly` is not in the card: it is FN, else NICKNAME, where N has no name and that is the name of a person.
 *
 * Pure. A card says nothing about what it lacks: a blank property has no member.
 */
import type { JsonValue } from '#src/json/record-value.ts';
import { machineIn } from '#src/sources/number-words.ts';
import { nameParts, type Property, pieces, unescaped, type VcardVersion } from './property.ts';

type JsonObject = { [name: string]: JsonValue };

export interface Card {
  readonly object: { readonly [name: string]: JsonValue };
  /** It is a list of contacts, not a contact. */
  readonly isGroup: boolean;
}

/** Properties that say something about others, or about the file. */
const readElsewhere: ReadonlySet<string> = new Set(['BEGIN', 'END', 'VERSION', 'X-ABLABEL', 'X-ABADR', 'X-ABSHOWAS']);
/** `X-MS-TEL;VOICE;COMPANY`, `ASSISTANT`, `CALLBACK`, `RADIO`, `TTYTDD`. */
const outlookNumbers = 'X-MS-TEL';
const labelled: ReadonlySet<string> = new Set([
  ...[
    'EMAIL',
    'TEL',
    outlookNumbers,
    'URL',
    'ADR',
    'LABEL',
    'IMPP',
    'RELATED',
    'X-SOCIALPROFILE',
    'X-ABRELATEDNAMES',
    'X-ABDATE',
  ],
]);
const lists: ReadonlySet<string> = new Set(['CATEGORIES', 'NICKNAME']);

export function readCard(properties: readonly Property[], version: VcardVersion): Card {
  const object: JsonObject = Object.create(null);
  const labels = labelsByGroup(properties, version);
  const countByName = new Map<string, number>();
  const addSingle = (name: string, value: JsonValue | null): void => {
    if (value === null) return;
    const count = (countByName.get(name) ?? 0) + 1;
    countByName.set(name, count);
    object[count === 1 ? name : `${name} ${count}`] = value;
  };
  // Stable: what is preferred alike keeps the order of the card.
  const ordered = properties.toSorted((left, right) => left.preference - right.preference);
  for (const property of ordered) {
    if (readElsewhere.has(property.name)) continue;
    if (labelled.has(property.name)) addToList(object, property, labels, version);
    else addSingle(property.name, singleValue(property, version));
  }
  completeNames(object, isOrganisation(properties));
  return { object, isGroup: isGroup(properties) };
}

function addToList(
  object: JsonObject,
  property: Property,
  labels: ReadonlyMap<string, string>,
  version: VcardVersion,
): void {
  const label = labels.get(property.group ?? '') ?? property.ownLabel ?? labelOfTypes(property);
  const value =
    property.name === 'ADR' ? addressOf(property, version) : valueMember(unescaped(property.value, version).trim());
  if (value === null) return;
  const isNumber = property.name === 'TEL' || property.name === outlookNumbers;
  const machine = isNumber ? machineOfNumber(property, label) : null;
  const name = machine ?? property.name;
  const list = (object[name] ?? []) as JsonValue[];
  list.push(members({ name: label, ...value }));
  object[name] = list;
}

function valueMember(value: string): { readonly value: string } | null {
  return value === '' ? null : { value };
}

function singleValue({ name, value }: Property, version: VcardVersion): JsonValue | null {
  if (name === 'N') return nameOf(nameParts(value, version));
  if (name === 'ORG') return organisationOf(pieces(value, ';', version));
  if (lists.has(name)) {
    const filled = pieces(value, ',', version).filter((piece) => piece !== '');
    return filled.length === 0 ? null : name === 'NICKNAME' ? filled.join(', ') : filled;
  }
  const text = unescaped(value, version).trim();
  return text === '' ? null : text;
}

function nameOf([
  familyName = '',
  givenName = '',
  additionalNames = '',
  prefixes = '',
  suffixes = '',
]: readonly string[]) {
  return filledMembers({ familyName, givenName, additionalNames, prefixes, suffixes });
}

/** The company, and the departments inside it. */
function organisationOf([name = '', ...units]: readonly string[]) {
  return filledMembers({ name, unit: units.filter((unit) => unit !== '').join(', ') });
}

/** `value` is the whole address on one line. */
function addressOf({ value }: Property, version: VcardVersion): JsonObject | null {
  const [poBox = '', extended = '', street = '', locality = '', region = '', postalCode = '', country = ''] = pieces(
    value,
    ';',
    version,
  );
  const parts = { poBox, extended, street, locality, region, postalCode, country };
  const filled = Object.values(parts).filter((part) => part !== '');
  return filled.length === 0 ? null : members({ value: filled.join(', ').replace(/\s*\n\s*/g, ', '), ...parts });
}

/** Null where all are blank. */
function filledMembers(parts: Readonly<Record<string, string>>): JsonObject | null {
  const object = members(parts);
  return Object.keys(object).length === 0 ? null : object;
}

/** Without those that are blank. */
function members(values: Readonly<Record<string, JsonValue | null>>): JsonObject {
  const object: JsonObject = Object.create(null);
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== '') object[name] = value;
  return object;
}

/** `item1.X-ABLabel:_$!<Mobile>!$_` labels what else is in the group `item1`; Apple's own labels are in lower case. */
function labelsByGroup(properties: readonly Property[], version: VcardVersion): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const { group, name, value } of properties) {
    if (group === null || name !== 'X-ABLABEL') continue;
    const text = unescaped(value, version).trim();
    const label = /^_\$!<(.*)>!\$_$/s.exec(text)?.[1]?.trim().toLowerCase() ?? text;
    if (label !== '') labels.set(group, label);
  }
  return labels;
}

/** They say how a number or address works, not which one it is. */
const silentTypes: ReadonlySet<string> = new Set([
  ...['pref', 'voice', 'internet', 'text', 'msg', 'sms', 'video', 'isdn', 'pcs', 'bbs', 'modem', 'x400', 'iphone'],
  ...['dom', 'intl', 'postal', 'parcel', 'home', 'work', 'cell', 'mobile', 'fax', 'pager'],
]);
const mobileTypes = ['cell', 'mobile', 'iphone'];

/** `work`, `mobile`, `work mobile`, `home fax`…; empty where the types say nothing. */
function labelOfTypes({ types }: Property): string {
  const place = types.has('work') ? 'work' : types.has('home') ? 'home' : '';
  const device = types.has('fax') ? 'fax' : types.has('pager') ? 'pager' : '';
  if (device !== '') return `${place} ${device}`.trim();
  if (mobileTypes.some((type) => types.has(type))) return place === 'work' ? 'work mobile' : 'mobile';
  if (place !== '') return place;
  const other = [...types].find((type) => !silentTypes.has(type)) ?? '';
  return other.replace(/^x-(?:evolution-)?/, '').replace(/^ttytdd$/, 'tty');
}

/** The list of a number that cannot be called; null for any other. */
function machineOfNumber({ types }: Property, label: string): 'FAX' | 'PAGER' | null {
  const machine = machineIn(label);
  // A number that takes calls besides can be called.
  if (types.has('fax')) return types.has('voice') || machine === 'besidePhone' ? null : 'FAX';
  if (types.has('pager')) return 'PAGER';
  if (machine !== 'alone') return null;
  return /\bpager\b/i.test(label) ? 'PAGER' : 'FAX';
}

function completeNames(object: JsonObject, isOrganisation: boolean): void {
  const { FN: formatted = null, ORG: organisation = null, NICKNAME: nickname = null } = object;
  const company = (organisation as JsonObject | null)?.name;
  if (isOrganisation) {
    if (typeof formatted === 'string' && company === undefined)
      object.ORG = members({ ...(organisation as JsonObject | null), name: formatted });
    return;
  }
  const named = object.N as JsonObject | undefined;
  if (namingParts.some((part) => named?.[part] !== undefined)) return;
  // Of several nicknames the first; that of a company is another name of it.
  const called = company === undefined && typeof nickname === 'string' ? nickname.split(', ', 1) : [];
  const names = [formatted, ...called];
  const name = names.find((one) => typeof one === 'string' && one !== company && isName(one));
  if (typeof name === 'string') object.nameOnly = withoutTitles(name, named);
}

/** A name that has none of these is a form of address alone: `N:;;;Dr.;`. */
const namingParts = ['familyName', 'givenName', 'additionalNames'];

/** The name without the titles that N has apart from it. */
function withoutTitles(name: string, { prefixes, suffixes }: JsonObject = {}): string {
  const behind = typeof prefixes === 'string' && name.startsWith(`${prefixes} `) ? name.slice(prefixes.length) : name;
  const before =
    typeof suffixes === 'string' && behind.endsWith(` ${suffixes}`) ? behind.slice(0, -suffixes.length) : behind;
  // `Ada Lovelace, PhD`.
  return before.replace(/[\s,]+$/, '').trim() || name;
}

/** Some programs write the address or the number as FN where they know no name. */
function isName(formatted: string): boolean {
  return !formatted.includes('@') && /\p{L}/u.test(formatted);
}

function isOrganisation(properties: readonly Property[]): boolean {
  return holds(properties, ['KIND', 'X-KIND'], 'org') || holds(properties, ['X-ABSHOWAS'], 'company');
}

function isGroup(properties: readonly Property[]): boolean {
  return holds(properties, ['KIND', 'X-KIND', 'X-ADDRESSBOOKSERVER-KIND'], 'group');
}

function holds(properties: readonly Property[], names: readonly string[], wanted: string): boolean {
  return properties.some(({ name, value }) => names.includes(name) && value.trim().toLowerCase() === wanted);
}
