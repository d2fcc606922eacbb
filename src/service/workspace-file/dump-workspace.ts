/**
 * Writes the workspace of a store into a workspace file, also while a service works on that store.
 *
 * Invariants: the file appears whole or not at all, since it is written beside and renamed. The text depends on the content
 * alone: the same content gives the same bytes, each record on a line of its own, section by section. API keys are never
 * in it. Memory holds one piece of the text.
 */
import {
  closeSync,
  createWriteStream,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { newDraftPath, removeAbandonedDrafts } from '#src/service/store/build-store.ts';
import { openSnapshot } from '#src/service/store/open-snapshot.ts';
import { isOfDatabase, type StoreTables } from '#src/service/store/open-store.ts';
import { fileAt, journalsOf, unreadable } from '#src/service/store/store-lock.ts';
import { type ListSectionName, noRecords, type SectionCounts, workspaceFileFormat } from './sections.ts';

interface DumpOptions {
  /** The store's file. It is not changed. */
  readonly store: string;
  /** A path, or `-` for `stdout`. One that ends in `.gz` is packed. */
  readonly file: string;
  readonly stdout: () => Writable;
  readonly signal?: AbortSignal | undefined;
}

const pieceLengthMin = 64 * 1024;

/**
 * Returns how many records were written.
 * @throws PatchbayError `usage` `storeMissing`, `storeUnreadable`, `storeNewer`, `dumpNotWritten`; and the signal's reason
 * when it fires.
 */
export async function dumpWorkspace({ store, file, stdout, signal }: DumpOptions): Promise<SectionCounts> {
  const snapshot = openSnapshot(store);
  try {
    const { lines, counts } = createDumpLines(snapshot.tables, snapshot.ownerUserId);
    const text = () => Readable.from(pieces(lines()), { objectMode: false });
    if (file === '-') await writeOut(text(), stdout(), signal);
    else await writeFile(text, targetOf(file, store), file.endsWith('.gz'), signal);
    return counts();
  } catch (error) {
    signal?.throwIfAborted();
    if (isOfDatabase(error)) throw unreadable(store, error);
    throw error instanceof PatchbayError ? error : notWritten(file, error);
  } finally {
    snapshot.close();
  }
}

/** Rejects where the reader did not take all of it: a part of a dump cannot be loaded. */
async function writeOut(text: Readable, output: Writable, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pipeline(text, output, { end: false, signal });
    // What was written last may still be on its way.
    await new Promise<void>((resolve, reject) => {
      output.write('', (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EPIPE') throw error;
    throw notWritten('-', new Error('its reader has gone, and the dump is cut off', { cause: error }));
  }
}

/** Lines are short: a write for each would be slow. */
function* pieces(lines: Iterable<string>): Iterable<Buffer> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceLengthMin) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece);
}

interface Target {
  readonly path: string;
  /** A device or a pipe takes the text itself; a file is replaced when the dump is whole. */
  readonly isReplaced: boolean;
}

/** Throws `dumpNotWritten` for the store itself, for what lies beside it, and for a folder. */
function targetOf(file: string, store: string): Target {
  const isThere = existsSync(file);
  const path = isThere ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
  refuseStoreFiles(file, path, realpathSync(store));
  if (!isThere) return { path, isReplaced: true };
  const found = statSync(path);
  if (found.isDirectory()) throw notWritten(file, new Error('it is a folder'));
  return { path, isReplaced: found.isFile() };
}

/**
 * The last commits of a store are in its journal: a dump in its place would lose them. Also under another name of the
 * same file, and where the journal is not there yet.
 */
function refuseStoreFiles(file: string, path: string, store: string): void {
  const target = fileAt(path);
  for (const kept of [store, ...journalsOf(store), `${store}-lock`]) {
    if (path !== kept && (target === null || target !== fileAt(kept))) continue;
    throw notWritten(file, new Error(kept === store ? 'it is the store itself' : 'it belongs to the store'));
  }
}

async function writeFile(
  text: () => Readable,
  { path, isReplaced }: Target,
  isPacked: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = isReplaced ? newDraftPath(path, 'part') : path;
  if (isReplaced) removeAbandonedDrafts(path, 'part');
  try {
    // Contacts are personal data: the file is its owner's alone.
    const output = createWriteStream(draft, { flags: isReplaced ? 'wx' : 'w', mode: 0o600, flush: isReplaced });
    if (isPacked) await pipeline(text(), createGzip(), output, { signal });
    else await pipeline(text(), output, { signal });
    if (!isReplaced) return;
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    if (isReplaced) rmSync(draft, { force: true });
  }
}

/** Makes the new name durable. The dump itself is on the disk, also where the system can neither open nor sync a folder. */
function syncFolder(path: string): void {
  try {
    const handle = openSync(path, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Windows and some network file systems.
  }
}

function notWritten(file: string, error: unknown): PatchbayError {
  return new PatchbayError('usage', 'dumpNotWritten', `cannot write the dump ${file}: ${messageOf(error)}`, {
    facts: { file },
    hint:
      file === '-'
        ? 'What was written is of no use. Dump into a file, or let the reader take all of it.'
        : 'Check the folder and the space on its disk; or name another file, or - for standard output.',
    cause: error,
  });
}

interface DumpLines {
  readonly lines: () => Iterable<string>;
  /** How many records of each list were written so far. */
  readonly counts: () => Readonly<Record<ListSectionName, number>>;
}

export function createDumpLines(tables: StoreTables, ownerUserId: string): DumpLines {
  const counts = noRecords();
  // In the order in which a load can take them in one reading.
  const sections: readonly (readonly [ListSectionName, () => Iterable<unknown>])[] = [
    ['users', tables.users.each],
    ['customFields', tables.customFields.all],
    ['phoneNumbers', tables.phoneNumbers.each],
    ['contacts', tables.contacts.each],
    ['calls', tables.calls.each],
    ['recordings', tables.recordings.each],
    ['messages', tables.messages.each],
  ];
  return {
    counts: () => counts,
    lines: function* () {
      yield `{\n"workspace":${JSON.stringify({ format: workspaceFileFormat, ownerUserId })}`;
      for (const [name, each] of sections) {
        yield `,\n${JSON.stringify(name)}:[`;
        for (const record of each()) {
          yield `${counts[name] === 0 ? '\n' : ',\n'}${JSON.stringify(record)}`;
          counts[name] += 1;
        }
        yield counts[name] === 0 ? ']' : '\n]';
      }
      yield '\n}\n';
    },
  };
}
