/**
 * What a person sees in a cell with a number, by its number format: `01234` under `00000`, `50%`, `(415) 555-0101`. Pure.
 *
 * Some things are not as seen, because text that is read by a program has to be whole and unambiguous: a date is an ISO date,
 * a long number has all its digits, one of which digits are lost has an exponent, thousands are not separated, a number that is shown
 * in thousands or millions is whole, one that its colour alone shows as negative has its sign, and a value that the format hides is
 * there: but a zero, which formulas give for an empty cell, and which sheets hide to show a blank one.
 */
import { format, getFormatDateInfo, getFormatInfo, isValidFormat, tokenize } from 'numfmt';

/** What the styles of a workbook say about a cell. */
export interface CellFormat {
  readonly kind: 'general' | 'date' | 'other';
  /** The pattern that is applied; for a date an ISO pattern. */
  readonly pattern: string;
  /** The same without what divides by thousands (the comma at the end of `#,##0,`); left out where nothing does. */
  readonly unscaled?: string;
}

export const generalFormat: CellFormat = { kind: 'general', pattern: 'General' };

/**
 * Formats that files name by number alone (ECMA-376 part 1, 18.8.30). Those that a language may define otherwise (27 to 36, 50
 * to 58) are dates and times in all of them.
 */
const builtIn: ReadonlyMap<number, string> = new Map([
  ...([
    [1, '0'],
    [2, '0.00'],
    [3, '#,##0'],
    [4, '#,##0.00'],
    [9, '0%'],
    [10, '0.00%'],
    [11, '0.00E+00'],
  ] as const),
  ...([
    [5, '$#,##0;-$#,##0'],
    [6, '$#,##0;-$#,##0'],
    [7, '$#,##0.00;-$#,##0.00'],
    [8, '$#,##0.00;-$#,##0.00'],
  ] as const),
  ...([
    [12, '# ?/?'],
    [13, '# ??/??'],
    [14, 'm/d/yy'],
    [15, 'd-mmm-yy'],
    [16, 'd-mmm'],
    [17, 'mmm-yy'],
  ] as const),
  ...([
    [18, 'h:mm AM/PM'],
    [19, 'h:mm:ss AM/PM'],
    [20, 'h:mm'],
    [21, 'h:mm:ss'],
    [22, 'm/d/yy h:mm'],
  ] as const),
  ...([
    [37, '#,##0;(#,##0)'],
    [38, '#,##0;(#,##0)'],
    [39, '#,##0.00;(#,##0.00)'],
    [40, '#,##0.00;(#,##0.00)'],
  ] as const),
  ...([
    [41, '#,##0'],
    [42, '$#,##0'],
    [43, '#,##0.00'],
    [44, '$#,##0.00'],
  ] as const),
  ...([
    [45, 'mm:ss'],
    [46, '[h]:mm:ss'],
    [47, 'mm:ss.0'],
    [48, '##0.0E+0'],
    [49, '@'],
  ] as const),
  ...[27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'yyyy-mm-dd'] as const),
  ...[32, 33, 34, 35, 55, 56].map((id) => [id, 'h:mm:ss'] as const),
]);

/** Longer patterns are not Excel's, which allows 255 characters. */
const patternCharsMax = 1024;

/** @param own the pattern that the workbook gives this number, if any. */
export function cellFormat(id: number, own: string | undefined): CellFormat {
  const pattern = own ?? builtIn.get(id) ?? 'General';
  if (pattern.length > patternCharsMax || !isValidFormat(pattern)) return generalFormat;
  const { type } = getFormatInfo(pattern);
  if (/^general$/i.test(pattern) || type === 'text' || type === 'scientific' || type === 'error') return generalFormat;
  if (type === 'date' || type === 'datetime') {
    const { year, month, day, hours, seconds } = getFormatDateInfo(pattern);
    if (year || month || day) {
      const time = hours ? ` hh:mm${seconds ? ':ss' : ''}` : '';
      return { kind: 'date', pattern: `yyyy-mm-dd${time}` };
    }
  }
  const parts = withoutGroups(pattern);
  const plain = textOf(parts);
  const unscaled = textOf(parts.filter((part) => part.type !== 'scale'));
  return { kind: 'other', pattern: plain, ...(unscaled === plain ? {} : { unscaled }) };
}

type Parts = ReturnType<typeof tokenize>;

function textOf(parts: Parts): string {
  return parts.map(({ raw }) => raw).join('');
}

/**
 * Without the separators of thousands: they differ from country to country, and separate numbers in a list of phones. For the same
 * reason the point is the same in all languages, whatever the format says: `[$€-407]` is a currency and a language.
 */
function withoutGroups(pattern: string): Parts {
  return tokenize(pattern.replace(/\[\$([^\]"-]*)(?:-[^\]]*)?\]/g, '"$1"')).filter(({ type }) => type !== 'group');
}

/** From 0 to the last day of the year 9999. */
const serialMax = 2_958_466;
/** The days between the two systems that dates are counted in. */
export const days1904 = 1462;

/**
 * The text of a number. `raw` is the number as the file holds it.
 * @param daysAdded 0, or `days1904` in workbooks that count from 1904.
 */
export function numberText(raw: string, { kind, pattern, unscaled }: CellFormat, daysAdded: number): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  if (hasLostDigits(raw, value)) return exponential(value);
  if (kind === 'general') return plainNumber(raw, value);
  if (kind === 'date') {
    const serial = value + daysAdded;
    // A spreadsheet shows ##### for what is no date.
    return serial >= 0 && serial < serialMax ? format(pattern, serial) : plainNumber(raw, value);
  }
  const seen = seenAs(pattern, value);
  const isHidden = seen === '' && value !== 0;
  // A section of the format that scales shows another number than without it.
  const isScaled = unscaled !== undefined && (seenAs(unscaled, value) !== seen || (value === 0 && /\d/.test(seen)));
  if (isHidden || isScaled || /\dE[+-]\d/.test(seen)) return plainNumber(raw, value);
  // `#,##0;[Red]#,##0`: without the colour, the text is that of the positive number. One that is shown as 0 is no negative one.
  return value < 0 && /[1-9]/.test(seen) && seenAs(pattern, -value) === seen ? `-${seen}` : seen;
}

function seenAs(pattern: string, value: number): string {
  return format(pattern, value, { nbsp: false }).trim();
}

/** Whether the format shows nothing in place of a zero. */
export function isHiddenZero(raw: string, text: string): boolean {
  return text === '' && raw.trim() !== '' && Number(raw) === 0;
}

/** A spreadsheet keeps this many digits. */
const digitsKept = 15;

/** Of a number with more digits, none tells which of them are true: unless the file holds it digit by digit, exactly. */
function hasLostDigits(raw: string, value: number): boolean {
  return Math.abs(value) >= 10 ** digitsKept && !isExact(raw, value);
}

/** All digits, without an exponent. */
function plainNumber(raw: string, value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 10 ** digitsKept ? `${value === 0 ? 0 : value}` : raw.trim();
  // Decimals are as a person sees them: without the noise of binary fractions.
  const seen = format('General', value);
  if (!seen.includes('E')) return seen;
  const rounded = Number(value.toPrecision(digitsKept));
  const text = `${rounded}`;
  return text.includes('e') ? rounded.toFixed(20).replace(/0+$/, '') : text;
}

/** A date that is written as text, `2026-03-05T14:30:00Z`: as much of it as the format shows. */
export function isoDateText(text: string, { kind, pattern }: CellFormat): string {
  const bare = text.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '').replace(/(?<=:\d\d)\.0+(?=Z?$)/, '');
  return kind === 'date' && /^\d{4}-\d\d-\d\d(?:T|$)/.test(bare)
    ? bare.slice(0, pattern.length).replace('T', ' ')
    : bare;
}

/** Whether digits were lost. A program other than a spreadsheet may have written the number in full. */
export function lostDigits(text: string): boolean {
  return /^-?\d(?:\.\d+)?E\+\d{2,3}$/.test(text);
}

/** Typed into a spreadsheet, such a number ends with zeros. */
function isExact(raw: string, value: number): boolean {
  return Number.isSafeInteger(value) && /^-?\d+[1-9]$/.test(raw.trim());
}

/** `1.5E+17`, so that no reader takes the zeros at its end for digits. */
function exponential(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(digitsKept - 1).split('e+');
  return `${mantissa.replace(/\.?0+$/, '')}E+${exponent.padStart(2, '0')}`;
}
