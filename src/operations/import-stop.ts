/** Why an import of a file would write nothing, as `map` says it beforehand: the file is refused, or its first import stops. */
import { PatchbayError } from '#src/errors.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { countryLeftOut } from '#src/mapping/contradicted-country.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { FileFacts } from '#src/mapping/propose/column-facts.ts';
import { keyColumns } from '#src/mapping/recognise.ts';
import { tidyHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';

/** An import knows the header by the column of the key alone. */
export function headerTakenAbove(mapping: Mapping): string {
  const names = keyColumns(mapping);
  const why =
    names.length === 0
      ? 'the key is picked by its position, and the first line is the header then'
      : `one of them holds a name by which the header is known (${listNames(names)})`;
  return `an import takes a line above the header for it, since ${why}: take the lines above the header out of the file`;
}

/** After the rows were seen: what all of them lack. Null where further records of JSON may not lack it. */
export function refusalBy(compiled: CompiledMapping, facts: FileFacts): string | null {
  const { rows, unreadable, isPartial, isJson, sample } = facts;
  if (isJson && (isPartial || rows + unreadable > sample.length)) return null;
  try {
    compiled.refuseLacking();
    return null;
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return `an import refuses this file: ${error.message}`;
  }
}

/** After all rows were seen. The guard on such columns (`docs/mapping.md`, "CSV: the generic layout") asks the feed's files, too. */
export function stopBy({ leftOut: all }: CompiledMapping, mapping: Mapping | null): string | null {
  const stops = 'the first import stops before it writes';
  const [country] = all.filter(({ kind }) => kind === 'country');
  const ofCountry = country === undefined ? null : `${stops}: ${countryLeftOut(country.column)}`;
  const leftOut = all.filter(({ kind }) => kind !== 'country');
  if (leftOut.length === 0) return ofCountry;
  const names = listNames(leftOut.map(({ column }) => column));
  const what = leftOut.length === 1 ? 'column' : 'columns';
  const lines = leftOut.map(({ line }) => line).join(' and ');
  const ignore = `ignore: [${leftOut.map(({ column }) => JSON.stringify(tidyHeader(column))).join(', ')}]`;
  const advice =
    mapping === null
      ? `rename ${leftOut.length === 1 ? 'it' : 'them'} in the file, or use a mapping with ${lines} or ${ignore}`
      : `add what you need to the mapping, for example ${lines}; leave out the rest with ${ignore}`;
  const ofNames = `${stops}, since nothing maps the ${what} ${names}, whose ${leftOut.length === 1 ? 'name suggests' : 'names suggest'} contact data: ${advice}`;
  return ofCountry === null ? ofNames : `${ofNames}; and ${countryLeftOut(country?.column ?? '')}`;
}
