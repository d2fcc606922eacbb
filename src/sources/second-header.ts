/**
 * Rows that are a header once more, as in a file that was joined from several exports. One with the same columns is left out; behind one
 * with other columns each row would be misread. Pure.
 *
 * Names are compared as columns are. A cell of the key that holds the key's own name is proof, unless data is beside it and no name: a person
 * may be called `user`. Without it, nearly all cells must be names of columns, since a label of a number may well be `Phone`, and the cell of
 * the key must be a word: a row without a key is rejected alone.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { normaliseHeader, sortMarks, tidyHeader } from './column-name.ts';

/** `same`: the columns of the header; `other`: other ones, or in another order; null: a row. */
export type SecondHeader = 'same' | 'other' | null;

/**
 * @param keyIndex of the column with the key; null where there is none, or several.
 * @param isHeader whether cells are a header, by the rule by which the first one was found. Null where the first line is the header, whatever it holds.
 * @returns a function of a row's cells, which is cheap for nearly all rows.
 */
export function createHeaderCheck(
  columns: readonly string[],
  keyIndex: number | null,
  isHeader: ((cells: readonly string[]) => boolean) | null,
): (cells: readonly string[]) => SecondHeader {
  const forms = columns.map(normaliseHeader);
  const names = new Set(forms.filter((form) => form !== ''));
  const key = keyIndex === null ? '' : (forms[keyIndex] ?? '');
  const mayBeName = quickLook(columns);
  const mayBeKey = quickLook(keyIndex === null ? [] : [columns[keyIndex] ?? '']);
  const isKey = (cell: string): boolean => mayBeKey(cell) && normaliseHeader(cell) === key;
  const isName = (cell: string): boolean => mayBeName(cell) && names.has(normaliseHeader(cell));
  return (cells) => {
    const keyCell = keyIndex === null ? '' : (cells[keyIndex] ?? '');
    const isProven = isKey(keyCell);
    const first = cells.find((cell) => cell.trim() !== '') ?? '';
    if (!isProven && !isName(first) && !cells.some(isKey)) return null;
    const found = cells.map(normaliseHeader);
    const filled = found.filter((cell) => cell !== '');
    const width = Math.max(found.length, forms.length);
    const isSame = Array.from({ length: width }, (_, index) => index).every(
      (index) => (found[index] ?? '') === (forms[index] ?? ''),
    );
    if (isSame || (isProven && filled.length === 1)) return 'same';
    if (isProven) {
      const beside = cells.filter((_, index) => index !== keyIndex);
      const hasName = beside.some((cell) => isName(cell) && !isKey(cell));
      return hasName || !beside.some(isData) ? 'other' : null;
    }
    if (filled.length < 2 || isHeader?.(cells) !== true) return null;
    const strange = filled.filter((cell) => !names.has(cell)).length;
    const hasKeyWord = keyIndex === null || (/\p{L}/u.test(keyCell) && !/[\d@]/.test(keyCell));
    // A blank one is that of a column without a name, where all other cells have one.
    // Without a strange one the cell of the key is a name, too, unless it is blank.
    const isKeyFilled = keyIndex === null || (found[keyIndex] ?? '') !== '';
    if (strange === 0) return isKeyFilled || filled.length === found.length - 1 ? 'other' : null;
    const hasGap = found.slice(0, filled.length).includes('');
    return strange === 1 && filled.length > 2 && hasKeyWord && !hasGap ? 'other' : null;
  };
}

/** The refusal of a file with other columns from that line on. */
export function secondHeader(name: string, line: number, firstLine: number): PatchbayError {
  const message = `${name}, line ${line}: another header, with other columns than the one in line ${firstLine}`;
  const hint =
    'If the file was joined from several exports, import each by itself; if the line explains the columns, take it out.';
  return fileError('secondHeader', message, { file: name, line, firstLine }, hint);
}

/** Numbers, dates and addresses. The name of a column may hold a number or a year: `Phone 2`, `Revenue 2024`, `2024 revenue`. */
function isData(cell: string): boolean {
  return /@[^@\s]+\.\p{L}|^\s*(?!\d{4}\s+\p{L})[+(]*\d/u.test(cell);
}

/** Whether a cell may be one of the names, by its length, first and last character: all that most cells cost. */
function quickLook(names: readonly string[]): (cell: string) => boolean {
  const forms = names
    .flatMap((name) => [tidyHeader(name).toLowerCase(), normaliseHeader(name)])
    .flatMap((form) => [form, form.normalize('NFD')])
    .filter((form) => form !== '');
  const lengths = forms.map(({ length }) => length);
  const charactersMin = Math.min(...lengths);
  // Another spelling may have more gaps between its words.
  const charactersMax = 2 * Math.max(0, ...lengths) + 8;
  const initials = new Set(forms.map((form) => form.charAt(0)));
  const finals = new Set([...forms.map((form) => form.charAt(form.length - 1)), ...sortMarks]);
  return (cell) => {
    if (cell.length < charactersMin || cell.length > charactersMax) return false;
    const text = cell.trim();
    return initials.has(text.charAt(0).toLowerCase()) && finals.has(text.charAt(text.length - 1).toLowerCase());
  };
}
