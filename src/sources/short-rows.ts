/**
 * Rows that are shorter than the header: which of them an exporter cut, since their last cells were blank, and which are
 * broken, since a delimiter is lost. A cut row is read with blank cells at its end. A broken one is rejected: its values would
 * move to other columns. Pure.
 *
 * Nothing is guessed. A row was cut if its cells prove it: the last filled one is an address, a link or a phone number, under
 * a column that holds such values, and no column behind that one does. Had a delimiter been lost in front of it, it would be
 * one column too far left. Or if the file proves it (`isTrimmed`): an exporter that removes the blank cells at the end of a row
 * leaves several short rows and never one that ends in a blank cell, keeps blank cells inside, or shows by addresses and numbers
 * that nothing moved. A row in which a cell contradicts its column was not cut in either case.
 *
 * Never taken for cut: the last line of a file that does not end it, since the file itself may be cut off there; and a row with
 * one filled cell, which may be a remark.
 */

type CellKind = 'blank' | 'email' | 'link' | 'phone' | 'digits' | 'text';
/** What a column holds, where that is known. */
type ColumnKind = Exclude<CellKind, 'blank'> | null;

/** Kinds by which a cell shows its column. */
const telling: ReadonlySet<CellKind> = new Set(['email', 'link', 'phone']);

/** Whether a cell of this kind shows its column. */
export function isTelling(kind: CellKind): boolean {
  return telling.has(kind);
}

/** Short rows among the first ones that show a pattern and not a mistake. */
const shortRowsMin = 3;
const anchoredRowsMin = 2;
/** The share of a column's filled cells that are of its kind. */
const kindShareMin = 0.8;

export interface CutRows {
  /** Whether the row has fewer cells than the header because its last ones were blank. */
  isCut(cells: readonly string[]): boolean;
}

/**
 * @param columns of the header.
 * @param sample the first rows of the table, of any length. Pure.
 */
export function createCutRows(columns: readonly string[], sample: readonly (readonly string[])[]): CutRows {
  const kinds = columns.map((name, index) => columnKind(name, index, columns.length, sample));
  const trimmed = isTrimmed(kinds, sample);
  return {
    isCut: (cells) => {
      if (cells.length >= columns.length) return false;
      const last = cells.findLastIndex((cell) => cell.trim() !== '');
      if (cells.filter((cell) => cell.trim() !== '').length < 2) return false;
      if (hasContradiction(cells, kinds)) return false;
      return isAnchored(cells, last, kinds) || (trimmed && last === cells.length - 1);
    },
  };
}

/** Whether the last filled cell can be under its own column only. */
function isAnchored(cells: readonly string[], last: number, kinds: readonly ColumnKind[]): boolean {
  const kind = kindOf(cells[last] ?? '');
  return telling.has(kind) && kinds[last] === kind && !kinds.slice(last + 1).includes(kind as ColumnKind);
}

function hasContradiction(cells: readonly string[], kinds: readonly ColumnKind[]): boolean {
  return cells.some((cell, index) => contradicts(kindOf(cell), index, kinds));
}

/** An address under a column of names; a name under a column of addresses. */
function contradicts(kind: CellKind, index: number, kinds: readonly ColumnKind[]): boolean {
  const column = kinds[index] ?? null;
  if (kind === 'blank' || kind === column) return false;
  if (telling.has(kind)) return column !== null || kinds.includes(kind as ColumnKind);
  if (column === 'phone') return kind === 'text';
  return column === 'email' || column === 'link' || (column === 'digits' && kind === 'text');
}

/** Whether the exporter removes the blank cells at the end of each row, and only those. */
function isTrimmed(kinds: readonly ColumnKind[], sample: readonly (readonly string[])[]): boolean {
  const short = sample.filter((cells) => cells.length < kinds.length);
  if (short.length < shortRowsMin || short.some((cells) => hasContradiction(cells, kinds))) return false;
  if (sample.some((cells) => cells.length < 2 || (cells.at(-1) ?? '').trim() === '')) return false;
  const keepsBlanks = short.some((cells) => cells.some((cell) => cell.trim() === ''));
  return keepsBlanks || short.filter((cells) => isAnchored(cells, cells.length - 1, kinds)).length >= anchoredRowsMin;
}

/** By the cells of rows that are complete; where there are none, by the name. */
function columnKind(name: string, index: number, width: number, sample: readonly (readonly string[])[]): ColumnKind {
  const kinds = sample
    .filter((cells) => cells.length === width)
    .map((cells) => kindOf(cells[index] ?? ''))
    .filter((kind) => kind !== 'blank');
  if (kinds.length === 0) return kindByName(name);
  const commonest = (['email', 'link', 'phone', 'digits', 'text'] as const).find(
    (kind) => kinds.filter((one) => one === kind).length >= kinds.length * kindShareMin,
  );
  if (commonest === undefined || commonest === 'digits' || commonest === 'text')
    return kindByName(name) ?? commonest ?? null;
  return commonest;
}

function kindByName(name: string): ColumnKind {
  if (/mail/i.test(name)) return 'email';
  if (/phone|mobile?\b|\btel|telef|fax|handy|cell\b|móvil|portable/i.test(name)) return 'phone';
  return /\burl\b|website|linkedin/i.test(name) ? 'link' : null;
}

/** What a cell holds, by its text alone. */
export function kindOf(cell: string): CellKind {
  const text = cell.trim();
  if (text === '') return 'blank';
  if (text.split(/[\s;,|]+/).every((one) => /^[^\s@]+@[^\s@]+\.\p{L}{2,}$/u.test(one))) return 'email';
  if (/^https?:\/\//i.test(text)) return 'link';
  if (/^\d+$/.test(text)) return 'digits';
  const digitCount = text.replace(/\D/g, '').length;
  const isPhone =
    /^['’=]?\s?"?(?:tel:)?\+?[\d\s()./-]+"?$/i.test(text) && digitCount >= 7 && !/^\d{4}-\d\d-\d\d/.test(text);
  return isPhone ? 'phone' : 'text';
}
