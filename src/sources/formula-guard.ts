/**
 * Text that no spreadsheet calculates, and the way back (bad-inputs.md, "formula-like cells").
 *
 * A spreadsheet may split a file at another separator than the one it was written with, and quotes that do not begin a
 * cell are then text like any other. So a *formula start* is `= + - @`, a tab or a carriage return wherever a cell may
 * begin: at the very start, and behind each separator or line break inside. There, one apostrophe is put in front.
 *
 * Invariant: `unguardFormulas(guardFormulas(text)) === text` for every text. One that has apostrophes there already gets
 * one more, so that taking one off is always right. Both are linear in the text.
 */

/** What spreadsheets split at; a space, too, is treated apart. */
const separators = ',;\t|:\r\n';
const formulaChars = '=+-@\t\r';

/** A spreadsheet takes a plain number with its `+` for a number; any other `+` begins a formula. */
const plainNumber = /\+\d[\d ]*(?=[,;\t|:\r\n"]|$)/y;

export function guardFormulas(text: string): string {
  return atFormulaStarts(text, (apostrophes, index) =>
    apostrophes === 0 && isPlainNumber(text, index) ? 0 : apostrophes + 1,
  );
}

/** Takes off what `guardFormulas` has put in. */
export function unguardFormulas(text: string): string {
  return atFormulaStarts(text, (apostrophes) => Math.max(0, apostrophes - 1));
}

function isPlainNumber(text: string, index: number): boolean {
  plainNumber.lastIndex = index;
  return plainNumber.test(text);
}

/**
 * Where a cell may begin: behind a separator, with spaces and quotes between; or behind a space alone. There a dash between
 * two spaces is none.
 */
type Place = 'cell' | 'word' | 'inside';

/** Writes the apostrophes before each formula start anew. `count` gets how many stand there, and where the formula starts. */
function atFormulaStarts(text: string, count: (apostrophes: number, index: number) => number): string {
  let result = '';
  let copied = 0;
  let place: Place = 'cell';
  // Each turn consumes the apostrophes at hand and one more character.
  for (let index = 0; index < text.length; index++) {
    const first = index;
    while (text[index] === "'") index++;
    if (place !== 'inside' && startsFormula(text, index, place)) {
      result += text.slice(copied, first) + "'".repeat(count(index - first, index));
      copied = index;
    }
    place = placeAfter(text[index] ?? '', index > first ? 'inside' : place);
  }
  return result + text.slice(copied);
}

function startsFormula(text: string, index: number, place: Place): boolean {
  const char = text[index] ?? '';
  if (char === '' || !formulaChars.includes(char)) return false;
  return place === 'cell' || (!separators.includes(char) && !' \r\n'.includes(text[index + 1] ?? 'end'));
}

function placeAfter(char: string, before: Place): Place {
  if (char !== '' && separators.includes(char)) return 'cell';
  if (char === ' ') return before === 'inside' ? 'word' : before;
  return char === '"' ? before : 'inside';
}
