/**
 * The parts of a workbook that its sheets need: which sheets there are, the shared texts, the formats of cells, and the day
 * that dates are counted from (ECMA-376 part 1, 18.2, 18.4, 18.8).
 *
 * Parts are found through the relationships of the package, as spreadsheet programs do: their names are not fixed.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import type { SourceLimits } from '#src/sources/format-reader.ts';
import type { ZipArchive, ZipEntry } from '#src/sources/zip-archive.ts';
import { type CellFormat, cellFormat, days1904, generalFormat } from './cell-text.ts';
import { type Attributes, type PartHandler, parsePart, readPart } from './xml-part.ts';

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  readonly entry: ZipEntry;
}

export interface Workbook {
  /** The user's name of the file. */
  readonly file: string;
  /** Those with cells, in the order of their tabs; charts are none. */
  readonly sheets: readonly Sheet[];
  readonly texts: TextStore;
  /** By the number that a cell gives as its style. */
  readonly formats: readonly CellFormat[];
  /** What is added to a date, so that it counts from 1900. */
  readonly daysAdded: number;
  /** Parses a sheet, giving control back after each chunk. Throws PatchbayError `file` `xlsxDamaged`, `xlsxTooLarge`, and what the archive throws. */
  parse(sheet: Sheet, handler: PartHandler): AsyncGenerator<void>;
  /** The bytes of a sheet, beside parsing: they do not count against the limit of what is unpacked. Throws what the archive throws. */
  bytesOf(sheet: Sheet): AsyncGenerator<Buffer>;
}

/** Excel's own limits: 65,490 formats of cells; sheets only by memory. */
const cellFormatsMax = 100_000;
const sheetsMax = 1_000;
const relationsMax = 10_000;
/** One shared text while it is put together: beyond what a cell may hold. */
const textCharsMax = 128 * 1024;

/** @throws PatchbayError `file` `xlsxDamaged`, `xlsxTooLarge`, and what the archive throws. */
export async function openWorkbook(archive: ZipArchive, limits: SourceLimits): Promise<Workbook> {
  const parts = createParts(archive, limits);
  const mainPath = (await parts.relations('')).find(({ type }) => type.endsWith('/officeDocument'))?.target;
  const main = mainPath ?? 'xl/workbook.xml';
  const relations = await parts.relations(main);
  const { listed, daysAdded } = await readMain(parts, main);
  const sheets = listed.flatMap(({ id, name, isHidden }) => {
    const relation = relations.find((one) => one.id === id);
    if (relation !== undefined && !relation.type.endsWith('/worksheet')) return [];
    const entry = parts.find(relation?.target ?? '');
    if (entry === null) throw damaged(archive.name, `the part of the sheet ${name} is missing`);
    return [{ name, isHidden, entry }];
  });
  const pathOf = (type: string): string | null => relations.find((one) => one.type.endsWith(type))?.target ?? null;
  return {
    file: archive.name,
    sheets,
    texts: await readTexts(parts, pathOf('/sharedStrings'), limits.sharedTextBytesMax),
    formats: await readFormats(parts, pathOf('/styles')),
    daysAdded,
    parse: (sheet, handler) => parts.parse(sheet.entry, handler),
    bytesOf: (sheet) => archive.read(sheet.entry),
  };
}

interface Relation {
  readonly id: string;
  readonly type: string;
  /** A path in the archive, without a leading slash. */
  readonly target: string;
}

interface Parts {
  readonly file: string;
  find(path: string): ZipEntry | null;
  parse(entry: ZipEntry, handler: PartHandler): AsyncGenerator<void>;
  /** A part that is not there has no content. */
  read(path: string | null, handler: PartHandler): Promise<void>;
  /** Of a part; of the package itself for the empty path. */
  relations(path: string): Promise<readonly Relation[]>;
}

function createParts(archive: ZipArchive, limits: SourceLimits): Parts {
  const byPath = new Map<string, ZipEntry>();
  for (const entry of archive.entries) {
    const path = entry.name.replace(/^\/+/, '').toLowerCase();
    if (!byPath.has(path)) byPath.set(path, entry);
  }
  const find = (path: string): ZipEntry | null => byPath.get(path.toLowerCase()) ?? null;
  let unpackedBytes = 0;
  const bytesOf = async function* (entry: ZipEntry): AsyncGenerator<Buffer> {
    for await (const chunk of archive.read(entry)) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > limits.unpackedBytesMax)
        throw tooLarge(archive.name, `${limits.unpackedBytesMax} bytes when unpacked`);
      yield chunk;
    }
  };
  const parse = (entry: ZipEntry, handler: PartHandler): AsyncGenerator<void> =>
    parsePart(bytesOf(entry), { file: archive.name, part: entry.name }, handler);
  const read = async (path: string | null, handler: PartHandler): Promise<void> => {
    const entry = path === null ? null : find(path);
    if (entry !== null) await readPart(parse(entry, handler));
  };
  return {
    file: archive.name,
    find,
    parse,
    read,
    relations: async (path) => {
      const cut = path.lastIndexOf('/') + 1;
      const folder = path.slice(0, cut);
      const found: Relation[] = [];
      await read(`${folder}_rels/${path.slice(cut)}.rels`, {
        ...ignoring,
        onStart: (element, { Id: id = '', Type: type = '', Target: target = '' }) => {
          if (element !== 'Relationship') return;
          if (found.length >= relationsMax) throw tooLarge(archive.name, `${relationsMax} relations between its parts`);
          found.push({ id, type, target: resolved(folder, target) });
        },
      });
      return found;
    },
  };
}

const ignoring: PartHandler = { onStart: () => undefined, onText: () => undefined, onEnd: () => undefined };

/** A target is relative to the folder of its source, or begins with a slash. It is looked up, never opened as a path. */
function resolved(folder: string, target: string): string {
  const steps: string[] = [];
  for (const step of (target.startsWith('/') ? target : `${folder}${target}`).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

interface ListedSheet {
  readonly id: string;
  readonly name: string;
  readonly isHidden: boolean;
}

async function readMain(parts: Parts, path: string): Promise<{ listed: readonly ListedSheet[]; daysAdded: number }> {
  const listed: ListedSheet[] = [];
  let daysAdded = 0;
  await parts.read(path, {
    ...ignoring,
    onStart: (element, attributes) => {
      if (element === 'workbookPr' && isTrue(attributes.date1904)) daysAdded = days1904;
      if (element !== 'sheet') return;
      if (listed.length >= sheetsMax) throw tooLarge(parts.file, `${sheetsMax} sheets`);
      const { name = `Sheet ${listed.length + 1}`, state } = attributes;
      // Some programs write states of their own for a visible sheet.
      const isHidden = state === 'hidden' || state === 'veryHidden';
      listed.push({ id: relationIdOf(attributes), name, isHidden });
    },
  });
  if (listed.length === 0) throw damaged(parts.file, 'it lists no sheets');
  return { listed, daysAdded };
}

/** `r:id`, whatever the prefix. */
function relationIdOf(attributes: Attributes): string {
  const name = Object.keys(attributes).find((key) => key.endsWith(':id'));
  return name === undefined ? '' : (attributes[name] ?? '');
}

export function isTrue(flag: string | undefined): boolean {
  return flag === '1' || flag === 'true';
}

async function readFormats(parts: Parts, path: string | null): Promise<readonly CellFormat[]> {
  const own = new Map<number, string>();
  const ids: number[] = [];
  let isInCellFormats = false;
  await parts.read(path, {
    ...ignoring,
    onStart: (element, { numFmtId = '0', formatCode = '' }) => {
      if (element === 'cellXfs') isInCellFormats = true;
      if (own.size > cellFormatsMax || ids.length > cellFormatsMax)
        throw tooLarge(parts.file, `${cellFormatsMax} formats`);
      if (element === 'numFmt') own.set(Number(numFmtId), formatCode);
      else if (element === 'xf' && isInCellFormats) ids.push(Number(numFmtId));
    },
    onEnd: (element) => {
      if (element === 'cellXfs') isInCellFormats = false;
    },
  });
  const byId = new Map([...new Set(ids)].map((id) => [id, cellFormat(id, own.get(id))]));
  return ids.map((id) => byId.get(id) ?? generalFormat);
}

async function readTexts(parts: Parts, path: string | null, bytesMax: number): Promise<TextStore> {
  const store = createTextStore(bytesMax);
  const item = createTextCollector();
  await parts.read(path, {
    onStart: (element) => {
      if (element === 'si') item.clear();
      item.onStart(element);
    },
    onText: item.onText,
    onEnd: (element) => {
      item.onEnd(element);
      if (element === 'si' && !store.add(item.text())) {
        throw tooLarge(parts.file, `${Math.round(bytesMax / 1024 ** 2)} MB of texts`);
      }
    },
  });
  return store;
}

/** The text of an element with runs: all `t`, without those that say how it is pronounced. */
interface TextCollector {
  clear(): void;
  onStart(element: string): void;
  onText(text: string): void;
  onEnd(element: string): void;
  text(): string;
}

export function createTextCollector(): TextCollector {
  let text = '';
  let isInText = false;
  let phoneticDepth = 0;
  return {
    clear: () => {
      text = '';
      isInText = false;
      phoneticDepth = 0;
    },
    onStart: (element) => {
      if (element === 'rPh') phoneticDepth++;
      isInText = element === 't' && phoneticDepth === 0;
    },
    onText: (more) => {
      if (isInText && text.length < textCharsMax) text += more.slice(0, textCharsMax);
    },
    onEnd: (element) => {
      if (element === 'rPh') phoneticDepth--;
      isInText = false;
    },
    text: () => unescaped(text),
  };
}

/** Characters that XML cannot hold are written `_x000D_`; `_x005F_` is the underscore of a text that looks so. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function damaged(file: string, why: string): PatchbayError {
  const hint = 'Open it in the spreadsheet program, save it again, and drop the new file.';
  return fileError('xlsxDamaged', `${file} is a damaged workbook: ${why}`, { file }, hint);
}

function tooLarge(file: string, limit: string): PatchbayError {
  const hint =
    'Save the sheet as "CSV UTF-8 (comma delimited)", which may be larger, or split it into several workbooks.';
  return fileError('xlsxTooLarge', `${file} is too large a workbook: more than ${limit}`, { file, limit }, hint);
}

// The shared texts of a workbook, kept outside the JavaScript heap: cells name a text by its number, and the texts may come to
// more than the heap has room for.
//
// Invariant: never more than `bytesMax` bytes, places included.

const blockBytes = 1024 * 1024;
const placesPerBlock = 64 * 1024;
/** Offset and length. */
const bytesPerPlace = 8;

interface TextStore {
  /** Texts are numbered from 0. @returns false if there is no room for it. */
  add(text: string): boolean;
  /** Null if no text has this number. */
  get(index: number): string | null;
  /** Gives the memory back; no text is there any more. */
  clear(): void;
}

/** @param textBytesMax of one text: what is longer is cut there, which is beyond what a cell may hold. */
function createTextStore(bytesMax: number, textBytesMax = 128 * 1024): TextStore {
  const blocks: Buffer[] = [];
  const places: Uint32Array[] = [];
  let count = 0;
  let free = 0;
  let bytes = 0;

  const reserve = (length: number): number => {
    if (blocks.length === 0 || free + length > blockBytes) {
      blocks.push(Buffer.allocUnsafeSlow(blockBytes));
      bytes += blockBytes;
      free = 0;
    }
    const offset = (blocks.length - 1) * blockBytes + free;
    free += length;
    return offset;
  };

  return {
    add: (text) => {
      let encoded = Buffer.from(text, 'utf8');
      if (encoded.length > textBytesMax) encoded = encoded.subarray(0, textBytesMax);
      const index = count % placesPerBlock;
      if (index === 0) {
        places.push(new Uint32Array(placesPerBlock * 2));
        bytes += placesPerBlock * bytesPerPlace;
      }
      const offset = reserve(encoded.length);
      if (bytes > bytesMax) return false;
      encoded.copy(blocks.at(-1) ?? encoded, offset % blockBytes);
      places.at(-1)?.set([offset, encoded.length], index * 2);
      count++;
      return true;
    },
    get: (index) => {
      if (!Number.isSafeInteger(index) || index < 0 || index >= count) return null;
      const block = places[Math.floor(index / placesPerBlock)];
      const at = (index % placesPerBlock) * 2;
      const offset = block?.[at] ?? 0;
      const length = block?.[at + 1] ?? 0;
      const start = offset % blockBytes;
      return blocks[Math.floor(offset / blockBytes)]?.toString('utf8', start, start + length) ?? null;
    },
    clear: () => {
      blocks.length = 0;
      places.length = 0;
      count = 0;
    },
  };
}
