/**
 * Plain texts: trimmed, Unicode NFC; control characters and halves of characters kill the row.
 */

import { PatchbayError } from '#src/errors.ts';
import type { JsonValue } from '#src/sources/row.ts';
import {
  bad,
  type DeadCode,
  type Flaw,
  good,
  isPlaceholder,
  type Reading,
  readCell,
  type WarningCode,
} from './cell.ts';

const lineBreakReplaced: Flaw<WarningCode> = {
  code: 'lineBreakReplaced',
  message: 'a line break or tab inside the text was read as a space',
  hint: 'Nothing to do, unless the lines were meant to be different fields.',
};

/** What no text may hold; null when it holds none of it. Line breaks and tabs are judged by the caller. */
export function characterFlaw(text: string): ReturnType<typeof bad> | null {
  if (!text.isWellFormed()) {
    return bad('brokenCharacter', 'the text holds half a character', 'Export the file again as UTF-8.');
  }
  if (/[^\P{Cc}\t\r\n]/u.test(text)) {
    return bad(
      'controlCharacter',
      'the text holds a control character',
      'Remove it; it is often invisible: type the text anew.',
    );
  }
  return null;
}

/** One line of text: a name, a company, a label. A line break or tab inside becomes one space, with a warning. */
export function readText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const trimmed = text.normalize('NFC').trim();
  // Each run is matched once, whatever is in it: a pattern that asks for the line break tries again at every space.
  const oneLine = trimmed.replace(/[\t\r\n ]+/g, (run) => (/[\t\r\n]/.test(run) ? ' ' : run));
  return good(oneLine, oneLine === trimmed ? [] : [lineBreakReplaced]);
}

/** Text of several lines: the value of a custom field. Line ends become `\n`, so that a file's own kind of line end is no change. */
export function readLongText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  return flaw ?? good(text.normalize('NFC').replace(/\r\n?/g, '\n').trim());
}

/**
 * E-mail addresses: plausible, at most 254 characters, lower case in the domain only (`rules.md`).
 *
 * One cell may hold several, as the exports of CRMs join them: `;`, `,`, `|`, ` ::: `, line breaks (`exports.md`).
 */
const addressLengthMax = 254;
const localPart = /^[^\s@,;:<>()[\]"\\]{1,64}$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/** Cuts a cell into its addresses. None of the separators may stand in an address. */
export function splitEmails(text: string): readonly string[] {
  return text
    .split(/:::|[;,|\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function readEmail(text: string): Reading<string> {
  const hint = 'Write one address like anna@example.com, or leave the cell blank.';
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const address = text
    .normalize('NFC')
    .trim()
    .replace(/^mailto:/i, '');
  if ([...address].length > addressLengthMax) {
    return bad('emailInvalid', `the e-mail address is longer than ${addressLengthMax} characters`, hint);
  }
  const at = address.lastIndexOf('@');
  if (at < 0) return bad('emailInvalid', 'the e-mail address has no @', hint);
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (!localPart.test(local)) return bad('emailInvalid', 'the part before the @ is no e-mail name', hint);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => domainLabel.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) {
    return bad('emailInvalid', 'the part after the @ is no domain', hint);
  }
  return good(`${local}@${domain.toLowerCase()}`.normalize('NFC'));
}

/**
 * Source labels: `source` of a contact, written on create only.
 *
 * 1 to 72 characters, no reserved word, no reserved prefix (`interface.md`, section 8; the words: `facts.md`,
 * "Create, read, update, delete"), compared without regard to case.
 */
export const sourceLengthMax = 72;
export const reservedSourceWords = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'] as const;
export const reservedSourcePrefixes = ['openphone', 'csv'] as const;

/** Reads the text of a `source` column. A refused label kills the row. */
export function readSource(text: string): Reading<string> {
  const reading = readText(text);
  if (!reading.ok) return reading;
  const label = reading.value;
  const hint = 'Choose another label, such as the name of the system that the file comes from.';
  if (label === '') return bad('sourceRefused', 'the source label is empty', hint);
  if ([...label].length > sourceLengthMax) {
    return bad('sourceRefused', `the source label is longer than ${sourceLengthMax} characters`, 'Shorten it.');
  }
  const folded = label.toLowerCase();
  const word = reservedSourceWords.find((reserved) => reserved === folded);
  if (word !== undefined) return bad('sourceRefused', `the service reserves the source label "${word}"`, hint);
  const prefix = reservedSourcePrefixes.find((reserved) => folded.startsWith(reserved));
  if (prefix === undefined) return reading;
  return bad('sourceRefused', `the service reserves source labels that begin with "${prefix}"`, hint);
}

/**
 * Checks a label that stands in the configuration or is the name of a feed's folder; returns it trimmed and in NFC.
 *
 * @throws PatchbayError `usage`, `sourceRefused`.
 */
export function checkSourceLabel(label: string): string {
  const reading = readSource(label);
  if (reading.ok) return reading.value;
  const { code, message, hint } = reading.flaw;
  throw new PatchbayError('usage', code, `source label "${label}": ${message}`, { facts: { label }, hint });
}

/** `sourceUrl`: a valid http or https URI of at most 200 characters (`interface.md`, 4.1 and section 8). */
export const sourceUrlLengthMax = 200;

/** What a URI may hold in its host and in what follows it (RFC 3986): ASCII, escapes whole, brackets in hosts alone. */
const common = "[a-z\\d\\-._~!$&'()*+,;=:]|%[\\da-f]{2}";
const rest = `(?:${common}|[@/?])*`;
const uriForm = new RegExp(
  `^https?://(?:(?:${common})*@)?(?:\\[[\\da-f:.]+\\](?::\\d*)?|(?:${common})*)(?:[/?]${rest})?(?:#${rest})?$`,
  'i',
);

export function readSourceUrl(text: string): Reading<string> {
  const hint = 'Write the whole link, as in https://crm.example.com/people/17, or leave the cell blank.';
  const uri = readHttpUri(text);
  if (uri === null) return bad('sourceUrlInvalid', 'this is no http or https link', hint);
  if (uri.length <= sourceUrlLengthMax) return good(uri);
  return bad('sourceUrlInvalid', `the link is longer than ${sourceUrlLengthMax} characters`, 'Use a shorter link.');
}

/** The link as it was written; one with characters that no URI has, percent-encoded. Null: no link. */
export function readHttpUri(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>"{}|\\^`\p{Cc}]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return null;
  return uriForm.test(trimmed) ? trimmed : percentEncoded(new URL(trimmed));
}

/** The parser encodes what is outside of ASCII, and lets pass what browsers let pass: that is encoded here. */
function percentEncoded({ href, origin }: URL): string {
  const whole = href.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  // Behind the host, whose numbers may stand in brackets.
  const start = whole.indexOf('/', origin.indexOf('://') + '://'.length);
  const [address = '', ...fragments] = whole.slice(start).split('#');
  const tail = fragments.length === 0 ? address : `${address}#${fragments.join('%23')}`;
  return whole.slice(0, start) + tail.replaceAll('[', '%5B').replaceAll(']', '%5D');
}

/**
 * The key, `externalId` (`rules.md`, "Workspace, feed, key"): trimmed, NFC, case kept, 1 to 75 code points.
 *
 * Empty, longer, with control characters, or damaged by a spreadsheet: the row is dead, the key is never guessed. What
 * other programs merely put around a key is taken off, and told: else the same people would come twice, once by each
 * program.
 */
export const keyLengthMax = 75;

export const keyMissing: Flaw<DeadCode> = {
  code: 'keyMissing',
  message: 'the row has no key',
  hint: 'Fill in the key: without it nobody can tell whose row this is.',
};

/**
 * A number as a spreadsheet shows it when it is too long for the column: `1.2E+11`. A mantissa with decimals or an
 * exponent with its sign is asked for, since `1e5` and `12E5` are good article numbers.
 */
const spreadsheetNumber = /^[+-]?\d(?:[.,]\d+E\+?|E\+)\d{1,3}$/i;
/** `#REF!`, `#NAME?`, `#####`: what a spreadsheet shows instead of a value. */
const spreadsheetError = /^#(?:REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|N\/A|#+)$/i;

const unguarded: Flaw<WarningCode> = {
  code: 'keyUnguarded',
  message: `the key is guarded against formulas (by ' or ="…") and was read without the guard`,
  hint: 'Nothing to do: the same key without the guard is the same contact.',
};
const decimalsDropped: Flaw<WarningCode> = {
  code: 'keyDecimalsDropped',
  message: 'the key ends in .0, as some programs write whole numbers, and was read without it',
  hint: 'Export the column as text if the .0 belongs to the key.',
};
/** Programs that write `123.0` count in binary fractions: further digits are not the ones that were meant. */
const wholeNumberDigitsMax = 15;

/** `prefix` is the mapping's `keyPrefix`, or an empty string; it counts in the length. */
export function readKey(raw: JsonValue, prefix: string, from: 'csv' | 'json'): Reading<string> {
  const cell = readCell(raw, from);
  if (cell.kind === 'wrong') return { ok: false, flaw: cell.flaw };
  if (cell.kind === 'list') return bad('notText', 'the key is a list', 'Write one key per row, as a string.');
  if (cell.kind !== 'text' || isPlaceholder(cell.text)) {
    return { ok: false, flaw: keyMissing };
  }
  const bare = from === 'csv' ? withoutGuard(cell.text) : cell.text;
  const whole = /^\d+(?=\.0$)/.exec(bare)?.[0] ?? null;
  const text = whole ?? bare;
  if (text === '') return { ok: false, flaw: keyMissing };
  const isInexact = whole !== null && whole.length > wholeNumberDigitsMax;
  if (isInexact || spreadsheetNumber.test(text) || spreadsheetError.test(text)) {
    const hint = 'Format the key column as text in the spreadsheet, or export again without opening the file in one.';
    return bad('keyDamaged', 'a spreadsheet has damaged the key', hint);
  }
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  if (/[\t\r\n]/.test(text)) {
    return bad('controlCharacter', 'the key holds a line break or a tab', 'Write the key on one line.');
  }
  const key = `${prefix}${text}`.normalize('NFC');
  const length = [...key].length;
  if (length <= keyLengthMax) {
    const wasGuarded = typeof raw === 'string' && bare !== raw.trim();
    return good(key, [...(wasGuarded ? [unguarded] : []), ...(whole === null ? [] : [decimalsDropped])]);
  }
  const subject = prefix === '' ? 'the key' : 'the key with its prefix';
  return bad(
    'keyTooLong',
    `${subject} has ${length} characters; ${keyLengthMax} is the most`,
    'Use a shorter id column.',
  );
}

/** `'123` and `=+123`: an apostrophe before any key, as an export of ids has it, and the sign of a formula that is a number. */
function withoutGuard(text: string): string {
  return text
    .replace(/^'/, '')
    .trim()
    .replace(/^=(?=[+-]?\d+$)/, '');
}
