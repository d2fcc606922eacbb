/**
 * Text that is no export at all, although its name says so: a web page that was saved instead of the file behind it, the error
 * message of the program that was asked for it, a document of a word processor. Such a file is refused in its own words: read
 * as a table it would only lack a column.
 *
 * Decided by the beginning of the text, so that it is recognised in any encoding (`docs/bad-inputs.md`, "Files and folders").
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { ldifHint, type NamedFormat } from './file-name.ts';
import { shownValue } from './row.ts';

/** As far as a file is looked at, in characters. */
export const lookedAtChars = 64 * 1024;

/**
 * @param head the beginning of the decoded text: the whole of it, or at least `lookedAtChars`.
 * @param whole whether `head` is the whole text.
 * @returns the error `file` of a file that is no export: `webPage`, `richText`, `xmlDocument`, `ldif`, `jCard`, `errorDocument`,
 * `jsonNotTable`.
 */
export function notAnExport(head: string, whole: boolean, name: string, format: NamedFormat): PatchbayError | null {
  const start = withoutComments(head.slice(0, lookedAtChars).trimStart());
  const isTable = format === 'csv' || format === 'tsv';
  if (isWebPage(start)) return webPage(name, start);
  if (start.startsWith('{\\rtf')) return richText(name);
  if (isXml(start)) return xmlDocument(name, start);
  if (ldifStart.test(start)) return ldif(name);
  if (jCardStart.test(start)) return jCard(name);
  if (!isJson(start)) return null;
  const said = whole && start.startsWith('{') ? errorSaid(parsed(head)) : null;
  if (said !== null) return errorDocument(name, said);
  return isTable ? jsonNotTable(name) : null;
}

/** What precedes the root of a web page or an XML document. */
function withoutComments(text: string): string {
  let rest = text;
  // Ends: each turn takes at least the four characters that open a comment.
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->');
    if (end < 0) return '<!--';
    rest = rest.slice(end + 3).trimStart();
  }
  return rest;
}

const webPageStart =
  /^(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|meta|script|style|title|table|div|iframe)\b/i;
/** A page with all its parts, as browsers save it. */
const savedPageStart = /^(?:From: <Saved by|MIME-Version: 1\.0\r?\n)/i;

function isWebPage(start: string): boolean {
  return webPageStart.test(start) || savedPageStart.test(start);
}

/** A declaration, or an element that holds another one or ends: a column may be called `<id>`. */
function isXml(start: string): boolean {
  return /^<\?xml[\s?]/i.test(start) || (/^<[a-z][\w:.-]*(?:\s[^<>]*)?>\s*</i.test(start) && start.includes('</'));
}

/** The name of an entry, and its first attribute. What is before them can be divided into lines in one way alone: any file may begin with comments. */
const ldifStart =
  /^(?:(?:#[^\r\n]*|(?:version:[ \t]*1)?[ \t]*)(?:\r\n|\r(?!\n)|\n))*dn:{1,2} ?[^\r\n]*\r?\n(?: [^\r\n]*\r?\n)*[a-z][\w;-]*:/i;
/** A vCard in JSON (RFC 7095), or a list of them. */
const jCardStart = /^\[\s*(?:\[\s*)?"vcard(?:stream)?"\s*,/i;

/** Only what no header of a table begins with. */
function isJson(start: string): boolean {
  return /^\{\s*(?:"[^"]*"\s*:|\}\s*$)/.test(start) || /^\[\s*(?:\{\s*"[^"]*"\s*:|\{\s*\}|\]\s*$)/.test(start);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim());
  } catch {
    return null;
  }
}

/** The members of an error message; an object with any other member is something else. */
const errorMembers: ReadonlySet<string> = new Set([
  ...['error', 'errors', 'errorcode', 'errormessage', 'errordescription', 'errortype', 'message', 'messages', 'detail'],
  ...[
    'details',
    'title',
    'type',
    'instance',
    'status',
    'statuscode',
    'statustext',
    'code',
    'reason',
    'fault',
    'success',
  ],
  ...[
    'ok',
    'requestid',
    'correlationid',
    'traceid',
    'timestamp',
    'path',
    'documentationurl',
    'subcategory',
    'category',
  ],
]);
const sayingMembers = ['errordescription', 'errormessage', 'message', 'detail', 'error', 'errors', 'fault', 'title'];
const sayingDepthMax = 3;

/** What an error message says, if the root of a document is one: an object that holds nothing else. */
function errorSaid(value: unknown): string | null {
  if (!isObject(value)) return null;
  const filled = Object.entries(value).filter(([, inner]) => !isNothing(inner));
  const members = new Map(filled.map(([name, inner]) => [fold(name), inner]));
  if (members.size === 0 || ![...members.keys()].every((name) => errorMembers.has(name))) return null;
  return saidIn(members, 1);
}

function saidIn(members: ReadonlyMap<string, unknown>, depth: number): string | null {
  for (const name of sayingMembers) {
    const said = saidBy(members.get(name), depth);
    if (said !== null) return said;
  }
  return null;
}

function saidBy(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (Array.isArray(value)) return value.length === 0 ? null : saidBy(value[0], depth);
  if (!isObject(value) || depth >= sayingDepthMax) return null;
  return saidIn(new Map(Object.entries(value).map(([name, inner]) => [fold(name), inner])), depth + 1);
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

function webPage(name: string, start: string): PatchbayError {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(start)?.[1]?.replace(/\s+/g, ' ').trim() ?? '';
  const titled = title === '' ? '' : ` with the title "${shownValue(title)}"`;
  const message = `${name} is a web page (HTML)${titled}, not an export: it was probably saved from a login page`;
  const hint = 'Log in, export the file again and drop the new one; open this one in a browser to see what it says.';
  return fileError('webPage', message, { file: name, title: title === '' ? null : shownValue(title) }, hint);
}

function richText(name: string): PatchbayError {
  const hint = 'Open it and save it as plain text in UTF-8, or export the file again as CSV.';
  return fileError('richText', `${name} is a document of a word processor (RTF), not an export`, { file: name }, hint);
}

/** Address books in XML, by their root. */
const xmlBooks: readonly (readonly [root: RegExp, what: string, hint: string])[] = [
  [
    /<phonebooks?[\s>]/i,
    'the phone book of a FRITZ!Box (XML), which cannot be read',
    'Convert it to vCards (.vcf) or CSV, or export the people from another program that has them, such as a phone or a mail program.',
  ],
  [
    /<vcards?[\s>]/i,
    'a file of vCards in XML (xCard), which cannot be read',
    'Export the people as vCards (.vcf) or CSV.',
  ],
];

function xmlDocument(name: string, start: string): PatchbayError {
  for (const [root, what, hint] of xmlBooks)
    if (root.test(start.slice(0, rootWithinChars)))
      return fileError('xmlDocument', `${name} is ${what}`, { file: name }, hint);
  const hint =
    'Export the file again as CSV or JSON. If it should be one already, open it: it may hold an error message.';
  return fileError('xmlDocument', `${name} is an XML document, not a table`, { file: name }, hint);
}

const rootWithinChars = 1_000;

function ldif(name: string): PatchbayError {
  const message = `${name} is an address book in LDIF, which cannot be read`;
  return fileError('ldif', message, { file: name }, ldifHint);
}

function jCard(name: string): PatchbayError {
  const message = `${name} holds vCards in JSON (jCard), which cannot be read`;
  return fileError('jCard', message, { file: name }, 'Export the people as vCards (.vcf) or CSV.');
}

function errorDocument(name: string, said: string): PatchbayError {
  const shown = shownValue(said);
  const message = `${name} holds an error message, not an export: "${shown}"`;
  const hint = 'It is from the program that made the file: log in there, or renew its key, and export the file again.';
  return fileError('errorDocument', message, { file: name, said: shown }, hint);
}

function jsonNotTable(name: string): PatchbayError {
  const hint = 'Give its name the ending .json, or .ndjson where each line is an object of its own.';
  return fileError('jsonNotTable', `${name} holds JSON, not a table`, { file: name }, hint);
}
