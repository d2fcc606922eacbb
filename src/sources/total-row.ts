/**
 * Rows of totals, which reports and spreadsheets put below or between the records: `Total,,,128`. They describe no contact and
 * are left out with a note that names the line.
 *
 * A row is one of totals if its first filled cell is such a word, alone or with a count, and every other filled cell is a short
 * number. A person or a company called Total has a key, a text, an address or a phone number in another cell.
 */

const words = [
  ...['total', 'totals', 'grand total', 'grand totals', 'sub total', 'sub totals', 'subtotal', 'subtotals', 'sum'],
  ...['total records', 'total rows', 'total contacts', 'total count', 'record count', 'number of records'],
  ...['summe', 'gesamt', 'gesamtsumme', 'gesamtanzahl', 'insgesamt', 'zwischensumme', 'endsumme', 'anzahl datensätze'],
  ...[
    'total général',
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
/** `(128 records)`, `: 128`, `128`. */
const count = /[\s:(=]*\d{1,9}\s*\p{L}*\)?$/u;
const wordCharsMax = 60;
/** More digits may be a phone number. */
const digitsMax = 6;
/** `1,234,567.89`, `-12.50 €`: two decimals are a sum, of any length. */
const amount = /^[-+]?\s?[$€£]?\s?\d{1,3}(?:[.,'’\s]?\d{3})*[.,]\d{2}\s?[$€£%]?$/;
const shortNumber = /^[-+]?[\d.,'’\s]+%?$/;

/**
 * @param keyIndex the column of the key; null where it is not known. A row with a key of its own is never one of totals.
 */
export function isTotalRow(cells: readonly string[], keyIndex: number | null): boolean {
  const first = cells.findIndex((cell) => cell.trim() !== '');
  if (first < 0 || !isTotalWord(cells[first] ?? '')) return false;
  if (keyIndex !== null && keyIndex !== first && (cells[keyIndex] ?? '').trim() !== '') return false;
  return cells.every((cell, index) => index <= first || isShortNumber(cell.trim()));
}

function isTotalWord(cell: string): boolean {
  if (cell.length > wordCharsMax) return false;
  const text = cell.normalize('NFC').toLowerCase().trim();
  return totals.has(plain(text)) || totals.has(plain(text.replace(count, '')));
}

function plain(text: string): string {
  return text
    .replace(/[:.=()]+$/, '')
    .replace(/[\s\p{Pd}]+/gu, ' ')
    .trim();
}

function isShortNumber(cell: string): boolean {
  if (cell === '' || amount.test(cell)) return true;
  return shortNumber.test(cell) && cell.replace(/\D/g, '').length <= digitsMax;
}
