/**
 * What a file is by its name, what it certainly is not by its first bytes, and under which name it can be stored on any
 * system (docs/bad-inputs.md, "Files and folders").
 *
 * Read are .csv .tsv .txt .json .ndjson .jsonl .vcf .vcard, each also with .gz (docs/contract.md, "Data folder"). Names of files that are
 * still being transferred are ignored; everything else is refused, with the way out.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';

export type NamedFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'vcf';

type FileNameClass =
  | { readonly kind: 'take'; readonly format: NamedFormat; readonly gzip: boolean }
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

const temporaryEndings = ['.part', '.tmp', '.temp', '.partial', '.crdownload', '.download', '.swp', '~'];
const spreadsheetHint =
  'Open it in the spreadsheet program and save it as "CSV UTF-8 (comma delimited)", then drop that file.';
const archiveHint = 'Unpack it and drop the files inside; a single file may stay packed as .csv.gz.';
const mappingHint = 'The mapping of a feed is the file _mapping.yaml in its folder; put it there under that name.';
const otherHint = 'Patchbay reads .csv .tsv .txt .json .ndjson .jsonl .vcf, each also as .gz.';

const waysOut: ReadonlyMap<string, string> = new Map([
  ...['.xlsx', '.xls', '.xlsm', '.xlsb', '.ods', '.numbers'].map((ending) => [ending, spreadsheetHint] as const),
  ...['.yaml', '.yml'].map((ending) => [ending, mappingHint] as const),
  ...['.zip', '.7z', '.rar', '.tar', '.tgz', '.bz2', '.xz', '.zst'].map((ending) => [ending, archiveHint] as const),
]);

/** Decides by the name alone. Never throws. */
export function classifyFileName(name: string): FileNameClass {
  const lower = name.toLowerCase();
  if (/^[._]/.test(lower) || lower.startsWith('~$')) return { kind: 'ignore' };
  if (temporaryEndings.some((ending) => lower.endsWith(ending))) return { kind: 'ignore' };
  const gzip = lower.endsWith('.gz');
  const ending = endingOf(gzip ? lower.slice(0, -3) : lower);
  const format = formats.get(ending);
  if (format !== undefined) return { kind: 'take', format, gzip };
  const shown = ending === '' ? 'no ending' : `the ending ${ending}${gzip ? '.gz' : ''}`;
  return {
    kind: 'refuse',
    code: 'formatUnknown',
    message: `a file with ${shown} cannot be read`,
    hint: waysOut.get(ending) ?? otherHint,
  };
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

const signatures: readonly Signature[] = [
  {
    bytes: [0x50, 0x4b, 0x03, 0x04],
    what: 'an Excel workbook or a zip archive',
    hint: `${spreadsheetHint} ${archiveHint}`,
  },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Excel workbook', hint: spreadsheetHint },
  { bytes: [0x25, 0x50, 0x44, 0x46], what: 'a PDF document', hint: otherHint },
  { bytes: [0x89, 0x50, 0x4e, 0x47], what: 'a PNG image', hint: otherHint },
  { bytes: [0xff, 0xd8, 0xff], what: 'a JPEG image', hint: otherHint },
  { bytes: [0x1f, 0x8b], what: 'a gzip file', hint: 'Give its name the ending .gz, for example contacts.csv.gz.' },
];

/** The error of a file whose content contradicts its name, or null. `start` is the first bytes, unpacked. */
export function contentError(start: Uint8Array, name: string): PatchbayError | null {
  const found = signatures.find((signature) => signature.bytes.every((byte, index) => start[index] === byte));
  const contradicting = found ?? (isBinary(start) ? binary : null);
  if (contradicting === null) return null;
  return fileError('formatUnknown', `${name} is ${contradicting.what}, not text`, { file: name }, contradicting.hint);
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
const knownEnding = /(\.(csv|tsv|txt|json|ndjson|jsonl|vcf|vcard))?(\.gz)?$/i;
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
