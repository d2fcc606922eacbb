/**
 * Whether a cell of a fix-file is unchanged, apart from what a spreadsheet does to a file that is merely opened and saved:
 * `007` becomes 7, `+4915112345678` becomes 4.91511E+12, `2026-11-21` becomes 21/11/2026. Such a change is not a person's
 * correction (`docs/rules.md`, "Dead letters"). Pure.
 *
 * Any other change is one: a spreadsheet adds no `+` and no leading zero, and guesses no digits.
 */

/** The digits that a spreadsheet keeps of a number, and the longest number or date that it shows. */
const digitsKept = 15;
const shownCharsMax = 40;

export function isSameButForDamage(original: string, found: string): boolean {
  const before = tidy(original);
  const after = tidy(found);
  return (
    before === after ||
    // Some remove the apostrophe that marks a text.
    before.replace(/^'/, '') === after ||
    (/^(?:true|false)$/i.test(before) && before.toLowerCase() === after.toLowerCase()) ||
    isSameNumber(before, after) ||
    isSameDate(before, after) ||
    isSameInCodePage(before, after)
  );
}

function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim();
}

interface Figure {
  readonly negative: boolean;
  /** As written, without leading zeros. */
  readonly digits: string;
  /** The place of the point, counted from the first digit. */
  readonly point: number;
  readonly hasExponent: boolean;
}

const figurePattern = /^([+-]?)(\d+)(?:[.,](\d*))?(?:E([+-]?\d{1,3}))?$/i;

/** Null where the text is no number. */
function figureOf(text: string): Figure | null {
  const [, sign, whole = '', fraction = '', exponent] = figurePattern.exec(text) ?? [];
  if (sign === undefined) return null;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const point = whole.length - (whole.length + fraction.length - digits.length) + Number(exponent ?? 0);
  return { negative: sign === '-', digits, point, hasExponent: exponent !== undefined };
}

function isSameNumber(original: string, found: string): boolean {
  const before = figureOf(original);
  const after = figureOf(found);
  if (before === null || after === null || /^(?:\+|-?0\d)/.test(found) || found.length > shownCharsMax) return false;
  if (before.negative !== after.negative) return false;
  if (Number(original) === Number(found)) return true;
  const kept = after.hasExponent ? after.digits.length : digitsKept;
  return [rounded(before, kept), cut(before, kept)].includes(cut(after, kept));
}

/** The first digits and the place of the point, as one text that can be compared. */
function cut({ digits, point }: Figure, kept: number): string {
  const significant = digits.slice(0, kept).replace(/0+$/, '');
  return significant === '' ? '0' : `${significant}e${point}`;
}

function rounded(figure: Figure, kept: number): string {
  const { digits, point } = figure;
  if (digits.length <= kept || (digits[kept] ?? '0') < '5') return cut(figure, kept);
  const up = `${BigInt(digits.slice(0, kept)) + 1n}`;
  return cut({ ...figure, digits: up, point: point + up.length - kept }, kept);
}

/** `2026-11-21`, `21.11.2026`, `1/2`; with a time or without. */
const datePattern = /^(\d{1,4}([-/.])\d{1,2}(?:\2\d{1,4})?)(?:[T ](\d{1,2}):(\d{2})(?::\d{2}(?:\.\d{1,9})?)?Z?)?$/;
const isoPattern = /^\d{4}-\d/;

/**
 * An ISO date comes back in the order of the country; another keeps its own. A day and a month alone become a date of this
 * year, with the month as a word of any language.
 */
function isSameDate(original: string, found: string): boolean {
  const [, date, , hour, minute] = datePattern.exec(original) ?? [];
  if (date === undefined || found.length > shownCharsMax) return false;
  const [, foundHour, foundMinute] = /(\d{1,2}):(\d{2})/.exec(found) ?? [];
  const isSameTime = foundHour === undefined || (isSameHour(hour, foundHour) && foundMinute === minute);
  const before = date.split(/[-/.]/);
  const after = found.split(/ \d{1,2}:\d{2}/)[0]?.match(/\p{L}{3,}|\d+/gu) ?? [];
  if (!isSameTime) return false;
  if (before.length === 2) return after.some((part) => !/^\d/.test(part)) && holdsAll(before, after);
  if (after.length !== 3) return false;
  if (isoPattern.test(original)) return holdsAll(before, after);
  return !isoPattern.test(found) && before.every((part, index) => isSamePart(part, after[index] ?? ''));
}

function isSameHour(before: string | undefined, after: string): boolean {
  return before !== undefined && Number(before) % 12 === Number(after) % 12;
}

function holdsAll(wanted: readonly string[], got: readonly string[]): boolean {
  const left = [...got];
  return wanted.every((part) => {
    const index = left.findIndex((other) => isSamePart(part, other));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

/** Years may lose their century; a word is some month. */
function isSamePart(before: string, after: string): boolean {
  const number = Number(before);
  if (!/^\d/.test(after)) return number >= 1 && number <= 12;
  return Number(after) === number || (before.length === 4 && after.length === 2 && Number(after) === number % 100);
}

/** Saved in a code page that lacks some of the letters. */
function isSameInCodePage(original: string, found: string): boolean {
  if (!found.includes('?') && !found.includes('_')) return false;
  const before = [...original];
  const after = [...found];
  return (
    before.length === after.length &&
    before.every((char, index) => char === after[index] || (char > '\u007f' && /[?_]/.test(after[index] ?? '')))
  );
}
