/**
 * Whether a cell of a fix-file is unchanged, apart from what a spreadsheet does to a file that is merely opened and saved:
 * `007` becomes 7, `+4915112345678` becomes 4.91511E+12, `2026-11-21` becomes 21/11/2026, `TRUE` becomes WAHR. Such a change is not a
 * person's correction (`docs/rules.md`, "Dead letters"). Pure.
 *
 * The question is always whether a spreadsheet could show the original so, never the other way round: any other change is a
 * correction. What comes back means the same as what was there, so that to restore it takes nothing away, unless a person wrote it in
 * another way because it was rejected: in such a cell only lost digits and letters count.
 */
import { isSameDate, type Opened } from './damaged-date.ts';

/** Where and when a cell may have been damaged. */
export interface CellPlace extends Opened {
  /** The row was rejected for this cell. */
  readonly isRejected: boolean;
}

export function isSameButForDamage(original: string, found: string, place: CellPlace): boolean {
  const before = tidy(original);
  const after = tidy(found);
  if (
    before === after ||
    // Some remove the apostrophe that marks a text.
    before.replace(/^'/, '') === after ||
    isSamePlainNumber(before, after) ||
    isSameInCodePage(before, after)
  )
    return true;
  if (place.isRejected) return false;
  return isSameTruth(before, after) || isSameNumber(before, after) || isSameDate(before, after, place);
}

function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim();
}

/** As spreadsheets show them, in capital letters; workbooks and other programs in small ones as well. */
const truths = {
  yes: 'TRUE WAHR VRAI VERDADERO VERO VERDADEIRO WAAR SANT SAND TOSI PRAWDA PRAVDA IGAZ DOĞRU ИСТИНА'.split(' '),
  no: 'FALSE FALSCH FAUX FALSO ONWAAR FALSKT USANN FALSK EPÄTOSI FAŁSZ NEPRAVDA HAMIS YANLIŞ ЛОЖЬ'.split(' '),
};

function isSameTruth(original: string, found: string): boolean {
  const shown = /^(?:true|false)$/i.test(found) ? found.toUpperCase() : found;
  return Object.values(truths).some((words) => words.includes(original.toUpperCase()) && words.includes(shown));
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

/**
 * Numbers as spreadsheets read and show them: `007` becomes 7, `+4915112345678` becomes 4.91511E+12, `1 000` becomes 1000, `(5)`
 * becomes -5. A spreadsheet adds no `+`, no leading zero, no parentheses and no separators, and guesses no digits.
 */

/** The digits that a spreadsheet keeps of a number, and the longest number that it shows. */
const digitsKept = 15;
const shownCharsMax = 40;

interface Figure {
  readonly negative: boolean;
  /** As written, without leading zeros. */
  readonly digits: string;
  /** The place of the point, counted from the first digit. */
  readonly point: number;
  readonly hasExponent: boolean;
  /** Whether thousands are separated. */
  readonly isGrouped: boolean;
  /** `€`, `%`; empty where there is none. */
  readonly unit: string;
}

const plainPattern = /^(?=[.,]?\d)(\d*)(?:[.,](\d*))?(?:E([+-]?\d{1,3}))?$/i;
/** `1.234,5`, `1 000`, `1'000`, `12,34,567`: groups of three digits; in India of two before the last one. */
const groupedPattern = /^(\d{1,3}(?:([.,'’ \u00a0\u202f])\d{3})(?:\2\d{3})*|\d{1,2}(?:,\d{2})*,\d{3})(?:([.,])(\d*))?$/;
const unitPattern = /^[$€£¥]|[$€£¥%]$/;

/** How a spreadsheet may read a text as a number. */
function figuresOf(text: string): readonly Figure[] {
  const unit = unitPattern.exec(text)?.[0] ?? '';
  const bare = unit === '' ? text : text.replace(unitPattern, '').trim();
  const [body, negative] = withoutSign(bare);
  const figure = (whole: string, fraction: string, exponent?: string): Omit<Figure, 'isGrouped'> => {
    const digits = `${whole}${fraction}`.replace(/^0+/, '');
    const point = whole.length - (whole.length + fraction.length - digits.length) + Number(exponent ?? 0);
    return { negative, digits, point, hasExponent: exponent !== undefined, unit };
  };
  const figures: Figure[] = [];
  const plain = plainPattern.exec(body);
  if (plain !== null) figures.push({ ...figure(plain[1] ?? '', plain[2] ?? '', plain[3]), isGrouped: false });
  const grouped = body.length > shownCharsMax ? null : groupedPattern.exec(body);
  const [, whole = '', separator = ',', mark, fraction = ''] = grouped ?? [];
  if (grouped !== null && mark !== separator)
    figures.push({ ...figure(whole.replace(/\D/g, ''), fraction), isGrouped: true });
  return figures;
}

/** `-5`, `(5)` and `5-`, as accountants write it. */
function withoutSign(text: string): readonly [body: string, negative: boolean] {
  if (text.startsWith('(') && text.endsWith(')')) return [text.slice(1, -1), true];
  if (/^[+-]/.test(text)) return [text.slice(1), text.startsWith('-')];
  return text.endsWith('-') ? [text.slice(0, -1), true] : [text, false];
}

/** Whether a spreadsheet may show the original so. */
function isSameNumber(original: string, found: string): boolean {
  if (found.length > shownCharsMax || /^(?:[+(]|-?0\d)|-$/.test(found)) return false;
  const shown = figuresOf(found);
  return shown.length > 0 && figuresOf(original).some((before) => shown.some((after) => isShownAs(before, after)));
}

/** The same where both are written with nothing but digits, a sign in front, a point and an exponent. */
function isSamePlainNumber(original: string, found: string): boolean {
  const isPlain = (text: string): boolean => plainPattern.test(text.replace(/^[+-]/, ''));
  return isPlain(original) && isPlain(found) && isSameNumber(original, found);
}

function isShownAs(before: Figure, after: Figure): boolean {
  if (after.isGrouped && !before.isGrouped) return false;
  if (before.negative !== after.negative) return false;
  if (before.unit === '%' && after.unit === '')
    return isShownAs({ ...before, unit: '', point: before.point - 2 }, after);
  if (before.unit !== after.unit) return false;
  const kept = after.hasExponent ? after.digits.length : digitsKept;
  if (before.point === after.point && trimmed(before.digits) === trimmed(after.digits)) return true;
  // What is beyond the digits that are kept is zeros.
  if (trimmed(after.digits).length > kept) return false;
  return [rounded(before, kept), cut(before, kept)].includes(cut(after, kept));
}

/** Without zeros at the end. */
function trimmed(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** The first digits and the place of the point, as one text that can be compared. */
function cut({ digits, point }: Figure, kept: number): string {
  const significant = trimmed(digits.slice(0, kept));
  return significant === '' ? '0' : `${significant}e${point}`;
}

function rounded(figure: Figure, kept: number): string {
  const { digits, point } = figure;
  if (digits.length <= kept || (digits[kept] ?? '0') < '5') return cut(figure, kept);
  const up = `${BigInt(digits.slice(0, kept)) + 1n}`;
  return cut({ ...figure, digits: up, point: point + up.length - kept }, kept);
}
