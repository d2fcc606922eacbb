/**
 * Originals that cannot be read as rows, and may name people who were forgotten: their bytes are looked at (`docs/rules.md`, "Forgetting a
 * person").
 *
 * Of a forgotten person a hash of the key is known and nothing else, so that each word which may be a key is hashed. A text of fewer than
 * five characters is not taken for a key here: it is part of the rows of many others. Where the mapping fits the header, each line is read
 * by it as well (`line-keys.ts`), whatever the length of its key. A line of a table that is a whole record is taken out. A file that
 * cannot be cut there is deleted, and one that cannot even be looked into stays.
 */

import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { ForgottenPeople } from '#src/ledger/forgetting.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { readingOfRun } from '#src/runs/open-file.ts';
import { openSource } from '#src/sources/open-source.ts';
import type { Row } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { type LineRange, linesWithout } from './file-bytes.ts';
import { lineKeysOf } from './line-keys.ts';

/** What became of the file. `unknown`: it is packed or damaged, and stays as it came. */
export type Cleaned =
  | { readonly kind: 'cut'; readonly lines: number }
  /** `byMapping`: its lines were read by the mapping; otherwise a short key, and one of several cells, would not have been found. */
  | { readonly kind: 'clean'; readonly byMapping: boolean }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'unknown' };

/** @throws the system's errors. */
export async function cleanUnreadable(run: RunRecord, people: ForgottenPeople): Promise<Cleaned> {
  const path = run.claimedPath;
  const isKey = keyTest(run, people);
  const start = await startOf(path);
  if (start === null) return { kind: 'clean', byMapping: true };
  const isTable = isTableName.test(run.fileName);
  const lineKeys = isPacked(start) || !isTable ? null : await lineKeysOf(run, run.fileName, textOf(start));
  const isTheirs = (line: string): boolean => lineKeys?.(line).some(people.has) === true;
  const found = isPacked(start) ? await foundInCells(run, isKey) : await foundInLines(path, run, isKey, isTheirs);
  if (found === 'unknown') return { kind: 'unknown' };
  if (found.length === 0) return { kind: 'clean', byMapping: lineKeys !== null };
  if (!isTable || found.some(({ isRecord }) => !isRecord)) {
    await rm(path, { force: true });
    return { kind: 'deleted' };
  }
  await writeWholeFile(path, linesWithout(path, found));
  return { kind: 'cut', lines: found.length };
}

const isTableName = /\.(?:csv|tsv|txt|ndjson|jsonl)$/i;
const startBytes = 4_096;

/** Null where the file has disappeared. */
async function startOf(path: string): Promise<Uint8Array | null> {
  try {
    const file = await open(path);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Compressed, a workbook, or UTF-16: its bytes are not those of the texts. */
function isPacked(start: Uint8Array): boolean {
  return start.includes(0) || (start[0] === 0x1f && start[1] === 0x8b) || (start[0] === 0xff && start[1] === 0xfe);
}

type IsKey = (text: string) => boolean;

const keyCharsMin = 5;
const keyCharsMax = 200;

/** A spreadsheet may have put an apostrophe before a key, or `.0` behind it. */
const asSpreadsheetsWrite = /^'|\.0+$/g;

function keyTest({ mapping }: RunRecord, people: ForgottenPeople): IsKey {
  const prefix = mapping?.keyPrefix ?? '';
  return (text) => {
    const tidy = text.normalize('NFC').trim();
    if (tidy.length < keyCharsMin || tidy.length > keyCharsMax) return false;
    const plain = tidy.replaceAll(asSpreadsheetsWrite, '');
    const forms = new Set([tidy, plain, `${prefix}${tidy}`, `${prefix}${plain}`]);
    return [...forms].some(people.has);
  };
}

interface FoundLine extends LineRange {
  /** The line begins and ends outside of quotes. */
  readonly isRecord: boolean;
}

async function foundInCells(run: RunRecord, isKey: IsKey): Promise<readonly FoundLine[] | 'unknown'> {
  try {
    const source = await openSource(run.claimedPath, { name: run.fileName, mayBeCut: false, ...readingOfRun(run) });
    try {
      for await (const slice of source.slices())
        for (const { row } of slice)
          if (textsOf(row).some(isKey)) return [{ first: row.line, next: row.line + 1, isRecord: false }];
      return (source.head.columns ?? []).some(isKey) ? [{ first: 1, next: 2, isRecord: false }] : [];
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof PatchbayError) return 'unknown';
    throw error;
  }
}

function textsOf(row: Row): readonly string[] {
  if (row.kind === 'cells') return [...row.cells, ...(row.beyond ?? [])];
  return JSON.stringify(row.object).split(/[":,{}[\]]/);
}

async function foundInLines(
  path: string,
  run: RunRecord,
  isKey: IsKey,
  isTheirs: (line: string) => boolean,
): Promise<readonly FoundLine[]> {
  const found: FoundLine[] = [];
  const { delimiter } = readingOfRun(run);
  let isQuoted = false;
  let [beganQuoted, isNamed, isBegin] = [false, false, true];
  for await (const { line, text, isEnd } of textParts(path)) {
    isNamed ||= wordsOf(text, delimiter).some(isKey) || (isBegin && isEnd && isTheirs(textOf(text)));
    isBegin = isEnd;
    if ((text.split('"').length - 1) % 2 === 1) isQuoted = !isQuoted;
    if (!isEnd) continue;
    if (isNamed) found.push({ first: line, next: line + 1, isRecord: !beganQuoted && !isQuoted });
    [beganQuoted, isNamed] = [isQuoted, false];
  }
  return found;
}

/** Words as the delimiters of tables, JSON and vCards cut them; a key may hold some of these. */
const cuts: readonly RegExp[] = [/"/, /[",;|\t]/, /[",;|\t:={}[\]<>]/];

/** As UTF-8 where the bytes are, and as Latin-1 elsewhere. @param latin1 bytes, or their text as Latin-1. */
function textOf(latin1: Uint8Array | string): string {
  const bytes = typeof latin1 === 'string' ? Buffer.from(latin1, 'latin1') : Buffer.from(latin1);
  // A start may end within a character.
  return isUtf8(bytes) || typeof latin1 !== 'string' ? bytes.toString('utf8') : bytes.toString('latin1');
}

/** @param text bytes as Latin-1; they may be UTF-8. */
function wordsOf(text: string, delimiter: string | undefined): readonly string[] {
  const texts = /[\u0080-\u00ff]/.test(text) ? [text, Buffer.from(text, 'latin1').toString('utf8')] : [text];
  const all = delimiter === undefined ? cuts : [...cuts, delimiter];
  return [...new Set(texts.flatMap((one) => all.flatMap((cut) => one.split(cut))))];
}

interface TextPart {
  readonly line: number;
  readonly text: string;
  /** Whether the line ends with it. */
  readonly isEnd: boolean;
}

/** A longer line comes in parts. */
const partCharsMax = 1024 * 1024;

/** The lines of a file, one character a byte; they end as for `linesWithout`. */
async function* textParts(path: string): AsyncGenerator<TextPart> {
  let line = 1;
  let rest = '';
  for await (const chunk of createReadStream(path, 'latin1') as AsyncIterable<string>) {
    rest += chunk;
    // Ends with the last line end of the chunk; a carriage return may be half of one.
    for (let end = lineEnd.exec(rest); end !== null; end = lineEnd.exec(rest)) {
      yield { line, text: rest.slice(0, end.index), isEnd: true };
      line += 1;
      rest = rest.slice(end.index + end[0].length);
    }
    if (rest.length <= partCharsMax) continue;
    const cut = Math.max(...['"', ',', ';', '\t'].map((one) => rest.lastIndexOf(one))) + 1 || rest.length;
    yield { line, text: rest.slice(0, cut), isEnd: false };
    rest = rest.slice(cut);
  }
  yield { line, text: rest, isEnd: true };
}

const lineEnd = /\r\n|\r(?!$)|\n/;
