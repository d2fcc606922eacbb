/**
 * Readers of values that are text: names, keys, e-mail addresses, source labels, links. Each gives the normalised text, or
 * a flaw that rejects the row; none guesses. Every text is trimmed and in Unicode NFC.
 */

import { PatchbayError } from '#src/errors.ts';
import type { JsonValue } from '#src/sources/row.ts';
import {
  bad,
  type Flaw,
  good,
  isPlaceholder,
  type Reading,
  type RejectionCode,
  readCell,
  type WarningCode,
} from './cell.ts';

const lineBreakReplaced: Flaw<WarningCode> = {
  code: 'lineBreakReplaced',
  message: 'a line break or tab inside the text was read as a space',
  hint: 'No action needed, unless the lines were meant to be separate fields.',
};

/** Refuses control characters and halves of surrogate pairs; null where there are none. Line breaks and tabs are left to the caller. */
export function characterFlaw(text: string): ReturnType<typeof bad> | null {
  if (!text.isWellFormed()) {
    return bad('brokenCharacter', 'the text contains half a character', 'Export the file again as UTF-8.');
  }
  if (/[^\P{Cc}\t\r\n]/u.test(text)) {
    return bad(
      'controlCharacter',
      'the text contains a control character',
      'Remove it. It is often invisible, so retype the text.',
    );
  }
  return null;
}

/** One line of text: a name, a company, a label. A line break or tab inside becomes one space, with a warning. */
export function readText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const trimmed = text.normalize('NFC').trim();
  // Matches each run once, whatever it holds: a pattern that looks for the line break would backtrack at every space.
  const oneLine = trimmed.replace(/[\t\r\n ]+/g, (run) => (/[\t\r\n]/.test(run) ? ' ' : run));
  return good(oneLine, oneLine === trimmed ? [] : [lineBreakReplaced]);
}

/** Text of several lines: the value of a custom field. Line ends become `\n`, so that a change of line ends alone changes no value. */
export function readLongText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  return flaw ?? good(text.normalize('NFC').replace(/\r\n?/g, '\n').trim());
}

const addressLengthMax = 254;
const localPart = /^[^\s@,;:<>()[\]"\\]{1,64}$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/**
 * Splits a cell into its addresses, which CRMs join by `;`, `,`, `|`, ` ::: ` or line breaks (`exports.md`). None of these
 * is allowed in an address.
 */
export function splitEmails(text: string): readonly string[] {
  return text
    .split(/:::|[;,|\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A plausible address of at most 254 characters, in lower case in its domain alone (`rules.md`). */
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
  if (!localPart.test(local)) return bad('emailInvalid', 'the part before the @ is not valid', hint);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => domainLabel.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) {
    return bad('emailInvalid', 'the part after the @ is not a domain name', hint);
  }
  return good(`${local}@${domain.toLowerCase()}`.normalize('NFC'));
}

// Source labels (`interface.md`, section 8; the words: `facts.md`, "Create, read, update, delete").

export const sourceLengthMax = 72;
export const reservedSourceWords = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'] as const;
export const reservedSourcePrefixes = ['openphone', 'csv'] as const;

/** A `source`: 1 to 72 characters, no reserved word, no reserved prefix, compared without regard to case. */
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
 * Checks a label of the configuration, or one that is the name of a feed's folder.
 *
 * @returns the label, trimmed and in NFC.
 * @throws PatchbayError `usage`, `sourceRefused`.
 */
export function checkSourceLabel(label: string): string {
  const reading = readSource(label);
  if (reading.ok) return reading.value;
  const { code, message, hint } = reading.flaw;
  throw new PatchbayError('usage', code, `source label "${label}": ${message}`, { facts: { label }, hint });
}

export const sourceUrlLengthMax = 200;

/** The characters of a URI's host, path, query and fragment (RFC 3986): ASCII, whole escapes, brackets in hosts alone. */
const common = "[a-z\\d\\-._~!$&'()*+,;=:]|%[\\da-f]{2}";
const rest = `(?:${common}|[@/?])*`;
const uriForm = new RegExp(
  `^https?://(?:(?:${common})*@)?(?:\\[[\\da-f:.]+\\](?::\\d*)?|(?:${common})*)(?:[/?]${rest})?(?:#${rest})?$`,
  'i',
);

/** A `sourceUrl`: an http or https URI of at most 200 characters (`interface.md`, 4.1 and section 8). */
export function readSourceUrl(text: string): Reading<string> {
  const hint = 'Write the whole link, e.g. https://crm.example.com/people/17, or leave the cell blank.';
  const uri = readHttpUri(text);
  if (uri === null) return bad('sourceUrlInvalid', 'this is not an http or https link', hint);
  if (uri.length <= sourceUrlLengthMax) return good(uri);
  return bad('sourceUrlInvalid', `the link is longer than ${sourceUrlLengthMax} characters`, 'Use a shorter link.');
}

/** The link as written; characters that are not allowed in a URI are percent-encoded. Null for anything but a link. */
export function readHttpUri(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>"{}|\\^`\p{Cc}]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return null;
  return uriForm.test(trimmed) ? trimmed : percentEncoded(new URL(trimmed));
}

/** The URL parser encodes what is outside of ASCII and accepts what browsers accept; the rest is encoded here. */
function percentEncoded({ href, origin }: URL): string {
  const whole = href.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  // After the host, which may be an IP address in brackets.
  const start = whole.indexOf('/', origin.indexOf('://') + '://'.length);
  const [address = '', ...fragments] = whole.slice(start).split('#');
  const tail = fragments.length === 0 ? address : `${address}#${fragments.join('%23')}`;
  return whole.slice(0, start) + tail.replaceAll('[', '%5B').replaceAll(']', '%5D');
}

export const keyLengthMax = 75;

export const keyMissing: Flaw<RejectionCode> = {
  code: 'keyMissing',
  message: 'the row has no key',
  hint: 'Add a key: a row without one cannot be matched to a contact.',
};

/**
 * A number as a spreadsheet shows it when it is too long for the column: `1.2E+11`. The mantissa must have decimals, or
 * the exponent a sign: `1e5` and `12E5` are valid article numbers.
 */
const spreadsheetNumber = /^[+-]?\d(?:[.,]\d+E\+?|E\+)\d{1,3}$/i;
/** `#REF!`, `#NAME?`, `#####`: what a spreadsheet shows in place of a value. */
const spreadsheetError = /^#(?:REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|N\/A|#+)$/i;

const unguarded: Flaw<WarningCode> = {
  code: 'keyUnguarded',
  message: `the key was read without the guard against formulas (' or ="…") around it`,
  hint: 'No action needed: with or without the guard, the key means the same contact.',
};
const decimalsDropped: Flaw<WarningCode> = {
  code: 'keyDecimalsDropped',
  message: 'the key was read without the .0 at its end, which some programs add to whole numbers',
  hint: 'If the .0 belongs to the key, export the column as text.',
};
/** Programs that write `123.0` store floating-point numbers: any further digits are not reliable. */
const wholeNumberDigitsMax = 15;

/**
 * The key, `externalId` (`rules.md`, "Workspace, feed, key"): trimmed, NFC, case kept, 1 to 75 code points. An apostrophe,
 * a formula's sign or a `.0` that another program put around it is removed, with a warning: otherwise each program's export
 * would create the same contacts again.
 *
 * @param prefix the mapping's `keyPrefix`, or an empty string; it counts in the length.
 */
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
    const hint =
      'Format the key column as text in the spreadsheet, or export again without opening the file in a spreadsheet.';
    return bad('keyDamaged', 'a spreadsheet has damaged the key', hint);
  }
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  if (/[\t\r\n]/.test(text)) {
    return bad('controlCharacter', 'the key contains a line break or a tab', 'Write the key on one line.');
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
    `${subject} has ${length} characters; at most ${keyLengthMax} are allowed`,
    'Use a shorter id column.',
  );
}

/** `'123` and `=+123` are 123 and +123: exports of ids put an apostrophe, or the sign of a formula, before the key. */
function withoutGuard(text: string): string {
  return text
    .replace(/^'/, '')
    .trim()
    .replace(/^=(?=[+-]?\d+$)/, '');
}
