/**
 * Rows that describe no contact, and are left out with a note that names the line: rules (`-----`), and rows of totals, which reports,
 * spreadsheets and databases put below or between the records: `Total,,,128`, `(20 rows)`. Pure.
 *
 * A row is one of totals if its first filled cell is such a word, alone or with a count, and every other filled cell is a short
 * number. Beside a number, the cell behind that word may say what was worked out: `Subtotal,Count,5`. A person or a company called
 * Total has a key, a text, an address or a phone number in another cell.
 */

const words = [
  ...['total', 'totals', 'grand total', 'grand totals', 'sub total', 'sub totals', 'subtotal', 'subtotals', 'sum'],
  ...['total records', 'total rows', 'total contacts', 'total count', 'record count', 'number of records'],
  ...['summe', 'gesamt', 'gesamtsumme', 'gesamtanzahl', 'insgesamt', 'zwischensumme', 'endsumme', 'anzahl datensätze'],
  ...['gesamtsummen', 'zwischensummen', 'gesamtergebnis', 'gesamtergebnisse', 'teilergebnis', 'teilergebnisse'],
  ...[
    'totales',
    'totales generales',
    'subtotales',
    'totali',
    'totale complessivo',
    'totali complessivi',
    'eindtotalen',
    'totais gerais',
  ],
  ...[
    'total général',
    'totaux',
    'totaux généraux',
    'sous totaux',
    'sous total',
    'somme',
    'nombre total',
    'total general',
    'suma',
    'suma total',
    'total geral',
    'soma',
  ],
  ...['totale', 'totale generale', 'subtotale', 'somma', 'totaal', 'subtotaal', 'eindtotaal', 'razem', 'łącznie'],
  ...['suma końcowa', 'summa', 'totalt', 'delsumma', 'i alt', 'yhteensä', 'celkem', 'toplam', 'genel toplam'],
];
const totals: ReadonlySet<string> = new Set(words);
/** What is worked out of the rows above, as reports write it in front of the number. No `max`, which is a first name. */
const measures: ReadonlySet<string> = new Set([
  ...['count', 'record count', 'unique count', 'sum', 'average', 'avg', 'median', 'minimum', 'maximum'],
  ...['anzahl', 'summe', 'durchschnitt', 'mittelwert', 'nombre', 'somme', 'moyenne', 'recuento', 'suma', 'promedio'],
  ...['conteggio', 'somma', 'contagem', 'soma', 'aantal', 'som', 'gemiddelde'],
]);
/** What they begin with, where that is plain letters: most cells do not. */
const beginnings: ReadonlySet<string> = new Set(words.map((word) => word.slice(0, 2)));
const isLetters = /^[A-Za-z]{2}/;
/** `(128 records)`, `: 128`, `128`. */
const count = /[\s:(=]*\d{1,9}\s*\p{L}*\)?$/u;
const wordCharsMax = 60;
/** More digits may be a phone number. */
const digitsMax = 6;
/** `1,234,567.89`, `-12.50 €`: two decimals are a sum, of any length. */
const amount = /^[-+]?\s?[$€£]?\s?\d{1,3}(?:[.,'’\s]?\d{3})*[.,]\d{2}\s?[$€£%]?$/;
const shortNumber = /^[-+]?[\d.,'’\s]+%?$/;

/**
 * @param keyIndexes the columns of the key; none where they are not known. A row with a key of its own, beside the word, is never one of totals.
 * @param partIndexes the columns of which a key is put together: there, the word takes the place of a part.
 */
export function isTotalRow(
  cells: readonly string[],
  keyIndexes: readonly number[],
  partIndexes: readonly number[] = keyIndexes,
): boolean {
  const first = cells.findIndex((cell) => cell.trim() !== '');
  if (first < 0) return false;
  if (!isTotalWord(cells[first] ?? '')) return isRowCount(cells[first] ?? '') && isBlankAfter(cells, first);
  const hasKey =
    !keyIndexes.includes(first) &&
    !partIndexes.includes(first) &&
    keyIndexes.some((index) => (cells[index] ?? '').trim() !== '');
  if (hasKey) return false;
  const [next = '', ...others] = cells
    .slice(first + 1)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  return others.every(isShortNumber) && (isShortNumber(next) || (others.length > 0 && isMeasure(next)));
}

/** As `psql`, `sqlcmd`, `mysql` and SQL*Plus end a result: `(20 rows)`, `20 rows in set (0.01 sec)`, `20 rows selected.` */
const rowCount =
  /^(?:\(\d{1,9} (?:rows?|records?|zeilen?|lignes?|filas?|righe|riga|linhas?|rijen|rij)(?: affected)?\)|\d{1,9} rows? (?:in set(?: \([\d.]+ sec\))?|selected\.))$/i;

function isRowCount(cell: string): boolean {
  return cell.length <= wordCharsMax && rowCount.test(cell.trim());
}

function isBlankAfter(cells: readonly string[], first: number): boolean {
  return cells.every((cell, index) => index <= first || cell.trim() === '');
}

const ruleCharsMin = 4;
const rule = /^[-=+|_ ─━═┼╪]+$/;

/** A line between the header and the rows, or around them, of nothing but dashes. One dash may stand for a blank cell. */
export function isRuleRow(cells: readonly string[]): boolean {
  const isDashes = (cell: string): boolean => cell === '' || rule.test(cell);
  return cells.every(isDashes) && cells.some((cell) => cell.trim().length >= ruleCharsMin);
}

function isTotalWord(cell: string): boolean {
  if (cell.length > wordCharsMax) return false;
  if (isLetters.test(cell) && !beginnings.has(cell.slice(0, 2).toLowerCase())) return false;
  const text = comparable(cell);
  return totals.has(text) || totals.has(comparable(cell.trim().replace(count, '')));
}

function isMeasure(cell: string): boolean {
  return cell.length <= wordCharsMax && measures.has(comparable(cell));
}

function comparable(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .trim()
    .replace(/[:.=()]+$/, '')
    .replace(/[\s\p{Pd}]+/gu, ' ')
    .trim();
}

function isShortNumber(cell: string): boolean {
  if (cell === '' || amount.test(cell)) return true;
  return shortNumber.test(cell) && cell.replace(/\D/g, '').length <= digitsMax;
}
