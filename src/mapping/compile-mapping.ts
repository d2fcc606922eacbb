/**
 * The mapping stage: a mapping and a file's columns → a function from rows to desired contacts.
 *
 * Terms: a *target* is where in a contact a value goes; *bound* columns have one. Compiling finds every column once
 * and says at once what the file lacks; mapping a row then never throws: what is wrong with a row is in its result.
 * No I/O, no clock, no random number: the same row gives an equal result.
 */

import { createHash } from 'node:crypto';
import type { Problem } from '#src/contacts/outcome.ts';
import { invariant, PatchbayError } from '#src/errors.ts';
import type { Row } from '#src/sources/row.ts';
import { mapCells } from './cells.ts';
import type { ContactColumn } from './contact-columns.ts';
import {
  createFileNotes,
  type LeftOut,
  leftOutOfCells,
  leftOutOfObjects,
  refuseWithoutContent,
  watchContent,
  watchMembers,
} from './file-findings.ts';
import { closestName, listNames, normaliseHeader, tidyHeader } from './header.ts';
import { isContactShape, mapConfiguredObject, mapContactObject, mapFlatObject, UnmappedNames } from './json-rows.ts';
import {
  type ColumnBinding,
  configuredMapping,
  configuredTargets,
  genericKeyColumns,
  genericMapping,
  genericTarget,
} from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import type { MappedRow } from './row.ts';
import { type BoundColumn, type MappingContext, resolveSettings, type Settings } from './target.ts';

/** What is known of the file before its first row. */
interface FileShape {
  /** The header of a CSV file, in order; null for JSON. */
  readonly columns: readonly string[] | null;
}

export interface CompiledMapping {
  /**
   * Changes with everything that may change what a row means: the mapping, the flags, the header, the types of the
   * custom fields, the code.
   */
  readonly version: string;
  /** The mapping's name, or `generic`. */
  readonly name: string;
  /** What the runs do with a key that stands twice (`rules.md`, "Workspace, feed, key"). */
  readonly duplicateKeys: Mapping['duplicateKeys'];
  /** The columns of a CSV file that have a target, in the file's own words; none for JSON, which has no header. */
  readonly mappedColumns: readonly string[];
  /** Columns that nothing maps. For JSON: the members met so far, complete after the last row; at most 500. */
  readonly unmappedColumns: readonly string[];
  /** Of these, the ones that hold contact data by their names, and hold something; complete after the last row. */
  readonly leftOut: readonly ContactColumn[];
  /** What is told once for the file and not for each row; complete after the last row. */
  readonly notes: readonly Problem[];
  /** True where custom fields are written, or may be (JSON): the definitions are then worth a request. */
  readonly usesCustomFields: boolean;
  /** Never throws for what the row holds. */
  mapRow(row: Row): MappedRow;
  /** Takes note of a row, mapped or known already, for `refuseLacking` and `leftOut`. */
  see(row: Row): void;
  /**
   * After the last row. @throws PatchbayError `file`: `columnMissing` for members that no record has, `nothingMapped` where
   * there is nothing to write but keys.
   */
  refuseLacking(): void;
}

/**
 * The columns by which a file's header row is known, for the search behind a preamble: the key's. Not all that are
 * mapped, since the lines of a preamble may well hold a word such as `Company`. None where the key is picked by position:
 * the first line that is not blank is then the header.
 */
export function requiredColumns(mapping: Mapping | null): readonly string[] {
  if (mapping === null) return genericKeyColumns;
  return typeof mapping.key === 'number' ? [] : [mapping.key];
}

/**
 * @param mapping null is the generic layout.
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
  const binding: ColumnBinding =
    mapping === null ? genericMapping(columns, settings) : configuredMapping(mapping, columns, settings);
  refuseUnknownCustomFields(binding, settings);
  const notes = createFileNotes();
  const leftOut = leftOutOfCells(columns, binding.unmapped, namesPeople(binding.bound));
  let isEmpty = true;
  return {
    ...common(mapping),
    see: (row) => {
      isEmpty = false;
      leftOut.see(row);
    },
    refuseLacking: () => {
      const by = mapping === null ? 'the generic layout' : `mapping "${mapping.name}"`;
      if (!isEmpty) refuseWithoutContent(binding.bound, by, columns);
    },
    version: versionOf({ mapping, bound: binding.bound }),
    mappedColumns: binding.bound.map(({ field }) => field),
    unmappedColumns: binding.unmapped.map((index) => columns[index] ?? ''),
    get leftOut() {
      return leftOut.list();
    },
    usesCustomFields: binding.bound.some(({ target }) => target.kind === 'custom'),
    get notes() {
      return notes.list();
    },
    mapRow: (row) => {
      invariant(row.kind === 'cells', 'a CSV file gives cells');
      return notes.take(mapCells(row, binding.bound, settings));
    },
  };
}

function compileForObjects(mapping: Mapping | null, settings: Settings): CompiledMapping {
  const unmapped = new UnmappedNames();
  const notes = createFileNotes();
  const bound = mapping === null ? [] : configuredTargets(mapping, settings);
  refusePositions(bound);
  const { country, onBlank, customFields } = settings;
  const ignored = new Set((mapping?.ignore ?? []).map(normaliseHeader));
  const leftOut = mapping === null ? leftOutOfGeneric(settings) : leftOutOfMapping(bound, ignored);
  const lacking = mapping === null ? watchContent(settings) : watchMembers(mapping, bound);
  return {
    ...common(mapping),
    see: (row) => {
      if (row.kind === 'object') lacking.see(row);
      leftOut.see(row);
    },
    refuseLacking: lacking.refuse,
    version: versionOf({ mapping, bound, country, onBlank, customFields: mapping === null ? customFields : null }),
    mappedColumns: [],
    get unmappedColumns() {
      return unmapped.list().filter((name) => !ignored.has(normaliseHeader(name)));
    },
    get leftOut() {
      return leftOut.list();
    },
    get notes() {
      return notes.list();
    },
    usesCustomFields: mapping === null || mapping.customFields.length > 0,
    mapRow: (row) => {
      invariant(row.kind === 'object', 'a JSON file gives objects');
      if (mapping !== null) return notes.take(mapConfiguredObject(row, bound, settings, unmapped));
      const map = isContactShape(row.object) ? mapContactObject : mapFlatObject;
      return notes.take(map(row, settings, unmapped));
    },
  };
}

function leftOutOfMapping(bound: readonly BoundColumn[], ignored: ReadonlySet<string>): LeftOut {
  const known = new Set([...bound.map(({ field }) => normaliseHeader(field)), ...ignored]);
  return leftOutOfObjects(
    (name) => known.has(normaliseHeader(name)),
    () => namesPeople(bound),
  );
}

function leftOutOfGeneric(settings: Settings): LeftOut {
  const bound: BoundColumn[] = [];
  const isMapped = (field: string): boolean => {
    const target = genericTarget(field, settings);
    if (target !== null) bound.push({ index: null, field, target });
    return target !== null;
  };
  return leftOutOfObjects(isMapped, () => namesPeople(bound));
}

function namesPeople(bound: readonly BoundColumn[]): boolean {
  return ['firstName', 'lastName'].every((name) =>
    bound.some(({ target }) => target.kind === 'scalar' && target.name === name),
  );
}

function common(mapping: Mapping | null): Pick<CompiledMapping, 'name' | 'duplicateKeys'> {
  return { name: mapping?.name ?? 'generic', duplicateKeys: mapping?.duplicateKeys ?? 'dead' };
}

function refusePositions(bound: readonly BoundColumn[]): void {
  const picked = bound.find(({ index }) => index !== null);
  if (picked === undefined) return;
  const message = `the mapping picks ${picked.field} by its position; the members of JSON have none`;
  const hint = 'Name the member in the mapping, or export CSV.';
  throw new PatchbayError('file', 'positionInJson', message, { facts: { column: picked.field }, hint });
}

/** One message for the file instead of one dead letter per row. */
function refuseUnknownCustomFields({ bound }: ColumnBinding, { customFields }: Settings): void {
  const known = (customFields ?? []).map(({ key }) => key);
  for (const { field, target } of bound) {
    if (target.kind !== 'custom' || target.type !== 'undefined') continue;
    const close = closestName(target.key, known);
    const message = `column "${tidyHeader(field)}": the workspace has no custom field "${target.key}"; it has: ${listNames(known)}`;
    throw new PatchbayError('file', 'customFieldUnknown', message, {
      facts: { column: field, key: target.key },
      hint: close === null ? 'Take the column out, or create the custom field first.' : `Did you mean "${close}"?`,
    });
  }
}

// A mapping's version: rows whose cells and mapping version equal the last settled ones need no mapping
// (`rules.md`, "Three pictures, one plan"). Everything that can change what a cell means is in it.

/** To be raised whenever the code maps the same cell differently than before. */
const mappingCodeVersion = 2;

const versionDigits = 16;

/** Sixteen hex digits. Null is the generic layout. */
export function mappingVersion(mapping: Mapping | null): string {
  return versionOf({ mapping });
}

/** The version of any plain value: two values that are equal as JSON, whatever the order of their keys, have one. */
export function versionOf(value: unknown): string {
  const text = canonicalJson({ codeVersion: mappingCodeVersion, value });
  return createHash('sha256').update(text).digest('hex').slice(0, versionDigits);
}

/** JSON with the keys of every object in order; members that are undefined are left out. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
