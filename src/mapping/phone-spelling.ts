/**
 * How people and programs write phone numbers (`docs/exports.md`, "Phones"), reduced to one spelling: what `phone-cell.ts`
 * then reads by the numbering plans. Closed lists of words in English, German, French and Spanish; other letters stay, and
 * reject the number there.
 */
import { plainCharacters } from './cell.ts';

export interface SpelledPhone {
  /** Digits, perhaps letters, and the punctuation of numbers. */
  readonly base: string;
  readonly hasExtension: boolean;
  /** A word beside the number was left out: `Mobile: …`, `… (work)`. */
  readonly hasRemark: boolean;
}

const words = `tel telephone telefon telefono telefone teléfono téléphone phone ph fon fone mobile mobil mob movil móvil
  portable gsm cell cellular cel handy celular work home office main direct private personal business other privat
  geschäftlich geschaeftlich dienstlich büro buero arbeit zentrale fixe festnetz bureau domicile travail casa trabajo
  oficina whatsapp no nr num number nummer numero número`
  .split(/\s+/)
  .join('|');
/** A single letter only with a colon or a dot: `M: 0170…`. */
const labelBefore = new RegExp(
  `^(?:(?:(?:${words})(?:\\s(?:${words}))?\\s?(?:[.:]{1,2}|-)?|[tpmcwhd][.:]{1,2})\\s?(?=[+(\\d]))`,
  'iu',
);
const labelBehind = new RegExp(`(?<=\\d)\\s?\\((?:${words})(?:\\s(?:${words}))?\\)$`, 'iu');

/** `;ext=5`, `ext. 5`, `(x123)`, `#5`, `DW 5` at the end, after a digit. */
const extension =
  /(?<=[\d)])[\s,;]*\(?(?:extension|extn|ext|x|durchwahl|dw|nebenstelle|apparat|app|poste|interno|int|anexo|доб|内線|#)[\s.:=#-]*\d{1,7}\)?$/iu;
/** What a telephone dials after a pause: `,,5`, `;5`, `p5#`. Seven digits may be a number of their own. */
const dialledAfter = /(?<=[\d)])\s?(?:[,;]\s?)*[,;pw]\s?[\d*#]{1,6}$/i;

/** `555-0101 ext.`: what is left of an empty field for the extension. */
const emptyExtension = /(?<=[\d)])[\s,;]*\(?(?:extension|ext|x)[\s.:]*\)?$/i;

export function spellPhone(raw: string): SpelledPhone {
  const plain = plainCharacters(raw)
    .replace(/\p{So}|\uFE0F/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/[·•‧∙・]/gu, '.')
    .replace(/[^\S\r\n]+/gu, ' ')
    .trim();
  const bare = unwrapped(plain)
    .replace(/^["'’‘`´“”\s.,:;/-]+/u, '')
    .replace(/[\s"'’“”.,:;*/-]+$/u, '')
    .replace(/[[{]/g, '(')
    .replace(/[\]}]/g, ')')
    .replace(/^=\s?(?=[+(\d])/, '')
    .replace(/^(?:tel|callto|phone|sms):(?:\/\/)?\s?/i, '');
  const hasLetters = /\p{L}/u.test(bare);
  const unlabelled = hasLetters
    ? bare.replace(labelBefore, '').replace(labelBehind, '').replace(emptyExtension, '')
    : bare;
  const number = unlabelled
    .replace(/^(\+?\d{5,})[.,]0+$/, '$1')
    .replace(extension, '')
    .replace(dialledAfter, '')
    .trim();
  return {
    base: number.replace(/^\(\s?(\+|00)\s?(\d{1,3})\s?\)/, '$1$2 '),
    hasExtension: /\d/.test(unlabelled.slice(number.length)) && !/^\+?\d{5,}[.,]0+$/.test(unlabelled),
    hasRemark: hasLetters && unlabelled !== bare && !emptyExtension.test(bare),
  };
}

const pairs: Readonly<Record<string, string>> = { '[': ']', '<': '>', '{': '}', '(': ')' };

/** Without a bracket around all of it, or one that has lost its other half: `["+1…"` of a list, `<+1…>`, `(+1…)`. */
function unwrapped(text: string): string {
  const closing = pairs[text[0] ?? ''];
  const closedAt = closing === undefined ? null : text.indexOf(closing);
  const start = closedAt === -1 || closedAt === text.length - 1 ? 1 : 0;
  const opening = Object.keys(pairs).find((one) => pairs[one] === text.at(-1));
  const openedAt = opening === undefined ? null : text.indexOf(opening);
  const isOpen = openedAt === -1 || (openedAt === 0 && start === 1);
  return text.slice(start, isOpen ? -1 : undefined);
}

/** `Fax: 030…`, `030… (fax)`: such a number cannot be called. */
export function isFax(text: string): boolean {
  return (
    text.length < 100 &&
    /\d/.test(text) &&
    /^\s*(?:tele)?fax(?:nummer| number)?[\s.:]|\((?:tele)?fax\)\s*$|\sfax\s*$/i.test(text)
  );
}

/** A number as a spreadsheet or a program writes a long one: `3.108207129E9`, `4,15E+09`. */
const scientific = /^([+-]?)(\d+)(?:[.,](\d+))?E([+-]?)(\d{1,3})$/i;
/** A program that rounds, as spreadsheets and numbers of single precision do, keeps fewer digits than this. */
const wholeDigitsMin = 8;
/** No phone number is longer. */
const digitsMax = 15;

/**
 * A whole number in scientific notation as its digits: `3.108207129E9` → `3108207129`. Null for any other text; `lost`
 * where digits are missing, as in `4.15E+09`.
 *
 * Zeros at the end are missing in `4.1555501E9`, which a program wrote whose shortest spelling of the number this is. One
 * that writes the sign, `E+09`, has rounded to a fixed number of digits.
 */
export function wholeNumberOf(text: string): string | 'lost' | null {
  const match = scientific.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', decimals = '', exponentSign = '', exponent = ''] = match;
  const zeros = Number(exponent) - decimals.length;
  const digits = whole + decimals;
  const isExact = zeros === 0 || (zeros > 0 && exponentSign === '' && digits.length >= wholeDigitsMin);
  if (!isExact || exponentSign === '-' || sign === '-' || whole.length > 1 || decimals === '') return 'lost';
  return digits.length + zeros > digitsMax ? 'lost' : sign + digits + '0'.repeat(zeros);
}
