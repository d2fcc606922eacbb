/**
 * What a file is by its name, what it certainly is not by its first bytes, and under which name it can be stored on any
 * system (docs/bad-inputs.md, "Files and folders").
 *
 * Read are the endings below (docs/contract.md, "Data folder"). Names of files that are still being transferred are ignored;
 * everything else is refused, with the way out.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';

/** `zip` is an archive with one file of another format. */
export type NamedFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'vcf' | 'xlsx' | 'zip';

/** What standard input may be said to be. */
export const inputFormats = ['csv', 'json', 'ndjson', 'xlsx', 'vcf'] as const satisfies readonly NamedFormat[];
export type InputFormat = (typeof inputFormats)[number];

export interface Named {
  readonly format: NamedFormat;
  readonly gzip: boolean;
}

type FileNameClass =
  | ({ readonly kind: 'take' } & Named)
  /** Reserved, hidden or temporary: neither opened nor reported. */
  | { readonly kind: 'ignore' }
  | { readonly kind: 'refuse'; readonly code: string; readonly message: string; readonly hint: string };

const formats: ReadonlyMap<string, NamedFormat> = new Map([
  ['.csv', 'csv'],
  ['.txt', 'csv'],
  ['.tsv', 'tsv'],
  ['.json', 'json'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.vcf', 'vcf'],
  ['.vcard', 'vcf'],
]);

/** Formats that are packed themselves: none of them may have `.gz` behind it. */
const packedFormats: ReadonlyMap<string, NamedFormat> = new Map([
  ['.xlsx', 'xlsx'],
  ['.xlsm', 'xlsx'],
  ['.zip', 'zip'],
]);

/** For messages and help: all endings that can be read. */
export const readableEndings = '.csv .tsv .txt .json .ndjson .jsonl .vcf .vcard (each also as .gz), .xlsx, .xlsm, .zip';

const temporaryEndings = ['.part', '.filepart', '.tmp', '.temp', '.partial', '.crdownload', '.download', '.swp', '~'];
const spreadsheetHint =
  'Open it in the spreadsheet program and save it as "CSV UTF-8 (comma delimited)", then drop that file.';
export const unpackHint =
  'Unpack it and drop the files inside; a single file may stay packed as .csv.gz or in a .zip of its own.';
const mappingHint = 'The mapping of a feed is the file _mapping.yaml in its folder; put it there under that name.';
export const ldifHint =
  'Thunderbird exports address books as vCard (.vcf) or comma-separated (.csv), too: choose one of these.';
const xmlHint = 'Export it as CSV or JSON, or people of an address book as vCards (.vcf).';
const otherHint = `Patchbay reads ${readableEndings}.`;

const waysOut: ReadonlyMap<string, string> = new Map([
  ...['.xls', '.xlsb', '.xltx', '.ods', '.numbers'].map((ending) => [ending, spreadsheetHint] as const),
  ...['.yaml', '.yml'].map((ending) => [ending, mappingHint] as const),
  ...['.ldif', '.ldi'].map((ending) => [ending, ldifHint] as const),
  ['.xml', xmlHint],
  ...['.7z', '.rar', '.tar', '.tgz', '.bz2', '.xz', '.zst'].map((ending) => [ending, unpackHint] as const),
]);

/** Decides by the name alone. Never throws. */
export function classifyFileName(name: string): FileNameClass {
  const lower = name.toLowerCase();
  if (/^[._]/.test(lower) || lower.startsWith('~$')) return { kind: 'ignore' };
  if (temporaryEndings.some((ending) => lower.endsWith(ending))) return { kind: 'ignore' };
  const named = namedFormat(name);
  if (named !== null) return { kind: 'take', ...named };
  const { ending, gzip } = endingsOf(lower);
  const shown = ending === '' ? 'no ending' : `the ending ${ending}${gzip ? '.gz' : ''}`;
  const message = `a file with ${shown} cannot be read`;
  return {
    kind: 'refuse',
    code: 'formatUnknown',
    message,
    hint: packedFormats.has(ending) ? unpackHint : wayOutOf(ending),
  };
}

/** The format that the ending names, or null. */
export function namedFormat(name: string): Named | null {
  const { ending, gzip } = endingsOf(name.toLowerCase());
  const format = formats.get(ending) ?? (gzip ? undefined : packedFormats.get(ending));
  return format === undefined ? null : { format, gzip };
}

/** What to do with a file that cannot be read. */
export function wayOutOf(ending: string): string {
  return waysOut.get(ending) ?? otherHint;
}

function endingsOf(lower: string): { ending: string; gzip: boolean } {
  const gzip = lower.endsWith('.gz');
  return { ending: endingOf(gzip ? lower.slice(0, -3) : lower), gzip };
}

/** `.csv` of `a.b.csv`; empty where there is none. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

interface Signature {
  readonly bytes: readonly number[];
  readonly what: string;
  readonly hint: string;
}

const gzipFile: Signature = {
  bytes: [0x1f, 0x8b],
  what: 'a gzip file',
  hint: 'Give its name the ending .gz, for example contacts.csv.gz.',
};
const signatures: readonly Signature[] = [
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Excel workbook', hint: spreadsheetHint },
  { bytes: [0x25, 0x50, 0x44, 0x46], what: 'a PDF document', hint: otherHint },
  { bytes: [0x89, 0x50, 0x4e, 0x47], what: 'a PNG image', hint: otherHint },
  { bytes: [0xff, 0xd8, 0xff], what: 'a JPEG image', hint: otherHint },
  gzipFile,
];

/** The error of a file whose content contradicts its name, or null. `start` is the first bytes, unpacked. */
export function contentError(start: Uint8Array, name: string): PatchbayError | null {
  const found = signatures.find((signature) => signature.bytes.every((byte, index) => start[index] === byte));
  const contradicting = found ?? (isBinary(start) ? binary : null);
  if (contradicting === null) return null;
  const isPackedTwice = contradicting === gzipFile && name.toLowerCase().endsWith('.gz');
  const what = isPackedTwice ? 'packed twice with gzip' : `${contradicting.what}, not text`;
  const hint = isPackedTwice ? 'Unpack it once and drop the file inside.' : contradicting.hint;
  return fileError('formatUnknown', `${name} is ${what}`, { file: name }, hint);
}

const binary = { what: 'a binary file', hint: otherHint };
/** A few occur in damaged text; a tenth does not, unless the text is UTF-16. */
const nulShareMax = 0.1;

/** Decided by the NULs. In UTF-16 without a BOM they are at every second place. */
function isBinary(start: Uint8Array): boolean {
  const nulsAt = (side: number): number => start.filter((byte, index) => byte === 0 && index % 2 === side).length;
  const [even, odd] = [nulsAt(0), nulsAt(1)];
  return even + odd > start.length * nulShareMax && Math.min(even, odd) * 10 > Math.max(even, odd);
}

/** Leaves room for `<run>__` before and `.reason.txt` behind, within the usual 255 bytes. */
const nameBytesMax = 150;
const knownEnding = /(\.(csv|tsv|txt|json|ndjson|jsonl|vcf|vcard|xlsx|xlsm|zip))?(\.gz)?$/i;
const windowsReserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Keeps letters and digits of all scripts, `.`, `-`, `_`, single spaces, and the ending. Pure. The report keeps the original name. */
export function safeFileName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}. _-]+/gu, '_')
    .replace(/ {2,}/g, ' ');
  const ending = knownEnding.exec(cleaned)?.[0] ?? '';
  const stem = cleaned
    .slice(0, cleaned.length - ending.length)
    .replace(/^[\s._-]+/, '')
    .replace(/[\s.]+$/, '');
  const usable = /[\p{L}\p{N}]/u.test(stem) ? stem : 'file';
  const free = windowsReserved.test(usable) ? `file-${usable}` : usable;
  return cutBytes(free, nameBytesMax - Buffer.byteLength(ending)) + ending;
}

/** Cuts whole characters from the end. */
function cutBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const chars = [...text];
  // Ends at the latest with no character left.
  while (Buffer.byteLength(chars.join('')) > bytesMax) chars.length = Math.min(chars.length - 1, bytesMax);
  return chars.join('').replace(/[\s.]+$/, '');
}
