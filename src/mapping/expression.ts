/**
 * Values of a mapping, bound to the columns of a file, and what they are for one row. Pure and total: any row gives a value,
 * or says what is wrong with it.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { bad, type Flaw, isJsonObject, readCell } from './cell.ts';
import { valueMemberOf } from './list-element.ts';
import { isPlaceholder, type PlaceholderPlace } from './placeholder.ts';
import { applyTransforms, type Transform } from './transforms.ts';

/** A column that a value reads. */
export interface CellRef {
  /** Position in the file, from 0; null in JSON, where the field is a path. */
  readonly index: number | null;
  /** The column as the file names it; in JSON as the mapping does. */
  readonly field: string;
}

/** Plain data, so that it is part of the version of a mapping. */
export type Expression =
  | { readonly kind: 'cell'; readonly cell: CellRef }
  | { readonly kind: 'constant'; readonly text: string }
  | { readonly kind: 'firstOf'; readonly of: readonly Expression[]; readonly place: PlaceholderPlace }
  | { readonly kind: 'join'; readonly of: readonly Expression[]; readonly with: string }
  | { readonly kind: 'template'; readonly pieces: readonly (string | Expression)[] }
  | {
      readonly kind: 'steps';
      readonly of: Expression;
      /** One of the pieces between separators, from 1, or from the end with -1. */
      readonly part: number | null;
      readonly separator: string;
      readonly transform: readonly Transform[];
    };

/** What a value is for one row. */
export interface Found {
  /** The column, or several; the one that was chosen of `firstOf`. */
  readonly field: string;
  /** Undefined: the record has no such member, so that nothing is said. */
  readonly raw: JsonValue | undefined;
  /** The cell as the file holds it, where the value is made of one cell and differs from it. */
  readonly shown?: JsonValue;
  readonly flaw?: Flaw;
  /** The columns of a join or a template that are blank, where others are filled. Not where it is only one of several choices. */
  readonly blankParts?: readonly string[];
}

/** How the cells of a row are read. */
export interface RowCells {
  readonly from: 'csv' | 'json';
  read(cell: CellRef): Found;
}

export function evaluate(expression: Expression, row: RowCells): Found {
  switch (expression.kind) {
    case 'cell':
      return row.read(expression.cell);
    case 'constant':
      return { field: `constant "${expression.text}"`, raw: expression.text };
    case 'firstOf':
      return firstOf(expression.of, expression.place, row);
    case 'join': {
      const found = expression.of.map((one) => textOf(evaluate(one, row), row, ' '));
      return together(found, (texts) => texts.filter((text) => text !== '').join(expression.with));
    }
    case 'template': {
      const pieces = expression.pieces.map((piece) =>
        typeof piece === 'string' ? piece : textOf(evaluate(piece, row), row, ' '),
      );
      const found = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece]));
      return together(found, () => pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join(''));
    }
    case 'steps':
      return afterSteps(evaluate(expression.of, row), expression, row);
  }
}

/** A value that holds nothing, from the least to the most that it says. */
const ranks = ['absent', 'blank', 'null', 'placeholder'] as const;

/**
 * The first that is filled; a JSON null and a word such as N/A count only where none is. A key passes over a text that should
 * be an e-mail address and is none: it says so only where nothing else is filled.
 */
function firstOf(expressions: readonly Expression[], place: PlaceholderPlace, row: RowCells): Found {
  let best: Found | null = null;
  let bestRank = -1;
  let flawed: Found | null = null;
  for (const one of expressions) {
    const found = evaluate(one, row);
    if (found.flaw !== undefined) {
      if (place !== 'key' || found.flaw.code !== 'emailInvalid') return found;
      flawed ??= found;
      continue;
    }
    const state = stateOf(found.raw, place, row.from);
    if (state === 'filled') return withoutBlankParts(found);
    const rank = ranks.indexOf(state);
    if (rank > bestRank) [best, bestRank] = [found, rank];
  }
  return flawed ?? best ?? { field: '', raw: undefined };
}

/** A last resort, such as the names of a person, is meant to do with what there is. */
function withoutBlankParts(found: Found): Found {
  if (found.blankParts === undefined) return found;
  const { blankParts: _, ...kept } = found;
  return kept;
}

function stateOf(
  raw: JsonValue | undefined,
  place: PlaceholderPlace,
  from: 'csv' | 'json',
): (typeof ranks)[number] | 'filled' {
  if (raw === undefined) return 'absent';
  if (raw === null || (Array.isArray(raw) && raw.length === 0)) return 'null';
  const cell = readCell(raw, from);
  if (cell.kind === 'blank') return 'blank';
  return cell.kind === 'text' && isPlaceholder(cell.text, place) ? 'placeholder' : 'filled';
}

interface Text extends Found {
  readonly text: string;
  /** #CLEAR, or null. */
  readonly clears: boolean;
}

function textOf(found: Found, { from }: RowCells, glue: string): Text {
  const { raw } = found;
  if (raw === undefined || found.flaw !== undefined) return { ...found, text: '', clears: false };
  if (typeof raw === 'boolean') return { ...found, text: String(raw), clears: false };
  if (Array.isArray(raw)) {
    const parts = raw.map((element: JsonValue) =>
      textOf({ field: found.field, raw: element }, { from, read: noCells }, glue),
    );
    const flaw = parts.find((part) => part.flaw !== undefined)?.flaw;
    const text = parts.flatMap((part) => (part.text === '' ? [] : [part.text])).join(glue);
    return { ...found, ...(flaw === undefined ? {} : { flaw }), text, clears: false };
  }
  const cell = readCell(raw, from);
  if (cell.kind === 'wrong') return { ...found, flaw: cell.flaw, text: '', clears: false };
  return { ...found, text: cell.kind === 'text' ? cell.text : '', clears: cell.kind === 'clear' };
}

const noCells = (cell: CellRef): Found => ({ field: cell.field, raw: undefined });

/** One text of several: blank if all of them are, and cleared if one of these says so. */
function together(found: readonly Text[], text: (texts: readonly string[]) => string): Found {
  const field = [...new Set(found.map((one) => one.field))].join(' + ');
  const flawed = found.find((one) => one.flaw !== undefined);
  if (flawed?.flaw !== undefined) return { field: flawed.field, raw: flawed.raw, flaw: flawed.flaw };
  if (found.every((one) => one.raw === undefined) && found.length > 0) return { field, raw: undefined };
  if (found.some((one) => one.text !== '')) {
    const raw = text(found.map((one) => one.text));
    const blankParts = found.flatMap((one) => (one.text === '' ? [one.field] : []));
    return blankParts.length === 0 ? { field, raw } : { field, raw, blankParts };
  }
  return { field, raw: found.some((one) => one.clears) ? null : '' };
}

type Steps = Extract<Expression, { kind: 'steps' }>;

function afterSteps(found: Found, { part, separator, transform }: Omit<Steps, 'kind' | 'of'>, row: RowCells): Found {
  if (found.raw === undefined || found.flaw !== undefined) return found;
  const apply = (text: string) =>
    applyTransforms(part === null ? text : pieceOf(text.split(separator), part), transform);
  if (Array.isArray(found.raw)) {
    if (part !== null) {
      const element: JsonValue | undefined = found.raw.at(part > 0 ? part - 1 : part);
      return element === undefined
        ? { ...found, raw: '' }
        : afterSteps({ ...found, raw: element }, { part: null, separator, transform }, row);
    }
    return eachElement(found, found.raw, apply, row);
  }
  const cell =
    typeof found.raw === 'boolean' ? { kind: 'text' as const, text: String(found.raw) } : readCell(found.raw, row.from);
  if (cell.kind === 'clear') return found;
  if (cell.kind === 'wrong') return { ...found, flaw: cell.flaw };
  if (cell.kind === 'list') return found;
  const result = apply(cell.kind === 'text' ? cell.text : '');
  const shown = found.shown ?? found.raw;
  return result.ok ? { ...found, raw: result.text, shown } : { ...found, raw: shown, flaw: result.flaw };
}

/** A list keeps its form: the value of each element goes through the steps. */
function eachElement(
  found: Found,
  elements: readonly JsonValue[],
  apply: (text: string) => ReturnType<typeof applyTransforms>,
  row: RowCells,
): Found {
  const changed: JsonValue[] = [];
  for (const element of elements) {
    const member = isJsonObject(element) ? valueMemberOf(element) : null;
    const inner = member === null || !isJsonObject(element) ? element : (element[member] ?? null);
    const cell = readCell(inner, row.from);
    if (cell.kind !== 'text') {
      changed.push(element);
      continue;
    }
    const result = apply(cell.text);
    if (!result.ok) return { ...found, flaw: result.flaw };
    changed.push(member === null || !isJsonObject(element) ? result.text : { ...element, [member]: result.text });
  }
  return { ...found, raw: changed };
}

function pieceOf(pieces: readonly string[], part: number): string {
  return (pieces.at(part > 0 ? part - 1 : part) ?? '').trim();
}

/** The pieces of one text, each after the transforms; blank ones are left out. */
export function piecesOf(
  found: Found,
  separator: string,
  transform: readonly Transform[],
  row: RowCells,
): { readonly pieces: readonly string[] } | Found {
  if (found.raw === undefined || found.flaw !== undefined || Array.isArray(found.raw)) {
    return afterSteps(found, { part: null, separator, transform }, row);
  }
  const cell = readCell(found.raw, row.from);
  if (cell.kind !== 'text') return found;
  const pieces: string[] = [];
  for (const piece of cell.text.split(separator)) {
    const result = applyTransforms(piece, transform);
    if (!result.ok) return { ...found, flaw: result.flaw };
    if (result.text !== '') pieces.push(result.text);
    if (pieces.length > piecesMax) return { ...found, flaw: tooManyPieces };
  }
  return { pieces };
}

const piecesMax = 1_000;
const tooManyPieces = bad('tooManyItems', `the cell has more than ${piecesMax} values`, 'Shorten it.').flaw;
