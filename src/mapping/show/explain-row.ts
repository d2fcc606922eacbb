/**
 * How one row becomes a contact, entry by entry: which cells were read, what each step made of them, and where the result went, or
 * what is wrong with it. Each answer is that of the mapping itself, asked with one entry and one step at a time.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { JsonValue, Row } from '#src/sources/row.ts';
import { compileMapping } from '../compile-mapping.ts';
import { genericTargets } from '../layout.ts';
import type { Mapping } from '../mapping-schema.ts';
import { type MappingContext, resolveSettings } from '../mapping-settings.ts';
import { memberPaths } from '../propose/column-facts.ts';
import type { MappedRow } from '../row.ts';
import type { ColumnRef } from '../value-schema.ts';
import { type ContactView, viewContact } from './contact-view.ts';
import { columnUses, entriesOf, positionsOf, targetInWords } from './entries.ts';

export interface ExplainedRow {
  readonly line: number;
  readonly entries: readonly ExplainedEntry[];
  /** Columns with a value that nothing reads. */
  readonly unused: readonly ExplainedCell[];
  /** Null for a row that would be rejected. */
  readonly contact: ContactView | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Why the row is left out by `skipRows` or `keepRows`, where it is. */
  readonly skipped?: string;
}

export interface ExplainedEntry {
  readonly target: string;
  readonly cells: readonly ExplainedCell[];
  /** What each step made of the value, in order; none for a value that is taken as it is. */
  readonly steps: readonly { readonly step: string; readonly result: string }[];
  /** What goes to the target; null where it says nothing, or is refused. */
  readonly result: string | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface ExplainedCell {
  readonly column: string;
  /** The cell as the file holds it, other JSON values as JSON; null where the row has none. */
  readonly raw: string | null;
}

/** @throws PatchbayError what `compileMapping` throws. */
export function explainRow(mapping: Mapping | null, row: Row, context: MappingContext): ExplainedRow {
  const columns = row.kind === 'cells' ? row.columns : null;
  const whole = compileMapping(mapping, { columns }, context).mapRow(row);
  const header = columns ?? (row.kind === 'object' ? memberPaths(row.object) : []);
  const uses = columnUses(mapping, header);
  const cellAt = (index: number): ExplainedCell => ({ column: header[index] ?? '', raw: rawAt(row, header, index) });
  return {
    line: row.line,
    entries: mapping === null ? explainGeneric(row, header, context) : explainMapping(mapping, row, header, context),
    unused: header
      .map((_, index) => cellAt(index))
      .filter(({ raw }, index) => uses[index]?.length === 0 && (raw ?? '') !== ''),
    contact: whole.kind === 'desired' ? viewContact(whole.desired) : null,
    problems: whole.kind === 'dead' ? whole.problems : [],
    warnings: whole.warnings,
  };
}

function explainMapping(
  mapping: Mapping,
  row: Row,
  header: readonly string[],
  context: MappingContext,
): readonly ExplainedEntry[] {
  const columns = row.kind === 'cells' ? row.columns : null;
  const mapped = (by: Mapping): MappedRow => compileMapping(by, { columns }, context).mapRow(row);
  return entriesOf(mapping).map(({ target, columns: read, alone, steps }) => {
    const found = mapped(alone);
    return {
      target,
      cells: read.flatMap((column) => cellsOf(row, header, column)),
      steps: steps.map(({ step, until }) => ({ step, result: resultOf(mapped(until), target) ?? '' })),
      result: resultOf(found, target),
      ...findingsOf(found, target),
    };
  });
}

/** In the generic layout a column is one entry: the row is read with the cells of all others blank. */
function explainGeneric(row: Row, header: readonly string[], context: MappingContext): readonly ExplainedEntry[] {
  const settings = resolveSettings(null, context);
  const { targets } = genericTargets(header, settings);
  const columns = row.kind === 'cells' ? row.columns : null;
  const compiled = compileMapping(null, { columns }, context);
  const isKey = (index: number): boolean => targets[index]?.some(({ kind }) => kind === 'key') === true;
  return header.flatMap((column, index): readonly ExplainedEntry[] => {
    const found = targets[index] ?? [];
    if (found.length === 0) return [];
    const mapped = compiled.mapRow(withCells(row, header, (other) => other === index || isKey(other)));
    return found.map((one) => {
      const target = targetInWords(one);
      const result = resultOf(mapped, target);
      return {
        target,
        cells: [{ column, raw: rawAt(row, header, index) }],
        steps: [],
        result,
        ...findingsOf(mapped, target),
      };
    });
  });
}

function withCells(row: Row, header: readonly string[], keeps: (index: number) => boolean): Row {
  if (row.kind === 'cells') return { ...row, cells: row.cells.map((cell, index) => (keeps(index) ? cell : '')) };
  const kept = Object.entries(row.object).filter((_, index) => keeps(index));
  return { ...row, object: Object.assign(Object.create(null), Object.fromEntries(header.length === 0 ? [] : kept)) };
}

/** A row that is rejected has no contact to read: its problems say why. */
function resultOf(mapped: MappedRow, target: string): string | null {
  if (mapped.kind === 'dead') return target === 'key' ? mapped.key : null;
  const view = viewContact(mapped.desired);
  if (target === 'key') return view.externalId;
  if (target.startsWith('custom.')) return shown(view.customFields?.[target.slice('custom.'.length)]);
  const items = target.startsWith('email') ? view.emails : target.startsWith('phone') ? view.phones : undefined;
  if (items !== undefined)
    return items.length === 0 ? null : items.map(({ name, value }) => `${value} (${name})`).join(', ');
  return shown(view[target as 'firstName']);
}

/** The key is read with every entry: what is wrong with it is said once. */
function findingsOf(mapped: MappedRow, target: string): Pick<ExplainedEntry, 'problems' | 'warnings'> {
  const isOwn = ({ code }: Problem): boolean => code.startsWith('key') === (target === 'key');
  return {
    problems: (mapped.kind === 'dead' ? mapped.problems : []).filter(isOwn),
    warnings: mapped.warnings.filter(isOwn),
  };
}

function cellsOf(row: Row, header: readonly string[], column: ColumnRef): readonly ExplainedCell[] {
  const positions = positionsOf(column, header);
  if (positions.length > 0)
    return positions.map((index) => ({ column: header[index] ?? '', raw: rawAt(row, header, index) }));
  const raw = row.kind === 'object' ? shownRaw(valueAt(row.object, String(column))) : null;
  return [{ column: String(column), raw }];
}

function rawAt(row: Row, header: readonly string[], index: number): string | null {
  return row.kind === 'cells' ? (row.cells[index] ?? null) : shownRaw(valueAt(row.object, header[index] ?? ''));
}

/** Only to show a member of a member; what the mapping reads is its own business. */
function valueAt(object: { readonly [name: string]: JsonValue }, path: string): JsonValue | undefined {
  if (Object.hasOwn(object, path)) return object[path];
  let value: JsonValue | undefined = object;
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Array.isArray(value)
      ? (value[Number(step)] as JsonValue | undefined)
      : (Object.getOwnPropertyDescriptor(value, step)?.value as JsonValue | undefined);
  }
  return value;
}

function shownRaw(value: JsonValue | undefined): string | null {
  return value === null ? 'null' : shown(value);
}

const shownCharsMax = 200;

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : value === null ? 'removed' : JSON.stringify(value);
  return [...text.slice(0, 2 * shownCharsMax)].slice(0, shownCharsMax).join('');
}
