/**
 * JSON objects become desired contacts, in one of three shapes:
 *
 * - by a mapping: each configured column is a member of that name;
 * - the interface's own contact shape (`docs/interface.md`, section 2), so that the export of a workspace can be imported;
 * - flat: members are named as the columns of the generic layout. `emails`, `phones` and the like may be arrays; custom
 *   fields may also be members of an object `custom`, or elements of a list `customFields`.
 *
 * Members are bound to targets first; their values are then read as those of CSV cells are (`row.ts`).
 */
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import type { JsonValue, ObjectRow } from '#src/sources/row.ts';
import { bad, isJsonObject, type JsonObject, keyMissing, memberOf } from './cell.ts';
import { type CellReading, type Finding, readValue, refused } from './cells.ts';
import { type ContactColumn, isItemsName } from './contact-columns.ts';
import {
  customFieldKey,
  customFieldKind,
  genericTarget,
  genericTargets,
  type Settings,
  type Target,
  targetIdentity,
} from './layout.ts';
import { foldRow, type MappedRow } from './row.ts';
import { unwrappedValue } from './wrapped-value.ts';

/** Names of members that nothing maps, in order of appearance: each once, at most 500. */
export class UnmappedNames {
  readonly #names = new Set<string>();
  readonly #namesMax = 500;

  add(name: string): void {
    if (this.#names.size < this.#namesMax) this.#names.add(name);
  }

  list(): readonly string[] {
    return [...this.#names];
  }
}

/** A member with its target, or why it has none. */
type Member = BoundMember | Finding;

interface BoundMember {
  /** As the file names it: `phones`, `custom.since`, `customFields[2].value`. */
  readonly field: string;
  readonly target: Target;
  readonly raw: JsonValue;
}

const isBound = (member: Member): member is BoundMember => 'target' in member;

/** Reads members: what could not be bound first. Two members with the same target reject the row. */
function readMembers(members: readonly Member[]): readonly CellReading[] {
  const fields = new Map<string, string>();
  const unbound = members.flatMap((member) => (isBound(member) ? [] : [refused(member, member.flaw)]));
  const read = members.filter(isBound).map(({ field, target, raw }) => {
    const identity = targetIdentity(target);
    const earlier = fields.get(identity);
    if (earlier !== undefined) {
      const message = `"${earlier}" and "${field}" mean the same`;
      return refused({ field, raw }, bad('memberTwice', message, 'Keep one of them.').flaw);
    }
    fields.set(identity, field);
    return readValue({ field, raw, from: 'json' }, target);
  });
  return [...unbound, ...read];
}

/** Written by the service only: not worth a note. */
const serviceMembers: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'createdByUserId']);
const defaultFieldNames: readonly ScalarName[] = scalarNames.filter((name) => name !== 'sourceUrl');

/** True for an object that is written as the service writes its contacts. */
export function isContactShape(object: JsonObject): boolean {
  return Object.hasOwn(object, 'defaultFields');
}

/** Whether a member beside `defaultFields` has a meaning. Synonyms have none there. */
export function isContactMember(name: string): boolean {
  return contactMembers.has(name) || serviceMembers.has(name);
}

const contactMembers: ReadonlySet<string> = new Set([
  'externalId',
  'source',
  'sourceUrl',
  'defaultFields',
  'customFields',
]);

export function mapContactObject(row: ObjectRow, settings: Settings, unmapped: UnmappedNames): MappedRow {
  const { object } = row;
  const defaults = memberOf(object, 'defaultFields') ?? null;
  const shapeWrong = bad('shapeWrong', 'expected an object in "defaultFields"', 'Write {…} there.').flaw;
  return foldRow(row.line, settings.sourceLabel, [
    ...(isJsonObject(defaults) ? [] : [refused({ field: 'defaultFields', raw: defaults }, shapeWrong)]),
    ...(Object.hasOwn(object, 'externalId') ? [] : [refused({ field: 'externalId', raw: undefined }, keyMissing)]),
    ...readMembers([
      ...bindAll(object, '', contactTargets(settings), unmapped),
      ...(isJsonObject(defaults) ? bindAll(defaults, 'defaultFields.', defaultTargets(settings), unmapped) : []),
      ...bindCustomList('customFields', memberOf(object, 'customFields') ?? null, settings),
    ]),
  ]);
}

/** Members in order of appearance. Null in the table: bound elsewhere. */
function bindAll(
  object: JsonObject,
  prefix: string,
  targets: ReadonlyMap<string, Target | null>,
  unmapped: UnmappedNames,
): readonly BoundMember[] {
  return Object.entries(object).flatMap(([name, raw]): readonly BoundMember[] => {
    const target = targets.get(name);
    if (target === undefined && !serviceMembers.has(name)) unmapped.add(`${prefix}${name}`);
    return target === undefined || target === null ? [] : [{ field: `${prefix}${name}`, target, raw }];
  });
}

function contactTargets({ keyPrefix, onBlank }: Settings): ReadonlyMap<string, Target | null> {
  return new Map<string, Target | null>([
    ['externalId', { kind: 'key', prefix: keyPrefix }],
    ['source', { kind: 'source', isOfService: true }],
    ['sourceUrl', { kind: 'scalar', name: 'sourceUrl', onBlank }],
    ['defaultFields', null],
    ['customFields', null],
  ]);
}

function defaultTargets({ onBlank, country }: Settings): ReadonlyMap<string, Target> {
  return new Map<string, Target>([
    ...defaultFieldNames.map((name): [string, Target] => [name, { kind: 'scalar', name, onBlank }]),
    ['emails', { kind: 'items', list: 'emails', slot: 'emails', whole: true, label: 'email', country: null, onBlank }],
    ['phoneNumbers', { kind: 'items', list: 'phones', slot: 'phones', whole: true, label: 'phone', country, onBlank }],
  ]);
}

/** The meaning of an object's members, which a synonym may have by their company alone. */
export class FlatNames {
  readonly #settings: Settings;
  readonly #byShape = new Map<string, ReadonlyMap<string, readonly Target[]>>();
  readonly #readings = new Set<string>();
  readonly #rivals = new Map<string, ContactColumn>();
  /** Of shapes, and of readings. */
  readonly #countMax = 500;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The targets of each member that has one. Records of one shape share the map. */
  targetsOf(object: JsonObject): ReadonlyMap<string, readonly Target[]> {
    const shape = shapeOf(object);
    const known = this.#byShape.get(shape);
    if (known !== undefined) return known;
    const names = Object.keys(object).filter((name) => isBoundByName(name, object[name], this.#settings));
    const { targets, readings, rivals } = genericTargets(names, this.#settings);
    for (const reading of readings.values()) if (this.#readings.size < this.#countMax) this.#readings.add(reading);
    for (const rival of rivals.values()) if (this.#rivals.size < this.#countMax) this.#rivals.set(rival.column, rival);
    const byName = new Map(
      names.flatMap((name, index) => ((targets[index] ?? []).length > 0 ? [[name, targets[index] ?? []]] : [])),
    );
    if (this.#byShape.size < this.#countMax) this.#byShape.set(shape, byName);
    return byName;
  }

  /** Whether some record has the member with a meaning: a record of another shape may have it without. */
  reads(name: string): boolean {
    return [...this.#byShape.values()].some((byName) => byName.has(name));
  }

  /** Members read by a synonym, as `Mobile → phone (mobile)`; complete after the last row. */
  readings(): readonly string[] {
    return [...this.#readings];
  }

  /** Where the member is one of several synonyms of one field. */
  rivalOf(name: string): ContactColumn | null {
    return this.#rivals.get(name) ?? null;
  }
}

/** The names of an object's members, with what `isBoundByName` asks of their values. */
function shapeOf(object: JsonObject): string {
  let shape = '';
  for (const [name, raw] of Object.entries(object)) {
    const value = unwrappedValue(raw);
    const kind = Array.isArray(value) ? '[' : typeof value === 'boolean' || isJsonObject(value) ? '{' : '"';
    shape += `${name}\n${kind}`;
  }
  return shape;
}

/** A synonym is no name for an object or for true and false, and no name of a single field for a list. */
function isBoundByName(name: string, raw: JsonValue | undefined, settings: Settings): boolean {
  const header = normaliseHeader(name);
  if (header === 'custom' || header === 'customfields') return false;
  const value = raw === undefined ? raw : unwrappedValue(raw);
  const isPlain = value === null || typeof value === 'string' || typeof value === 'number';
  return isPlain || (Array.isArray(value) && isItemsName(name)) || genericTarget(name, settings) !== null;
}

export function mapFlatObject(
  row: ObjectRow,
  settings: Settings,
  unmapped: UnmappedNames,
  names: FlatNames,
): MappedRow {
  const targets = names.targetsOf(row.object);
  const members = Object.entries(row.object).flatMap(([field, raw]) =>
    bindFlat(field, raw, targets.get(field) ?? [], settings, unmapped),
  );
  const hasKey = members.some((member) => isBound(member) && member.target.kind === 'key');
  return foldRow(row.line, settings.sourceLabel, [
    ...readMembers(members),
    ...(hasKey ? [] : [refused({ field: 'externalId', raw: undefined }, keyMissing)]),
  ]);
}

function bindFlat(
  field: string,
  raw: JsonValue,
  targets: readonly Target[],
  settings: Settings,
  unmapped: UnmappedNames,
): readonly Member[] {
  if (tidyHeader(field) === '') return [];
  const header = normaliseHeader(field);
  if (header === 'custom') return bindCustomObject(field, raw, settings);
  if (header === 'customfields') return bindCustomList(field, raw, settings);
  if (targets.length === 0) unmapped.add(field);
  return targets.map((target) => ({ field, target, raw }));
}

/** `custom: {key: value}` of the flat shape. */
function bindCustomObject(field: string, raw: JsonValue, settings: Settings): readonly Member[] {
  if (isJsonObject(raw)) {
    return Object.entries(raw).map(([name, value]) => ({
      field: `${field}.${name}`,
      raw: value,
      target: customTarget(name, settings),
    }));
  }
  const { flaw } = bad('shapeWrong', `expected an object in "${field}"`, 'Write {"key": value} there.');
  return [{ field, raw, flaw }];
}

const customFieldsMax = 500;

/**
 * `customFields: [{key, value}]` of the contact shape. A null list says nothing about any field: each is cleared by its
 * own null. An element without a value says nothing either.
 */
function bindCustomList(field: string, raw: JsonValue, settings: Settings): readonly Member[] {
  if (raw === null) return [];
  if (!Array.isArray(raw) || raw.length > customFieldsMax) {
    const message = `expected a list of at most ${customFieldsMax} custom fields in "${field}"`;
    return [{ field, raw: undefined, flaw: bad('shapeWrong', message, 'Write [{"key": "…", "value": …}].').flaw }];
  }
  return raw.flatMap((item: JsonValue, index): readonly Member[] => {
    const key = isJsonObject(item) ? memberOf(item, 'key') : undefined;
    if (!isJsonObject(item) || typeof key !== 'string' || key.trim() === '') {
      const { flaw } = bad('shapeWrong', 'the custom field has no key', 'Write {"key": "…", "value": …}.');
      return [{ field: `${field}[${index}]`, raw: item, flaw }];
    }
    const value = memberOf(item, 'value');
    if (value === undefined) return [];
    return [{ field: `${field}[${index}].value`, raw: value, target: customTarget(key, settings) }];
  });
}

function customTarget(name: string, settings: Settings): Target {
  const key = customFieldKey(name, settings.customFields);
  return { kind: 'custom', key, type: customFieldKind(key, settings.customFields), onBlank: settings.onBlank };
}
