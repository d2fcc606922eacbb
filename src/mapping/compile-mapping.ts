/**
 * The mapping stage: a mapping and a file's columns → a function from rows to desired contacts.
 *
 * A *target* is where in a contact a value goes; a *bound* column has one (`layout.ts`). Compiling looks up every column
 * once and reports what the file lacks. Mapping a row (`row.ts`, `json-rows.ts`) never throws: its result holds what is
 * wrong with it. Findings about the whole file come last (`file-findings.ts`). No I/O, no clock, no random number: the same
 * row gives an equal result.
 */
import { createHash } from 'node:crypto';
import type { Problem } from '#src/contacts/outcome.ts';
import type { Policies } from '#src/contacts/policies.ts';
import { invariant } from '#src/errors.ts';
import { ignoredBy, normaliseHeader } from '#src/sources/column-name.ts';
import { listNames, type Row } from '#src/sources/row.ts';
import { configuredMapping } from './bind-mapping.ts';
import { type ContactColumn, contactColumnOf } from './contact-columns.ts';
import { watchCountries, watchCountriesOfObjects } from './contradicted-country.ts';
import {
  createFileNotes,
  type LeftOut,
  leftOutOfCells,
  leftOutOfObjects,
  refuseWithoutContent,
  watchContent,
} from './file-findings.ts';
import { watchFirstElements } from './first-elements.ts';
import {
  FlatNames,
  isContactMember,
  isContactShape,
  mapContactObject,
  mapFlatObject,
  UnmappedNames,
} from './json-rows.ts';
import {
  type BoundColumn,
  type GenericBinding,
  genericMapping,
  type MappingContext,
  readsOf,
  resolveSettings,
  type Settings,
  type Target,
} from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import { mapMembers } from './member-mapping.ts';
import { policiesOf } from './policies-of.ts';
import { type MappedRow, mapCells } from './row.ts';
import { unknownCustomField } from './unknown-custom-field.ts';
import { referencesIn, type Value } from './value-schema.ts';

/** What is known about the file before its first row. */
interface FileShape {
  /** The header of a CSV file, in order; null for JSON. */
  readonly columns: readonly string[] | null;
}

export interface CompiledMapping {
  /**
   * Changes with everything that may change the meaning of a row: the mapping, the flags, the header, the types of the
   * custom fields, the code.
   */
  readonly version: string;
  /** The mapping's name, or `generic`. */
  readonly name: string;
  /** What to do with a key that occurs twice (`docs/rules.md`, "Workspace, feed, key"). */
  readonly duplicateKeys: Mapping['duplicateKeys'];
  /** Who decides about each field of a contact that exists. */
  readonly policies: Policies;
  /** The columns of a CSV file that have a target, as the file names them; none for JSON, which has no header. */
  readonly mappedColumns: readonly string[];
  /** What is read by a synonym, as `Mobile → phone (mobile)`; for JSON complete after the last row. */
  readonly readings: readonly string[];
  /** Columns that nothing maps. For JSON: the members met so far, complete after the last row; at most 500. */
  readonly unmappedColumns: readonly string[];
  /** Those of them that hold contact data, judged by their names, and are filled; complete after the last row. */
  readonly leftOut: readonly ContactColumn[];
  /** Warnings that are reported once for the file instead of for each row; complete after the last row. */
  readonly notes: readonly Problem[];
  /** Sentences about the mapping itself: that keys are derived. */
  readonly remarks: readonly string[];
  /** Whether custom fields are written, or may be (JSON): only then is it worth a request to read their definitions. */
  readonly usesCustomFields: boolean;
  /** Never throws because of the row's contents. */
  mapRow(row: Row): MappedRow;
  /** Of CSV, to map its rows on another thread. `mapRow` is `noted(mapCells(row, bound, settings))`. */
  readonly cells?: {
    readonly bound: readonly BoundColumn[];
    readonly settings: Settings;
    /** Takes for `notes` what is reported once for the file, and gives back the rest. */
    noted(mapped: MappedRow): MappedRow;
  };
  /** Looks at a row, for `refuseLacking` and `leftOut`; also at one that is known already and needs no mapping. */
  see(row: Row): void;
  /** Whether a known row must be looked at all the same: it may be the first to fill a column. */
  mustSee(): boolean;
  /**
   * To be called after the last row. @throws PatchbayError `file`: `columnMissing` for members that no record has,
   * `nothingMapped` where there is nothing to write but keys.
   */
  refuseLacking(): void;
}

/**
 * @param mapping null for the generic layout.
 * @throws PatchbayError `file`: `keyColumnMissing`, `columnMissing`, `columnTwice`, `columnAmbiguous`, `duplicateHeader`,
 *   `positionInJson`, `customFieldUnknown` (a CSV column for a custom field that the workspace does not have); `usage`:
 *   `countryUnknown`, `sourceRefused`.
 */
export function compileMapping(mapping: Mapping | null, shape: FileShape, context: MappingContext): CompiledMapping {
  const settings = resolveSettings(mapping, context);
  const { columns } = shape;
  return columns === null ? compileForObjects(mapping, settings) : compileForCells(mapping, columns, settings);
}

function compileForCells(mapping: Mapping | null, columns: readonly string[], settings: Settings): CompiledMapping {
  const binding: GenericBinding =
    mapping === null
      ? genericMapping(columns, settings)
      : { ...configuredMapping(mapping, columns, settings), readings: new Map(), rivals: new Map() };
  refuseUnknownCustomFields(binding, settings);
  const notes = createFileNotes();
  const leftOut = leftOutOfCells(
    columns,
    binding.unmapped,
    namedBy(binding.bound.map(({ target }) => target)),
    binding.rivals,
  );
  // A mapping says itself which country numbers are of.
  const countries = watchCountries(columns, mapping === null ? binding.unmapped : [], binding.bound, settings.country);
  let isEmpty = true;
  return {
    ...common(mapping, columns),
    see: (row) => {
      isEmpty = false;
      leftOut.see(row);
      countries.see(row);
    },
    mustSee: leftOut.mustSee,
    refuseLacking: () => {
      const by = mapping === null ? 'the generic layout' : `mapping "${mapping.name}"`;
      if (!isEmpty) refuseWithoutContent(binding.bound, by, columns);
    },
    version: versionOf({ mapping: meaningOf(mapping), bound: binding.bound }),
    mappedColumns: [...new Set(binding.bound.flatMap((column) => readsOf(column).map(({ field }) => field)))],
    readings: [...binding.readings.values()],
    unmappedColumns: binding.unmapped.map((index) => columns[index] ?? ''),
    get leftOut() {
      return [...leftOut.list(), ...countries.list()];
    },
    usesCustomFields: binding.bound.some(({ target }) => target.kind === 'custom'),
    get notes() {
      return notes.list();
    },
    mapRow: (row) => {
      invariant(row.kind === 'cells', 'a CSV file gives cells');
      return notes.take(mapCells(row, binding.bound, settings));
    },
    cells: { bound: binding.bound, settings, noted: notes.take },
  };
}

function compileForObjects(mapping: Mapping | null, settings: Settings): CompiledMapping {
  return mapping === null ? compileGenericObjects(settings) : compileMembers(mapping, settings);
}

function compileMembers(mapping: Mapping, settings: Settings): CompiledMapping {
  const notes = createFileNotes();
  const members = mapMembers(mapping, settings);
  const firstElements = watchFirstElements(mapping);
  const isIgnored = ignoredBy(mapping);
  const leftOut = leftOutOfObjects(
    (object) => (name) => isIgnored(name) || members.reads(object, name),
    () => null,
    () => namedBy(members.bound.map(({ target }) => target)),
  );
  return {
    ...common(mapping, null),
    see: (row) => {
      if (row.kind === 'object') {
        members.lacking.see(row);
        firstElements.see(row);
      }
      leftOut.see(row);
    },
    mustSee: leftOut.mustSee,
    refuseLacking: members.lacking.refuse,
    version: versionOf({ mapping: meaningOf(mapping), bound: members.bound, ...settingsOf(settings) }),
    mappedColumns: [],
    readings: [],
    get unmappedColumns() {
      return members.unmapped().filter((name) => !isIgnored(name));
    },
    get leftOut() {
      return leftOut.list();
    },
    get notes() {
      return [...notes.list(), ...firstElements.list()];
    },
    usesCustomFields: mapping.customFields.length > 0,
    mapRow: (row) => {
      invariant(row.kind === 'object', 'a JSON file gives objects');
      return notes.take(members.mapRow(row));
    },
  };
}

/** What is not part of every bound value. The types of custom fields are in those that are written. */
function settingsOf({ country, onBlank, keyPrefix }: Settings) {
  return { country, onBlank, keyPrefix };
}

function compileGenericObjects(settings: Settings): CompiledMapping {
  const unmapped = new UnmappedNames();
  const notes = createFileNotes();
  const { country, onBlank, customFields } = settings;
  const names = new FlatNames(settings);
  const leftOut = leftOutOfGeneric(names);
  const countries = watchCountriesOfObjects(names, country);
  const lacking = watchContent(names);
  return {
    ...common(null, null),
    see: (row) => {
      if (row.kind === 'object') lacking.see(row);
      leftOut.see(row);
      countries.see(row);
    },
    mustSee: leftOut.mustSee,
    refuseLacking: lacking.refuse,
    version: versionOf({ mapping: null, bound: [], country, onBlank, customFields }),
    mappedColumns: [],
    get readings() {
      return names.readings();
    },
    get unmappedColumns() {
      return unmapped.list().map((name) => (names.reads(name) ? `${name} (beside defaultFields)` : name));
    },
    get leftOut() {
      return [...leftOut.list(), ...countries.list()];
    },
    get notes() {
      return notes.list();
    },
    usesCustomFields: true,
    mapRow: (row) => {
      invariant(row.kind === 'object', 'a JSON file gives objects');
      return notes.take(
        isContactShape(row.object)
          ? mapContactObject(row, settings, unmapped)
          : mapFlatObject(row, settings, unmapped, names),
      );
    },
  };
}

function leftOutOfGeneric(names: FlatNames): LeftOut {
  const named = new Set<string>();
  return leftOutOfObjects(
    (object) => {
      if (isContactShape(object)) {
        for (const name of ['firstName', 'lastName']) named.add(name);
        return isContactMember;
      }
      const byName = names.targetsOf(object);
      for (const target of [...byName.values()].flat()) if (target.kind === 'scalar') named.add(target.name);
      return (name) => byName.has(name);
    },
    (name) => names.rivalOf(name),
    () => named,
  );
}

/** The scalar fields. */
function namedBy(targets: readonly Target[]): ReadonlySet<string> {
  return new Set(targets.flatMap((target) => (target.kind === 'scalar' ? [target.name] : [])));
}

function common(
  mapping: Mapping | null,
  columns: readonly string[] | null,
): Pick<CompiledMapping, 'name' | 'duplicateKeys' | 'policies' | 'remarks'> {
  return {
    name: mapping?.name ?? 'generic',
    duplicateKeys: mapping?.duplicateKeys ?? 'dead',
    policies: policiesOf(mapping),
    remarks: mapping === null ? [] : remarksOn(mapping, columns),
  };
}

/** One message for the file instead of one rejected row after another. */
function refuseUnknownCustomFields({ bound }: GenericBinding, { customFields }: Settings): void {
  for (const { field, target } of bound) {
    if (target.kind === 'custom' && target.type === 'undefined')
      throw unknownCustomField(field, target.key, customFields ?? []);
  }
}

/** To be raised whenever the code maps the same cell in another way than before. */
const mappingCodeVersion = 8;

const versionDigits = 16;

/** Sixteen hex digits. Null stands for the generic layout. */
export function mappingVersion(mapping: Mapping | null): string {
  return versionOf({ mapping: meaningOf(mapping) });
}

/** Without what changes no cell's meaning: how files are recognised, what people call the export, its tests, whose rejection matters. */
function meaningOf(mapping: Mapping | null): Mapping | null {
  if (mapping === null) return null;
  const { title: _title, recognise: _recognise, fixtures: _fixtures, ignoreRejected: _ignored, ...meaning } = mapping;
  return meaning;
}

/**
 * The version of a plain value; the order of keys does not matter. A row whose cells and mapping version equal the last
 * settled ones needs no mapping (`docs/rules.md`, "Three pictures, one plan"), so everything that can change the meaning of a
 * cell must be in the value.
 */
export function versionOf(value: unknown): string {
  const text = canonicalJson({ codeVersion: mappingCodeVersion, value });
  return createHash('sha256').update(text).digest('hex').slice(0, versionDigits);
}

/** JSON with the keys of every object in order; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

// What is worth saying about a mapping on every run, in sentences.

/** @param columns of a table; null for JSON. */
function remarksOn(mapping: Mapping, columns: readonly string[] | null): readonly string[] {
  return derivedKey(mapping, columns);
}

/** Says nothing where the key is an id that the file has: there, the other values are for the rows that lack it. */
function derivedKey({ key }: Mapping, columns: readonly string[] | null): readonly string[] {
  if (typeof key !== 'object' || (key.firstOf ?? key.join ?? key.template) === undefined) return [];
  const there = columns === null ? null : new Set(columns.map(normaliseHeader));
  const [first, ...others] = alternativesOf(key).flatMap((value) => {
    const used = referencesIn(value).flatMap(({ reference }) =>
      there === null || typeof reference === 'number' || there.has(normaliseHeader(reference)) ? [reference] : [],
    );
    const words = [...new Set(used)].map((one) => listNames([String(one)])).join(' + ');
    return used.length === 0 ? [] : [{ words, isId: isId(value) }];
  });
  if (first === undefined) return [];
  if (first.isId && columns !== null) return [];
  const rest = others.map(({ words }) => words).join(', else ');
  if (first.isId) return rest === '' ? [] : [`the key is ${first.words}; where it is blank: ${rest}`];
  const all = [first, ...others].map(({ words }) => words).join(', else ');
  return [`keys are derived from ${all}: a person for whom these change becomes another contact`];
}

/** The values that are tried in turn, those of an inner `firstOf` too. */
function alternativesOf(value: Value): readonly Value[] {
  return typeof value === 'object' && value.firstOf !== undefined ? value.firstOf.flatMap(alternativesOf) : [value];
}

/** By its name, and by how it is read, a column of ids rather than of addresses, numbers or names. */
function isId(value: Value): boolean {
  if (typeof value === 'object' && value.transform?.includes('emailAddress') === true) return false;
  const column = typeof value === 'object' ? value.column : value;
  return column !== undefined && contactColumnOf(String(column)) === null;
}
