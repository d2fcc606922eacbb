/** A download has a limit on everything, and half a file is never taken. */
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { takeFiles } from '#src/takes/take.ts';
import { storageError } from '#src/takes/take-error.ts';
import { mountSmallDisk } from '#test/support/small-disk.ts';
import { type Answer, startFileServer } from './support/file-server.ts';
import { openTakesBench } from './support/takes-bench.ts';

const probe = mountSmallDisk(1);
probe?.close();
const reason = probe === null ? ' (skipped: no disk can be mounted here)' : '';
const local = { ...configSchema.parse({}).download, privateAddresses: true };
const csv = { 'content-type': 'text/csv' };
const piece = Buffer.alloc(64 * 1_024, 'a,b\n');

interface Given {
  readonly download?: Partial<TakeParts['download']>;
  readonly limits?: TakeParts['limits'];
}

async function take(answer: Answer, given: Given = {}) {
  const server = await startFileServer({ answer });
  const bench = await openTakesBench({
    clock: systemClock(),
    download: { ...local, ...given.download },
    limits: { retryWaitMs: 1, ...given.limits },
  });
  const end = await bench.take(`${server.origin}/crm.csv`);
  const strays = await bench.strays();
  return { end, count: server.requests.length, contents: await bench.contents(), strays };
}

const nothing = { contents: [], strays: [] };
const failed = (code: string, count: number) => ({ end: { outcome: 'failed', code }, count, ...nothing });

/** Sends without end, as fast as it is read; tells how much that was. */
function endless(sent: { bytes: number }, first: Buffer = piece): Answer {
  return (_request, response) => {
    response.writeHead(200, csv);
    pour(response, sent, first);
  };
}

function pour(response: ServerResponse, sent: { bytes: number }, next: Buffer): void {
  // Ends where the receiver closes the connection.
  if (response.destroyed) return;
  sent.bytes += next.length;
  response.write(next, () => pour(response, sent, piece));
}

describe('a download', () => {
  it('without end is cut at the limit, and no more than that is read', async () => {
    const sent = { bytes: 0 };
    const bytesMax = 8 * 1_024 * 1_024;
    expect(await take(endless(sent), { download: { bytesMax } })).toMatchObject(failed('downloadTooLarge', 1));
    // What the limit lets through, and what lies in the sockets.
    expect(sent.bytes).toBeLessThan(bytesMax + 16 * 1_024 * 1_024);
  });

  it('that announces too much is refused before it is read', async () => {
    const sent = { bytes: 0 };
    const answer: Answer = (_request, response) => {
      response.writeHead(200, { ...csv, 'content-length': 10_000_000_000 });
      pour(response, sent, piece);
    };
    expect(await take(answer)).toMatchObject(failed('downloadTooLarge', 1));
    expect(sent.bytes).toBeLessThan(16 * 1_024 * 1_024);
  });

  it('that unpacks to too much is cut at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const answer: Answer = (_request, response) =>
      response.writeHead(200, { ...csv, 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb);
    expect(await take(answer, { download: { bytesMax: 1_000_000 } })).toMatchObject(failed('downloadTooLarge', 1));
  });

  it.each<[string, Answer]>([
    ['before the length it announced', (_, response) => half(response, { ...csv, 'content-length': '100' })],
    ['within its pieces', (_, response) => half(response, csv)],
    ['within its packed data', (_, response) => halfPacked(response)],
  ])('that breaks off %s is tried again, and never taken', async (_what, answer) => {
    expect(await take(answer)).toMatchObject(failed('downloadCutOff', 3));
  });

  it('that breaks off once is taken at the next try', async () => {
    let tries = 0;
    const answer: Answer = (_request, response) => {
      tries += 1;
      if (tries === 1) half(response, csv);
      else response.writeHead(200, csv).end('whole');
    };
    expect(await take(answer)).toMatchObject({ end: { outcome: 'run' }, contents: ['whole'], strays: [] });
  });

  it('whose end nobody tells is refused', async () => {
    const answer: Answer = ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\n\r\na,b\n');
    expect(await take(answer)).toMatchObject(failed('downloadLengthUnknown', 1));
  });

  it('that is packed otherwise, or not as it says, is refused', async () => {
    const answer =
      (encoding: string): Answer =>
      (_request, response) =>
        response.writeHead(200, { ...csv, 'content-encoding': encoding, 'content-length': 3 }).end('a,b');
    expect(await take(answer('br'))).toMatchObject(failed('contentEncodingRefused', 1));
    expect(await take(answer('gzip'))).toMatchObject(failed('contentEncodingRefused', 1));
  });

  it('that stands still, or is not answered, is given up', async () => {
    const still: Answer = (_request, response) => void response.writeHead(200, csv).write('a,b\n');
    // Both at once: the client looks at its time-outs once a second.
    const [stalled, unanswered] = await Promise.all([
      take(still, { limits: { stallMs: 50, triesMax: 1 } }),
      take(() => {}, { limits: { headersMs: 50, triesMax: 1 } }),
    ]);
    expect(stalled).toMatchObject(failed('downloadStalled', 1));
    expect(unanswered).toMatchObject(failed('urlUnreachable', 1));
  });

  it('that trickles ends with the time for all of it', async () => {
    const answer: Answer = (_request, response) => {
      response.writeHead(200, csv);
      const timer = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(timer));
    };
    expect(await take(answer, { download: { timeoutMs: 200 } })).toMatchObject(failed('downloadTimeout', 1));
  });
});

describe('what was begun leaves nothing behind', () => {
  it('where the process stops meanwhile', async () => {
    const stop = new AbortController();
    const server = await startFileServer({
      answer: (_request, response) => {
        response.writeHead(200, csv).write('a,b\n');
        response.on('close', () => left.resolve());
        setTimeout(() => stop.abort(new Error('stopping')), 20);
      },
    });
    const left = Promise.withResolvers<void>();
    const bench = await openTakesBench({ clock: systemClock(), download: local });
    const feed = { ...(await bench.parts.submit.feeds.get('crm')), take: `${server.origin}/crm.csv` };
    await expect(takeFiles(bench.parts, feed, stop.signal)).rejects.toThrow('stopping');
    await left.promise;
    expect(await bench.strays()).toEqual([]);
  });

  it.skipIf(probe === null)(`where the disk is full${reason}`, async () => {
    const disk = mountSmallDisk(1);
    if (disk === null) throw new Error('a disk could be mounted a moment ago');
    onTestFinished(() => disk.close());
    const server = await startFileServer({ answer: endless({ bytes: 0 }) });
    const downloads = join(disk.folder, 'downloads');
    const bench = await openTakesBench({ clock: systemClock(), download: local, downloads });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'failed', code: 'diskFull' });
    const path = await bench.write('crm.csv', Buffer.alloc(2_000_000, 'a').toString());
    expect(await bench.take(path)).toMatchObject({ outcome: 'failed', code: 'diskFull' });
    expect(await readdir(downloads)).toEqual([]);
  });
});

describe('a private folder that cannot be used', () => {
  it('fails the take, and names the folder and what the system says', async () => {
    const server = await startFileServer({});
    const bench = await openTakesBench({ clock: systemClock(), download: local });
    const path = await bench.write('crm.csv', 'one');
    await bench.write('downloads', 'a file stands in its place');
    const message = expect.stringContaining(`${bench.parts.downloads} (EEXIST)`);
    for (const take of [path, `${server.origin}/crm.csv`]) {
      expect(await bench.take(take)).toMatchObject({ outcome: 'failed', code: 'downloadFolderUnusable', message });
    }
  });

  it.each([
    [{ code: 'EROFS', path: '/data/downloads/x.part' }, 'downloadFolderUnusable'],
    [{ code: 'EIO', syscall: 'write' }, 'downloadFolderUnusable'],
    [{ code: 'EACCES', path: '/data/downloads/x', dest: '/data/claimed/x' }, 'EACCES'],
    [{ code: 'EACCES', path: '/exports/crm.csv' }, 'EACCES'],
    [{ code: 'EIO', syscall: 'read' }, 'EIO'],
  ])('is told from other trouble: %j is %s', (facts, code) => {
    const error = Object.assign(new Error('trouble'), facts);
    expect(storageError(error, '/data/downloads')).toMatchObject({ code });
  });
});

function half(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, headers).write('half of it', () => response.socket?.end());
}

function halfPacked(response: ServerResponse): void {
  const packed = gzipSync(piece);
  const part = packed.subarray(0, packed.length - 10);
  response.writeHead(200, { ...csv, 'content-encoding': 'gzip', 'content-length': part.length }).end(part);
}
