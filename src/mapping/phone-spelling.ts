/**
 * How people and programs write phone numbers (`docs/exports.md`, "Phones"), reduced to one spelling, which is then read by
 * the numbering plans (`phone-cell.ts`). Closed lists of words in English, German, French and Spanish; other letters stay, and
 * reject the number there. Pure.
 */
import { machineBeside, type machineIn } from '#src/sources/number-words.ts';
import { plainCharacters } from './cell.ts';

const extensionWords = 'extension|extn|ext|x|durchwahl|dw|nebenstelle|apparat|app|poste|interno|int|anexo|доб|内線|#';
/** A text of a regular expression: `;ext=5`, `ext. 5`, `(x123)`, `#5`, `DW 5`. Bounded: it is looked for behind every line break of a long text. */
export const extensionText = `\\(?(?:${extensionWords})[\\s.:=#-]{0,9}\\d{1,7}\\)?`;

export interface SpelledPhone {
  /** Digits, perhaps letters, and the punctuation of numbers. */
  readonly base: string;
  readonly hasExtension: boolean;
  /** A word beside the number, or its number in a list, was left out: `Mobile: …`, `… (work)`, `1. …`. */
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

/** At the end, after a digit. */
const extension = new RegExp(`(?<=[\\d)])[\\s,;]*${extensionText}$`, 'iu');
/** What a telephone dials after a pause: `,,5`, `;5`, `p5#`. Seven digits may be a number of their own. */
const dialledAfter = /(?<=[\d)])\s?(?:[,;]\s?)*[,;pw]\s?[\d*#]{1,6}$/i;

/** `555-0101 ext.`: what is left of an empty field for the extension. */
const emptyExtension = /(?<=[\d)])[\s,;]*\(?(?:extension|ext|x)[\s.:]*\)?$/i;

/**
 * `1. 030…`, `2) 030…`, `(2) 030…`, `2 / +49…`: a number in a list, before one that has its own beginning. No two-digit calling code
 * is below 20, and a number whose groups are parted by dots has no space behind them.
 */
const listNumber = /^(?:\([1-9]\)\s?|(?:[1-9]|1\d)(?:\.?\)\s?|\.\s|\s\/\s?))(?=\(?\s?[+0](?:\D{0,3}\d){6})/;
/**
 * `+43 1 1234`, `0043 1 123`, `030 12345`: short, but with its own beginning. In more groups, a 0 may be within the number, as in
 * `Mobile6 01 02 03 04`.
 */
const shortNumber =
  '\\+(?:\\D{0,3}\\d){6}|00[1-9](?:\\D{0,3}\\d){5}|(?=0(?:\\D?\\d){6})0[1-9]\\d{0,3}[\\s/-]{1,3}\\d{3,6}(?!\\D{0,3}\\d)';
/** `Tel. 2: 030…`, `Tel. 2) 030…`, `Mobile2 030…`; without a sign behind it only where the number has its own beginning. */
const labelNumber = new RegExp(
  `^((?:${words})(?:\\s(?:${words}))?\\.?)(?:\\s?[1-9](?:\\s?:|\\.?\\)|\\.(?=\\s))\\s?|(?<=\\p{L})[1-9](?:\\s?(?=\\()|\\s(?=${shortNumber}))|\\s?[1-9]\\s(?=\\(?\\s?[+0](?:\\D{0,3}\\d){8}))(?=[+(\\d])`,
  'iu',
);

/** The spelling of one number. Never throws. @param raw as the cell holds it. */
export function spellPhone(raw: string): SpelledPhone {
  const plain = plainCharacters(raw)
    .replace(/\p{So}|\uFE0F/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/(?<!\p{L})[·•‧∙・]|[·•‧∙・](?!\p{L})/gu, '.')
    .replace(/[^\S\r\n]+/gu, ' ')
    .trim();
  const written = unwrapped(plain)
    .replace(/^["'’‘`´“”\s.,:;/-]+/u, '')
    .replace(/[\s"'’“”.,:;*/-]+$/u, '')
    .replace(/[[{]/g, '(')
    .replace(/[\]}]/g, ')')
    .replace(/^=\s?(?=[+(\d])/, '')
    .replace(/^(?:tel|callto|phone|sms):(?:\/\/)?\s?/i, '');
  const bare = written.replace(listNumber, '');
  const hasLetters = /\p{L}/u.test(bare);
  const unlabelled = hasLetters
    ? withoutBoth(bare)
        .replace(labelNumber, '$1 ')
        .replace(labelBefore, '')
        .replace(labelBehind, '')
        .replace(emptyExtension, '')
    : bare;
  const number = unlabelled
    .replace(/^(\+?\d{5,})[.,]0+$/, '$1')
    .replace(extension, '')
    .replace(dialledAfter, '')
    .trim();
  return {
    base: number.replace(/^\(\s?(\+|00)\s?(\d{1,3})\s?\)/, '$1$2 '),
    hasExtension: /\d/.test(unlabelled.slice(number.length)) && !/^\+?\d{5,}[.,]0+$/.test(unlabelled),
    hasRemark: bare !== written || (hasLetters && unlabelled !== bare && !emptyExtension.test(bare)),
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

/** What is written before and behind a number with all of its digits. */
const textBefore = /^\D*?(?=[+(\s]*\d)/;
const textBehind = /(?<=\d)\D*$/;

function machineBesideNumber(text: string): ReturnType<typeof machineIn> {
  return machineBeside(textBefore.exec(text)?.[0] ?? '', textBehind.exec(text)?.[0] ?? '');
}

/** Without the words that name a fax beside a telephone, or in doubt: `Tel/Fax: 030…`, `Tel. 030… und Fax`, `Büro/Fax 030…`. */
function withoutBoth(text: string): string {
  const machine = machineBesideNumber(text);
  if (machine !== 'besidePhone' && machine !== 'inDoubt') return text;
  const withoutIt = (words: string): string => (/\p{L}/u.test(words) ? '' : words);
  return text.replace(textBefore, withoutIt).replace(textBehind, withoutIt).trim();
}

/** `Fax: 030…`, `030… (fax)`: such a number cannot be called. That of `Fax / Tel: 030…` can. */
export function isFax(text: string): boolean {
  if (text.length >= 100 || !/\p{L}/u.test(text) || !/\d/.test(text)) return false;
  return machineBesideNumber(text) === 'alone';
}
