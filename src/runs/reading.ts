/** With what a run's rows are read: its mapping, and what is known outside of it. The same for a file and for a redrive. */
import { sourceLabelOf } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { MappingContext } from '#src/mapping/target.ts';
import type { RunParts } from './parts.ts';

export interface Reading {
  readonly mapping: Mapping | null;
  /** Without the custom fields of the workspace. */
  readonly context: MappingContext;
}

export function readingOf(run: RunRecord, { defaultCountry, onBlank }: RunParts): Reading {
  const { mapping, options } = run;
  return {
    mapping: withoutLabel(run),
    context: {
      sourceLabel: sourceLabelOf(run),
      customFields: null,
      defaultCountry: options.defaultCountry ?? (mapping?.defaultCountry === undefined ? defaultCountry : null),
      onBlank: options.onBlank ?? (mapping === null ? onBlank : null),
    },
  };
}

/**
 * Maps rows of several files, each under its own header: the mapping is compiled once for each.
 * What it returns throws what `compileMapping` throws.
 */
export function rowMapper(mapping: Mapping | null, context: MappingContext): CompiledMapping['mapRow'] {
  const compiledByHeader = new Map<string, CompiledMapping>();
  return (row) => {
    const columns = row.kind === 'cells' ? row.columns : null;
    const header = JSON.stringify(columns);
    const known = compiledByHeader.get(header);
    if (known !== undefined) return known.mapRow(row);
    const compiled = compileMapping(mapping, { columns }, context);
    compiledByHeader.set(header, compiled);
    return compiled.mapRow(row);
  };
}

/** A label of the configuration wins over the mapping's own. */
function withoutLabel({ mapping, sourceLabel }: RunRecord): Mapping | null {
  if (mapping?.source === undefined || sourceLabel === null) return mapping;
  const { source: _, ...rest } = mapping;
  return rest;
}
