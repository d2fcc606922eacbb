/**
 * Where a workspace file comes from: a file, a pipe, or standard input; plain or gzip, recognised by its first bytes.
 *
 * A file can be read several times, and must then hold the same each time. What comes through a pipe is read once.
 */
import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { fileChanged, fileMalformed, fileUnreadable, readFailure } from './problems.ts';

export interface WorkspaceSource {
  /** How errors call it. */
  readonly name: string;
  readonly isRepeatable: boolean;
  /**
   * The text's bytes, unpacked, without a byte order mark.
   * @throws PatchbayError `usage` `workspaceFileUnreadable`, `workspaceFileMalformed`, `workspaceFileChanged`; and the
   * signal's reason when it fires.
   */
  readonly chunks: (signal: AbortSignal | undefined) => AsyncIterable<Uint8Array>;
}

const chunkBytes = 256 * 1024;

/** A path, or `-` for `stdin`. @throws PatchbayError `usage` `workspaceFileUnreadable`. */
export async function openWorkspaceSource(path: string, stdin: () => Readable): Promise<WorkspaceSource> {
  if (path === '-') {
    return { name: 'standard input', isRepeatable: false, chunks: (signal) => unpack('standard input', stdin, signal) };
  }
  const identity = await identityOf(path);
  return {
    name: path,
    isRepeatable: identity !== null,
    chunks: async function* (signal) {
      yield* unpack(path, () => openFile(path), signal);
      if ((await identityOf(path)) !== identity) throw fileChanged(path);
    },
  };
}

/**
 * A named pipe is opened without waiting for its writer: nothing could end that wait, neither the signal nor the end of
 * the process. Throws the system's errors.
 */
function openFile(path: string): Readable {
  if (!statSync(path).isFIFO()) return createReadStream(path, { highWaterMark: chunkBytes });
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd: handle, readable: true, writable: false });
}

/** Differs between two states of a file; null for a pipe. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) throw fileUnreadable(path, 'it is a folder', 'Name a file.');
    return found.isFile() ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}` : null;
  } catch (error) {
    throw readFailure(path, error);
  }
}

async function* unpack(name: string, open: () => Readable, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  let stream: Readable | undefined;
  try {
    stream = open();
    if (signal !== undefined) addAbortSignal(signal, stream);
    const { head, rest } = await readHead(stream);
    if (head[0] !== 0x1f || head[1] !== 0x8b) yield* plainText(name, rest);
    else {
      const gunzip = createGunzip({ chunkSize: chunkBytes });
      // Its errors arrive through the iteration of `gunzip` below; the callback only keeps them from being unhandled.
      pipeline(Readable.from(rest), gunzip, () => undefined);
      yield* plainText(name, (await readHead(gunzip)).rest);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw readFailure(name, error);
  } finally {
    stream?.destroy();
  }
}

const headBytes = 4;

/** The first bytes, and everything from the start. */
async function readHead(stream: Readable): Promise<{ head: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  let done = false;
  // Ends: each turn adds bytes, or the stream is over.
  while (head.length < headBytes && !done) {
    const next = await chunks.next();
    done = next.done === true;
    if (next.done !== true) head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  const rest = async function* () {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return { head, rest: rest() };
}

/** Removes the byte order mark; refuses what is plainly no UTF-8 text. */
async function* plainText(name: string, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (!isFirst) yield chunk;
    else yield withoutMark(name, chunk);
    isFirst = false;
  }
}

function withoutMark(name: string, chunk: Uint8Array): Uint8Array {
  const [first, second, third] = chunk;
  if (first === 0xef && second === 0xbb && third === 0xbf) return chunk.subarray(3);
  const isMarkedUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isMarkedUtf16 || first === 0 || second === 0) {
    throw fileMalformed(name, null, 'it is written in UTF-16', 'Save it as UTF-8.');
  }
  if (first === 0x50 && second === 0x4b) throw fileMalformed(name, null, 'it is a zip archive', 'Unpack it first.');
  return chunk;
}
