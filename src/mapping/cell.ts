/**
 * One value of a file (`docs/rules.md`, "What a cell means"): what it is before the meaning of its column is considered, and the
 * readers of values that are text, such as names, keys and links.
 *
 *   raw value ── readCell ──▶ Cell      blank, clear, text, list or wrong
 *   text ── readText, … ──▶ Reading    the text, normalised, perhaps with warnings; or a flaw that rejects the row
 *
 * No reader guesses. Every text is trimmed and in Unicode NFC. A flaw says what is wrong with one value; `row.ts` adds the line and the column. Messages never repeat the value, so
 * that `--no-values` can leave values out of everything that is printed (`docs/rules.md`, "Secrets and personal data"); the
 * value itself travels in `Problem.value`.
 */
import { createHash } from 'node:crypto';
import type { JsonValue } from '#src/sources/row.ts';
import { isPlaceholder } from './placeholder.ts';
import { unwrappedValue, withOpenId } from './wrapped-value.ts';

/** A raw value and where it was found. */
export interface Place {
  /** As the file names it: a column, or `defaultFields.emails[1].value`. */
  readonly field: string;
  readonly raw: JsonValue;
  /** Only CSV protects values against being read as formulas. */
  readonly from: 'csv' | 'json';
  /** Of a value that a mapping made of a cell: the cell as the file holds it. */
  readonly whole?: JsonValue;
}

/**
 * - *blank*: empty, or spaces alone; the column's `onBlank` decides.
 * - *clear*: the token `#CLEAR` alone in the cell, or JSON null.
 * - *text*: trimmed. A number of a JSON file is its digits.
 * - *list*: a JSON array.
 * - *wrong*: anything that cannot be text.
 */
export type Cell =
  | { readonly kind: 'blank' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'wrong'; readonly flaw: Flaw<RejectionCode> };

const clearToken = '#CLEAR';

/** Reads a raw value. In CSV a guard against formulas is removed; JSON has none. */
export function readCell(found: JsonValue, from: 'csv' | 'json'): Cell {
  if (typeof found === 'string' && isBare(found)) return { kind: 'text', text: found };
  const raw = unwrappedValue(found);
  if (raw === null) return { kind: 'clear' };
  if (typeof raw === 'string') return readString(from === 'csv' ? unguard(raw) : raw);
  if (typeof raw === 'number') return readNumber(raw);
  if (Array.isArray(raw)) return { kind: 'list', items: raw };
  const what = typeof raw === 'boolean' ? `the value ${raw}` : 'an object';
  const hint = isJsonObject(raw)
    ? 'Write it as a string, or name the member of it that holds the text in a mapping, by its path, such as company.name.'
    : 'Write it as a string.';
  return { kind: 'wrong', flaw: bad('notText', `expected text, found ${what}`, hint).flaw };
}

/** Most cells: a letter, a digit, `+` or `(` first, a letter, a digit or `)` last. There is no guard, nothing to trim, no `#CLEAR`. */
function isBare(text: string): boolean {
  return isEdge(text.charCodeAt(0), plus, opening) && isEdge(text.charCodeAt(text.length - 1), closing, closing);
}
const [opening, closing, plus] = [0x28, 0x29, 0x2b];

/** An ASCII letter or digit, or one of these. */
function isEdge(code: number, one: number, other: number): boolean {
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === one || code === other;
}

function readString(raw: string): Cell {
  const text = trimWhole(raw);
  if (text === '') return { kind: 'blank' };
  return text === clearToken ? { kind: 'clear' } : { kind: 'text', text };
}

/** Above 2^53 a number has lost digits before this code sees it (`docs/bad-inputs.md`, "JSON, NDJSON, gzip"). */
function readNumber(raw: number): Cell {
  if (Number.isSafeInteger(raw)) return { kind: 'text', text: String(raw) };
  if (Number.isFinite(raw) && !Number.isInteger(raw)) return { kind: 'text', text: String(raw) };
  const message = 'the number is too large to keep all its digits';
  return { kind: 'wrong', flaw: bad('precisionLost', message, 'Write it as a string, in quotes.').flaw };
}

/**
 * Formula-safe exports, Patchbay's among them, put `'` before a leading `+ - = @`; others write `="…"` (`docs/exports.md`).
 * One of each is removed. `="a"&"b"` is a formula rather than a guard, and stays.
 */
function unguard(text: string): string {
  const bare = (/^\s*'[+\-=@]/.test(text) ? text.replace("'", '') : text).trim();
  if (!bare.startsWith('="') || !bare.endsWith('"') || bare.length < 3) return bare;
  const inner = bare.slice(2, -1);
  return inner.replaceAll('""', '').includes('"') ? bare : inner.replaceAll('""', '"');
}

/** Codes that reject a row. Stable: scripts may compare them. */
export type RejectionCode =
  | 'keyMissing'
  | 'keyTooLong'
  | 'keyDamaged'
  | 'phoneLetters'
  | 'phoneDamaged'
  | 'phoneCountryMissing'
  | 'phoneImpossible'
  | 'phoneAmbiguous'
  | 'phoneForeign'
  | 'emailInvalid'
  | 'controlCharacter'
  | 'brokenCharacter'
  | 'notText'
  | 'precisionLost'
  | 'sourceRefused'
  | 'sourceUrlInvalid'
  | 'customFieldUnknown'
  | 'customFieldType'
  | 'memberTwice'
  | 'shapeWrong'
  | 'tooManyItems'
  | 'dateInvalid'
  | 'textTooLong';

/** Codes of warnings: the row goes on. Stable, too. */
export type WarningCode =
  | 'phoneUnassigned'
  | 'phoneExtensionDropped'
  | 'phoneCountryAssumed'
  | 'phoneCountryOfRow'
  | 'phoneRemarkDropped'
  | 'phoneLeftOut'
  | 'emailRemarkDropped'
  | 'emailLeftOut'
  | 'placeholderText'
  | 'placeholderInDoubt'
  | 'numberInDoubt'
  | 'choicesInDoubt'
  | 'lineBreakReplaced'
  | 'textEscaped'
  | 'textBackslashes'
  | 'clearIgnored'
  | 'keyUnguarded'
  | 'keyDecimalsDropped'
  | 'keyPartBlank'
  | 'labelTooLong'
  | 'labelIsList'
  | 'sourceLeftOut';

export interface Flaw<Code extends string = string> {
  readonly code: Code;
  /** What happened, in one sentence, without the value. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
  /** Of a warning: the value could not be read, and the contact goes without it. */
  readonly isLoss?: true;
}

/** The result of reading one value: normalised, perhaps with warnings, or refused. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value; readonly warnings: readonly Flaw<WarningCode>[] }
  | Refused;

interface Refused {
  readonly ok: false;
  readonly flaw: Flaw<RejectionCode>;
}

const noWarnings: readonly Flaw<WarningCode>[] = [];

export function good<Value>(value: Value, warnings = noWarnings): Reading<Value> {
  return { ok: true, value, warnings };
}

export function bad(code: RejectionCode, message: string, hint: string): Refused {
  return { ok: false, flaw: { code, message, hint } };
}

/** JSON objects are read by their own members only, so that `__proto__` and `toString` are names like any other. */
export type JsonObject = { readonly [name: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member, or undefined if the object has no own member of this name. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

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

/** Spaces and invisible marks around a text: the no-break space, the byte order mark, marks of direction. */
const invisible = /[\s\u00ad\u200b\u200e\u200f\u2060\ufeff]/;

/** Without those at both ends. Character by character: a pattern for the end would look at every run of spaces anew. */
export function trimWhole(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && invisible.test(text[start] ?? '')) start += 1;
  while (end > start && invisible.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

/** Full-width forms of ASCII become ASCII; invisible marks, as of direction, and soft hyphens are removed. */
export function plainCharacters(text: string): string {
  return text
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '');
}

/**
 * Most texts: printable characters of Latin scripts without any that combine with the one before, so that they are in NFC; and
 * no space or soft hyphen at an end.
 */
const plainText =
  /^[!-~\u00a1-\u00ac\u00ae-\u02ff](?:[ -~\u00a1-\u00ac\u00ae-\u02ff]*[!-~\u00a1-\u00ac\u00ae-\u02ff])?$/;

/** Codes of HTML that stand for characters; `R&D;` holds none. */
const htmlCode =
  /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos|nbsp|[aeiouncyz](?:uml|acute|grave|circ|tilde|cedil|slash|ring|caron)|szlig|aelig|oelig|[lr][sd]quo|[nm]dash|euro);/i;
const textEscaped: Flaw<WarningCode> = {
  code: 'textEscaped',
  message: 'the text holds a code of HTML, such as &amp; or &#39;, in place of a character; it was read as it is',
  hint: 'Export the file again without such codes, or replace them in a mapping: transform: [{ replace: "&amp;", with: "&" }].',
};
/** What `mysql -B` writes in place of a line break, a tab and a backslash. */
const backslashCode = /\\[nrt0\\]/;
/** `C:\new`, `\\server\notes`: a path of Windows. `CORP\nina`: a user of a domain there. */
const withBackslashes = /^(?:[A-Za-z]:\\|\\\\\w)|^[A-Z\d.-]{2,}\\[a-z\d._-]+$/;
const textBackslashes: Flaw<WarningCode> = {
  code: 'textBackslashes',
  message: 'the text holds an escape with a backslash, such as \\n, in place of a character; it was read as it is',
  hint: 'Export the file again as CSV (mysql -B writes such escapes, and none with --raw), or replace them in a mapping: transform: [{ replace: \'\\n\', with: " " }].',
};

/** Whether it holds a code of HTML in place of a character: `&amp;`. */
export function holdsHtmlCode(text: string): boolean {
  return text.includes('&') && htmlCode.test(text);
}

/** Codes in place of characters, which stay. */
function codesIn(text: string): readonly Flaw<WarningCode>[] {
  const holdsHtml = holdsHtmlCode(text);
  const holdsBackslashes = text.includes('\\') && backslashCode.test(text) && !withBackslashes.test(text);
  if (!holdsHtml && !holdsBackslashes) return noWarnings;
  return [...(holdsHtml ? [textEscaped] : []), ...(holdsBackslashes ? [textBackslashes] : [])];
}

/**
 * One line of text: a name, a company, a label. A line break or tab inside becomes one space, with a warning; codes of HTML and escapes
 * with a backslash stay, with a warning.
 */
export function readText(text: string): Reading<string> {
  if (plainText.test(text)) return good(text, codesIn(text));
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const trimmed = trimWhole(text.normalize('NFC'));
  // Matches each run once, whatever it holds: a pattern that looks for the line break would backtrack at every space.
  const oneLine = trimmed.replace(/[\t\r\n ]+/g, (run) => (/[\t\r\n]/.test(run) ? ' ' : run));
  return good(oneLine, [...(oneLine === trimmed ? [] : [lineBreakReplaced]), ...codesIn(oneLine)]);
}

/** Text of several lines: the value of a custom field. Line ends become `\n`, so that a change of line ends alone changes no value. */
export function readLongText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  return flaw ?? good(text.normalize('NFC').replace(/\r\n?/g, '\n').trim());
}

export const sourceUrlLengthMax = 200;

/** The characters of a URI's host, path, query and fragment (RFC 3986): ASCII, whole escapes, brackets in hosts alone. */
const common = "[a-z\\d\\-._~!$&'()*+,;=:]|%[\\da-f]{2}";
const rest = `(?:${common}|[@/?])*`;
const uriForm = new RegExp(
  `^https?://(?:(?:${common})*@)?(?:\\[[\\da-f:.]+\\](?::\\d*)?|(?:${common})*)(?:[/?]${rest})?(?:#${rest})?$`,
  'i',
);

/** A `sourceUrl`: an http or https URI of at most 200 characters (`docs/interface.md`, 4.1 and section 8). */
export function readSourceUrl(text: string): Reading<string> {
  const hint = 'Write the whole link, e.g. https://crm.example.com/people/17, or leave the cell blank.';
  const uri = readHttpUri(text);
  if (uri === null) return bad('sourceUrlInvalid', 'this is not an http or https link', linkEscapeHint(text) ?? hint);
  if (uri.length <= sourceUrlLengthMax) return good(uri);
  return bad('sourceUrlInvalid', `the link is longer than ${sourceUrlLengthMax} characters`, 'Use a shorter link.');
}

const linkStart = /^https?:\/\//i;
/** What no link may hold, and what is not encoded silently, since it may be the end of the link: `https://example.com and more`. */
const notInLink = /[\s<>"{}|\\^`]/u;

/** What to write in place of the first character that a link cannot hold; null where something else is wrong. */
export function linkEscapeHint(text: string): string | null {
  const trimmed = text.trim();
  const character = linkStart.test(trimmed) ? notInLink.exec(trimmed)?.[0] : undefined;
  if (character === undefined) return null;
  const name = /\s/.test(character) ? 'space or line break' : character;
  return `A link holds no ${name}: write ${encodeURIComponent(/\s/.test(character) ? ' ' : character)} in its place.`;
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

/** Of a key with its prefix, in code points. */
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
/** `#REF!`, `#WERT!`, `#¿NOMBRE?`: what a spreadsheet shows in place of the value of a formula, in any language. */
export const formulaError = /^#(?:[¡¿]?\p{L}[\p{L}/0]*(?: \p{L}+)?[!?]|N\/A|GETTING_DATA)$/iu;
/** `#####`: in place of a number that is wider than its column. */
const numberSigns = /^##+$/;

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
/** Most keys: letters, digits and dashes, with nothing that a spreadsheet may have done to them. */
const plainKey = /^(?:[a-z][\w-]{0,74}|\d{1,75})$/i;
/** Programs that write `123.0` store floating-point numbers: any further digits are not reliable. */
const wholeNumberDigitsMax = 15;

/**
 * The key, `externalId` (`docs/rules.md`, "Workspace, feed, key"): trimmed, NFC, case kept, 1 to 75 code points. An apostrophe,
 * a formula's sign or a `.0` that another program put around it is removed, with a warning: otherwise each program's export
 * would create the same contacts again.
 *
 * @param prefix the mapping's `keyPrefix`, or an empty string; it counts in the length.
 * @param hashLong a key that is too long becomes the beginning of its SHA-256 in hex digits, after the prefix.
 */
export function readKey(raw: JsonValue, prefix: string, from: 'csv' | 'json', hashLong = false): Reading<string> {
  if (typeof raw === 'string' && prefix === '' && plainKey.test(raw) && !isPlaceholder(raw, 'key')) return good(raw);
  const cell = readCell(withOpenId(raw), from);
  if (cell.kind === 'wrong') return { ok: false, flaw: cell.flaw };
  if (cell.kind === 'list') return bad('notText', 'the key is a list', 'Write one key per row, as a string.');
  if (cell.kind !== 'text' || isPlaceholder(cell.text, 'key')) {
    return { ok: false, flaw: keyMissing };
  }
  const bare = from === 'csv' ? withoutGuard(cell.text) : cell.text;
  const whole = /^\d+(?=\.0$)/.exec(bare)?.[0] ?? null;
  const text = whole ?? bare;
  if (text === '') return { ok: false, flaw: keyMissing };
  const isInexact = whole !== null && whole.length > wholeNumberDigitsMax;
  const isNumber = isInexact || spreadsheetNumber.test(text);
  if (isNumber && from === 'json') {
    const hint = 'Write it with all its digits, as a string in quotes, where the export is made.';
    return bad('keyDamaged', 'the key was written as a number that may have lost digits', hint);
  }
  if (formulaError.test(text)) {
    const hint =
      'Correct the formula in the spreadsheet; where none is meant, format the key column as text and write the key again.';
    return bad('keyDamaged', 'the cell of the key holds an error of its formula', hint);
  }
  if (isNumber || numberSigns.test(text)) {
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
  if (hashLong) return good(`${prefix}${hashOf(text.normalize('NFC'), prefix)}`);
  const subject = prefix === '' ? 'the key' : 'the key with its prefix';
  return bad(
    'keyTooLong',
    `${subject} has ${length} characters; at most ${keyLengthMax} are allowed`,
    'Use a shorter id column. Where there is none, a mapping may put a hash in place of a long id, with hashLong in its key: key: { column: externalId, hashLong: true }',
  );
}

const hashDigits = 40;

/** As many digits as fit behind a long prefix, at most 40. */
function hashOf(text: string, prefix: string): string {
  const digits = Math.min(hashDigits, keyLengthMax - [...prefix].length);
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** `'123` and `=+123` are 123 and +123: exports of ids put an apostrophe, or the sign of a formula, before the key. */
function withoutGuard(text: string): string {
  return text
    .replace(/^'/, '')
    .trim()
    .replace(/^=(?=[+-]?\d+$)/, '');
}
