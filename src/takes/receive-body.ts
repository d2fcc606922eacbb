/**
 * The body of an answer, streamed into a file of ours.
 *
 * Invariant: the file is the whole body, unpacked where it was packed for the way, within the limit on its bytes, and on
 * disk; or it is not there at all. Half a file is never taken.
 */

import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { systemCodeOf } from '#src/errors.ts';
import { ownerOnlyFileMode } from '#src/whole-file.ts';
import { takeError } from './take-error.ts';
import { TryAgain } from './try-again.ts';

const startBytesMax = 1_024;

export interface ReceivedBody {
  readonly path: string;
  /** Of the file, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** The first bytes of the file. */
  readonly start: Uint8Array;
}

export interface BodyOrder {
  readonly body: Readable;
  /** Where the file goes; nothing is there yet. */
  readonly path: string;
  /** Packed for the way alone (`Content-Encoding`). */
  readonly gzip: boolean;
  /** What `Content-Length` promises; null where it is not there. */
  readonly declaredBytes: number | null;
  readonly bytesMax: number;
  /** For messages. */
  readonly host: string;
}

/**
 * @throws PatchbayError `file` `downloadTooLarge`; what the body throws; the system's errors.
 * @throws TryAgain `downloadCutOff`.
 */
export async function receiveBody(order: BodyOrder): Promise<ReceivedBody> {
  const handle = await open(order.path, 'wx', ownerOnlyFileMode);
  try {
    try {
      const received = await store(order, handle);
      await handle.sync();
      return received;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(order.path, { force: true });
    throw error;
  }
}

async function store(order: BodyOrder, handle: FileHandle): Promise<ReceivedBody> {
  const { path, bytesMax } = order;
  const hash = createHash('sha256');
  const onTheWay = { bytes: 0 };
  let start = Buffer.alloc(0);
  let bytes = 0;
  const raw = counted(order, onTheWay);
  // Ends with the body: each turn takes one more piece of it.
  for await (const chunk of order.gzip ? unpacked(raw, order.host) : raw) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(order.host, bytesMax);
    if (start.length < startBytesMax) {
      start = Buffer.concat([start, chunk.subarray(0, startBytesMax - start.length)]);
    }
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  if (order.declaredBytes !== null && onTheWay.bytes !== order.declaredBytes) throw cutOff(order.host);
  return { path, sha256: hash.digest('hex'), bytes, start };
}

async function* counted(order: BodyOrder, seen: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of order.body as AsyncIterable<Buffer>) {
    seen.bytes += chunk.length;
    if (seen.bytes > order.bytesMax) throw tooLarge(order.host, order.bytesMax);
    yield chunk;
  }
}

async function* unpacked(raw: AsyncIterable<Buffer>, host: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1_024 });
  // The error arrives through the iteration below; the callback only keeps it from being called unhandled.
  pipeline(raw, gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'Z_BUF_ERROR') throw cutOff(host, error);
    if (code?.startsWith('Z_') !== true) throw error;
    const hint = 'Ask who runs that server; without Content-Encoding it would be taken as it is.';
    throw takeError('unreachable', 'contentEncodingRefused', `what ${host} sent is not packed as it says`, hint, error);
  }
}

export function tooLarge(host: string, bytesMax: number): Error {
  const hint = 'Where such a file is right, raise download.bytesMax.';
  return takeError('file', 'downloadTooLarge', `${host} sends more than ${bytesMax} bytes`, hint);
}

export function cutOff(host: string, cause?: unknown): TryAgain {
  const hint = 'It is taken again when it is due next; nothing of it was used.';
  return new TryAgain(
    takeError('unreachable', 'downloadCutOff', `the download from ${host} broke off before its end`, hint, cause),
    null,
  );
}
