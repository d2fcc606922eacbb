/**
 * E-mail addresses as people and programs write them (`docs/exports.md`): a cell → its addresses → each plain and checked.
 *
 *   `"Smith, Bob" <bob@example.com>; ann@example.com (work)` → `bob@example.com`, `ann@example.com`
 *
 * A name or remark beside an address is left out with a note. Nothing is guessed: what holds no address, and is no word
 * for "none" (`cell.ts`), rejects the row.
 */
import { bad, characterFlaw, type Flaw, good, plainCharacters, type Reading, type WarningCode } from './cell.ts';

/**
 * The addresses of a cell, each to be read on its own, with the name or remark beside it. CRMs join them by `;`, `,`, `|`,
 * ` ::: `, line breaks or spaces.
 */
export function splitEmails(text: string): readonly string[] {
  return isPlain(text) ? [text] : cutEmails(text).map(({ piece }) => piece);
}

/** The same, each with what separates it from the next: it helps to tell a name from a misspelt address. */
export function cutEmails(text: string): readonly Cut[] {
  const whole = (piece: string): Cut => ({ piece, separator: '', isSpaced: false });
  // The parts of an X.400 name are separated as addresses are.
  if (!/[\s;,|"<(]|:::/.test(text) || /^\s*x400:[^@]*$/i.test(text)) return splitAtSpaces(text.trim()).map(whole);
  return cutOutside(text)
    .filter(({ piece, separator }, index, all) => {
      const next = all[index + 1]?.piece ?? '';
      return piece !== '' && !(separator === ',' && isNameLike(piece) && hasNamedAddress(next));
    })
    .flatMap((cut) => splitAtSpaces(cut.piece).map((piece) => ({ ...cut, piece })));
}

/** The first part of `Smith, Bob <bob@example.com>`. */
function isNameLike(piece: string): boolean {
  return /^["']?[\p{L}\p{M}\s.'’-]+$/u.test(piece) && !/\S\.\S/.test(piece) && !isSpeltOut(piece);
}

/** `bob at example dot com`, `bob(at)example`, `bob example com`. */
function isSpeltOut(piece: string): boolean {
  return /[\p{L}\p{M}][^\p{L}\p{M}]+(?:at|ät|dot|punkt|arroba|punto|arobase|point|com|net|org)(?![\p{L}\p{M}])/iu.test(
    piece,
  );
}

/**
 * Whether it is surely a web address, or a name in front of an address: `Bob; `, `bob miller, `. A word in small letters, or in front of a
 * comma alone (`bob,miller@example.com`), may be a part of a misspelt address.
 */
export function isNameOrLink({ piece, separator, isSpaced }: Cut): boolean {
  if (piece.includes('@')) return false;
  if (/^(?:https?:|www\.)/i.test(piece)) return true;
  if (separator === '' || (separator === ',' && !isSpaced)) return false;
  const isOfLetters = /^[\p{L}\p{M}\s.,'"’&()-]+$/u.test(piece) && !/\S{2}\.\p{L}{2}/u.test(piece);
  return isOfLetters && !isSpeltOut(piece) && /^["'(]*[\p{Lu}\p{Lt}\p{Lo}]|\p{L}\s+\p{L}/u.test(piece);
}

/** The rest of it; remarks may be behind the name. */
function hasNamedAddress(piece: string): boolean {
  return /^[^<(@]+[<(][^<>()]*@/.test(piece.replace(/\([^()@]*\)/g, ' '));
}

export interface Cut {
  readonly piece: string;
  /** What is behind it; empty at the end. */
  readonly separator: string;
  /** A space or line break is behind the separator. */
  readonly isSpaced: boolean;
}

const separators = /:::|[;,|\r\n]/y;
const closings: Readonly<Record<string, string>> = { '"': '"', '<': '>', '(': ')' };

/** Cuts at separators that are not inside quotes or brackets. Brackets that never close hold nothing together. */
function cutOutside(text: string): readonly Cut[] {
  const pieces: Cut[] = [];
  let start = 0;
  let at = 0;
  while (at < text.length) {
    const closedAt = closingAt(text, at, closings[text[at] ?? '']);
    separators.lastIndex = at;
    const separator = separators.exec(text)?.[0];
    if (closedAt > at) at = closedAt + 1;
    else if (separator === undefined) at += 1;
    else {
      const piece = text.slice(start, at).trim();
      at += separator.length;
      pieces.push({ piece, separator, isSpaced: /\s/.test(text[at] ?? '') });
      start = at;
    }
  }
  return [...pieces, { piece: text.slice(start).trim(), separator: '', isSpaced: false }];
}

/** Quotes and brackets are looked through no further than this, so that many that stay open take no longer. */
const insideLengthMax = 300;

function closingAt(text: string, at: number, closing: string | undefined): number {
  if (closing === undefined) return -1;
  const found = text.slice(at + 1, at + insideLengthMax).indexOf(closing);
  return found < 0 ? -1 : at + 1 + found;
}

const joiningWords: ReadonlySet<string> = new Set([
  'or',
  'and',
  'und',
  'oder',
  'et',
  'ou',
  'y',
  'o',
  '&',
  '/',
  '+',
  '-',
]);

/** Several addresses without a separator: each is a word with an @, with the words before it and the brackets behind it. */
function splitAtSpaces(piece: string): readonly string[] {
  if (piece.split('@', 3).length < 3) return piece === '' ? [] : [piece];
  const slashed = piece.split('/');
  if (slashed.every((part) => /^[^@\s]+@[^@\s]+$/.test(part.trim()))) return slashed.map((part) => part.trim());
  const parts: string[][] = [];
  // Words behind an address, which belong to the next one, if there is one.
  let between: string[] = [];
  for (const word of piece.replaceAll('>', '> ').match(wordOrRemark) ?? []) {
    const open = parts.at(-1);
    if (open === undefined) parts.push([word]);
    else if (!open.some((one) => one.includes('@')) || (between.length === 0 && isRemark(word))) open.push(word);
    else if (word.includes('@') && !isRemark(word)) {
      parts.push([...between, word]);
      between = [];
    } else if (!joiningWords.has(word.toLowerCase())) between.push(word);
  }
  parts.at(-1)?.push(...between);
  return parts.map((part) => part.join(' '));
}

/** A word, or all that round brackets hold. */
const wordOrRemark = /\([^()]*\)|(?:[^\s(]|\((?![^()]*\)))+/g;

/** `(work)`, `(Vertretung: ann@example.com)`: it may hold the address of another person. Brackets around an address alone are none. */
function isRemark(word: string): boolean {
  return /^\(.*\)$/su.test(word) && !/^\(\s*[^\s@]+@[^\s@]+\s*\)$/.test(word);
}

/** An Exchange server's own name of a mailbox, and other addresses that are none of e-mail, as directories list them. */
const notAnAddress = /^["']?(?:\/o=|(?:ex|x400|x500|sip|eum|spo):)/i;

/** Why an entry is left out without a value; null for any other. */
export function emailLeftOut(part: string): Flaw<WarningCode> | null {
  if (!notAnAddress.test(part)) return null;
  return {
    code: 'emailLeftOut',
    message: 'this is a name inside a mail server and no e-mail address; it was left out',
    hint: 'If the person has an e-mail address, write it there.',
  };
}

const remarkDropped: Flaw<WarningCode> = {
  code: 'emailRemarkDropped',
  message: 'the name or remark beside an e-mail address was left out',
  hint: 'No action needed: names are read from their own columns.',
};

const addressLengthMax = 254;
/** With a name beside it. */
const entryLengthMax = 1_000;
/** Without what separates addresses: a value that is read again must be one. */
const localPart = /^[^\s@,;:|<>()[\]"\\]{1,64}$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/** Nothing of it has to be tidied. */
const plainAddress = /^[a-z\d][\w.+%-]*@[a-z\d.-]+[a-z]$/i;
/** Most addresses of most files: plain, and valid in each of its parts. */
const validAddress = /^[a-z\d][\w.+%-]{0,63}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z])?$/i;

function isPlain(text: string): boolean {
  return text.length <= addressLengthMax && validAddress.test(text);
}

/** A plausible address of at most 254 characters, in lower case in its domain alone (`docs/rules.md`). */
export function readEmail(text: string): Reading<string> {
  if (isPlain(text)) {
    const at = text.indexOf('@');
    return good(text.slice(0, at) + text.slice(at).toLowerCase());
  }
  const hint = 'Write one address like anna@example.com, or leave the cell blank.';
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  if (text.length > entryLengthMax) {
    return bad('emailInvalid', `the e-mail address is longer than ${addressLengthMax} characters`, hint);
  }
  const { address, hasRemark } = plainAddress.test(text)
    ? { address: text, hasRemark: false }
    : addressOf(plainCharacters(text).normalize('NFC').trim());
  if ([...address].length > addressLengthMax) {
    return bad('emailInvalid', `the e-mail address is longer than ${addressLengthMax} characters`, hint);
  }
  const at = address.lastIndexOf('@');
  if (at < 0) return bad('emailInvalid', 'the e-mail address has no at sign (@)', hint);
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (!localPart.test(local)) return bad('emailInvalid', 'the part before the @ is not valid', hint);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => domainLabel.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) {
    return bad('emailInvalid', 'the part after the @ is not a domain name', hint);
  }
  return good(`${local}@${domain.toLowerCase()}`.normalize('NFC'), hasRemark ? [remarkDropped] : []);
}

interface Entry {
  readonly address: string;
  readonly hasRemark: boolean;
}

/** The address inside angle brackets, before or inside round ones, after a label; without quotes and stops around it. */
function addressOf(entry: string): Entry {
  const outsideBrackets = entry.replace(/\([^()]*\)/g, ' ');
  if (outsideBrackets !== entry && outsideBrackets.includes('@'))
    return { ...addressOf(outsideBrackets), hasRemark: true };
  const named = /^([^<]*)<([^<>]*@[^<>]*)>(.*)$/su.exec(entry);
  if (named !== null) {
    const beside = withoutEdges(`${named[1] ?? ''}${named[3] ?? ''}`);
    const { address } = addressOf(named[2] ?? '');
    return { address, hasRemark: beside !== '' && beside.toLowerCase() !== address.toLowerCase() };
  }
  const [, outside = '', inside = '', behind = ''] = /^([^()]*)\(([^()]*)\)([^()]*)$/su.exec(entry) ?? [];
  if (inside.includes('@') && !outside.includes('@'))
    return { ...addressOf(inside), hasRemark: `${outside}${behind}`.trim() !== '' };
  const unlabelled = entry.replace(/^["'\s]*(?:e-?mail|mail|smtp|work|home|office|private|privat|e)\s*:\s*/iu, '');
  const link = /^["'<\s]*mailto:\s*(?:\/\/)?([^?]*)/iu.exec(unlabelled)?.[1];
  // Microsoft Access writes links as `text#address#`.
  const address = withoutEdges((link === undefined ? unlabelled : decoded(link)).replace(/#mailto:[^#]*#?$/iu, ''));
  return { address, hasRemark: false };
}

/** Quotes, brackets and stops that text leaves around an address. */
function withoutEdges(text: string): string {
  return text.replace(/^[\s"'“”„‘’<>([{,;:|]+/u, '').replace(/[\s"'“”‘’<>)\]}.,;:|]+$/u, '');
}

/** `%2B` of a link is `+`; what is no escape stays. */
function decoded(link: string): string {
  return link.replace(/%([2-7][\dA-F])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
