/**
 * What an archive is by the names inside: a workbook, one file to read, or something that is refused with the way out
 * (docs/contract.md, "Data folder").
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { type Named, namedFormat, unpackHint, wayOutOf } from './file-name.ts';
import type { ZipArchive, ZipEntry } from './zip-archive.ts';

type ZipContent =
  | { readonly kind: 'workbook' }
  /** `others` are files beside it that are not read. */
  | { readonly kind: 'file'; readonly entry: ZipEntry; readonly named: Named; readonly others: readonly ZipEntry[] };

const namesShownMax = 20;

/** Files that other programs write as zip archives, by an entry that each of them has. */
const programs: readonly (readonly [entry: RegExp, what: string, ending: string])[] = [
  [/^xl\/workbook\.bin$/i, 'a binary Excel workbook', '.xlsb'],
  [/^index\/document\.iwa$|^index\.zip$/i, 'a Numbers workbook', '.numbers'],
  [/^mimetype$/, 'an OpenDocument file', '.ods'],
  [/^word\/document\.xml$/i, 'a Word document', '.docx'],
  [/^ppt\/presentation\.xml$/i, 'a PowerPoint presentation', '.pptx'],
];

/** @throws PatchbayError `file` `formatUnknown`, `zipEmpty`, `zipSeveral`. */
export function zipContent(archive: ZipArchive): ZipContent {
  const { name, entries } = archive;
  for (const [pattern, what, ending] of programs) {
    if (entries.some((entry) => pattern.test(entry.name))) {
      throw fileError('formatUnknown', `${name} is ${what}, which cannot be read`, { file: name }, wayOutOf(ending));
    }
  }
  if (isWorkbook(entries)) return { kind: 'workbook' };
  const visible = entries.filter((entry) => !isLitter(entry.name));
  const readable = visible.flatMap((entry) => {
    const named = namedFormat(baseName(entry.name));
    return named === null || named.gzip || named.format === 'zip' ? [] : [{ entry, named }];
  });
  const exports = readable.filter(({ entry }) => !isAccompanying(entry.name));
  const chosen = exports.length === 0 ? readable : exports;
  const [only] = chosen;
  if (only === undefined) throw nothingReadable(name, visible);
  if (chosen.length > 1)
    throw several(
      name,
      chosen.map(({ entry }) => entry),
    );
  return { kind: 'file', ...only, others: visible.filter((entry) => entry !== only.entry) };
}

/** By the folder of its parts, also where parts are missing; they may be named otherwise. */
function isWorkbook(entries: readonly ZipEntry[]): boolean {
  const names = entries.map((entry) => entry.name.toLowerCase());
  if (names.some((name) => name.startsWith('xl/worksheets/') || name === 'xl/workbook.xml')) return true;
  return names.includes('[content_types].xml') && names.some((name) => /(^|\/)workbook\.xml$/.test(name));
}

/** What file managers leave behind. */
function isLitter(name: string): boolean {
  const base = baseName(name);
  return /^__macosx\//i.test(name) || /^[._~]/.test(base) || /^(?:thumbs\.db|desktop\.ini)$/i.test(base) || base === '';
}

/** A text for people beside the export. */
function isAccompanying(name: string): boolean {
  return /^(?:read[ _-]?me|licen[cs]e|instructions|about|legal|terms|notice)[^/]*\.txt$/i.test(baseName(name));
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** `a, b and 3 more`. */
export function listEntries(entries: readonly ZipEntry[]): string {
  const names = entries.slice(0, namesShownMax).map(({ name }) => name);
  const more = entries.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function nothingReadable(name: string, entries: readonly ZipEntry[]): PatchbayError {
  const facts = { file: name, fileCount: entries.length };
  if (entries.length === 0) {
    return fileError('zipEmpty', `${name} is an archive without a file`, facts, 'Make the export again.');
  }
  const message = `${name} holds no file that can be read, but: ${listEntries(entries)}`;
  return fileError('zipEmpty', message, facts, unpackHint);
}

function several(name: string, entries: readonly ZipEntry[]): PatchbayError {
  const message = `${name} holds ${entries.length} files that can be read: ${listEntries(entries)}`;
  const hint = 'Unpack it and drop the files you want; each may need a folder or a mapping of its own.';
  return fileError('zipSeveral', message, { file: name, fileCount: entries.length }, hint);
}
