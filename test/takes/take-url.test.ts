/** A feed that takes from a URL. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import type { TickTrigger } from '#src/ledger/schedules.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { workbookOf } from '#test/support/workbook.ts';
import {
  type Answer,
  csvText,
  type FileServer,
  sends,
  serverName,
  startFileServer,
  testCertificate,
} from './support/file-server.ts';
import { openTakesBench, type TakesBench } from './support/takes-bench.ts';

const { download } = configSchema.parse({});

/** On loopback, since that is where a test's server is. */
function open(given: Partial<TakeParts> = {}): Promise<TakesBench> {
  return openTakesBench({
    clock: systemClock(),
    download: { ...download, privateAddresses: true },
    limits: { retryWaitMs: 1 },
    ...given,
  });
}

const headersOf = (server: FileServer, index = -1) => server.requests.at(index)?.headers;

describe('a URL', () => {
  it('is taken, and again when its content is another', async () => {
    const [server, bench] = [await startFileServer(), await open()];
    const url = `${server.origin}/exports/crm.csv?token=secret`;
    expect(await bench.take(url)).toMatchObject({ outcome: 'run', runIds: { length: 1 } });
    expect(server.requests[0]?.url).toBe('/exports/crm.csv?token=secret');
    expect(await bench.take(url)).toMatchObject({ outcome: 'nothingNew', code: 'sameContent' });
    server.answer = sends('changed');
    expect(await bench.take(url)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual([csvText, 'changed']);
    expect(await bench.runs()).toMatchObject([{ fileName: 'crm.csv', run: { feed: 'crm' } }, {}]);
    expect(await bench.strays()).toEqual([]);
  });

  it('that has not changed is not sent again: ETag and Last-Modified are honoured', async () => {
    const [server, bench] = [await startFileServer(), await open()];
    const lastModified = 'Sat, 21 Nov 2026 10:00:00 GMT';
    const answer =
      (etag: string, text: string): FileServer['answer'] =>
      (request, response) => {
        if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
        else sends(text, { etag, 'last-modified': lastModified })(request, response);
      };
    const url = `${server.origin}/crm.csv`;
    server.answer = answer('"v1"', 'one');
    await bench.take(url);
    expect(headersOf(server)).not.toHaveProperty('if-none-match');
    expect(await bench.take(url)).toMatchObject({ outcome: 'nothingNew', code: 'notModified' });
    expect(headersOf(server)).toMatchObject({ 'if-none-match': '"v1"', 'if-modified-since': lastModified });
    // Another mark, the same content: the mark is remembered all the same.
    server.answer = answer('"v2"', 'one');
    expect(await bench.take(url)).toMatchObject({ code: 'sameContent' });
    expect(await bench.take(url)).toMatchObject({ code: 'notModified' });
    server.answer = answer('"v3"', 'two');
    expect(await bench.take(url)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['one', 'two']);
  });

  it('with a mark that no server would take back is asked for in full', async () => {
    const server = await startFileServer({ answer: sends('one', { etag: `"${'e'.repeat(2_000)}"` }) });
    const bench = await open();
    await bench.take(`${server.origin}/crm.csv`);
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ code: 'sameContent' });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  it('whose run could not be entered is asked for in full again', async () => {
    const [server, bench] = [await startFileServer({ answer: sends('one', { etag: '"v1"' }) }), await open()];
    const submit = { ...bench.parts.submit, folders: { ...bench.parts.submit.folders, claimed: '/dev/null/none' } };
    const end = await bench.take(`${server.origin}/crm.csv`, {}, { submit });
    expect(end).toMatchObject({ outcome: 'failed', code: 'folderUnusable' });
    expect(await bench.strays()).toEqual([]);
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
    expect(headersOf(server)).not.toHaveProperty('if-none-match');
  });

  it('is asked with what the variable holds at that time', async () => {
    const env: Record<string, string | undefined> = {};
    const [server, bench] = [await startFileServer(), await open({ env })];
    const take = () => bench.take(`${server.origin}/crm.csv`, { authorizationVariable: 'CRM_AUTHORIZATION' });
    expect(await take()).toMatchObject({
      outcome: 'failed',
      code: 'credentialsMissing',
      message: expect.stringMatching(/CRM_AUTHORIZATION/),
    });
    env.CRM_AUTHORIZATION = 'Bearer\nsecret';
    const invalid = await take();
    expect(invalid).toMatchObject({ outcome: 'failed', code: 'credentialsInvalid' });
    expect(JSON.stringify(invalid)).not.toContain('secret');
    expect(server.requests).toEqual([]);
    env.CRM_AUTHORIZATION = 'Bearer secret\n';
    expect(await take()).toMatchObject({ outcome: 'run' });
    expect(headersOf(server)).toMatchObject({ authorization: 'Bearer secret' });
  });

  it('may be packed for the way, or be a packed file', async () => {
    const [server, bench] = [await startFileServer(), await open()];
    const url = (name: string) => `${server.origin}/${name}`;
    server.answer = sends(gzipSync('unpacked'), { 'content-encoding': 'gzip' });
    await bench.take(url('a.csv'));
    expect(headersOf(server)).toMatchObject({ 'accept-encoding': 'gzip' });
    // As web servers do it that know the ending.
    server.answer = sends(gzipSync('also unpacked'), { 'content-encoding': 'x-gzip' });
    await bench.take(url('b.csv.gz'));
    server.answer = sends(gzipSync('packed'), { 'content-type': 'application/gzip' });
    await bench.take(url('c'));
    const runs = await bench.runs();
    expect(runs.map(({ fileName }) => fileName)).toEqual(['a.csv', 'b.csv', 'crm.csv.gz']);
    expect(runs.map(({ content }) => content).slice(0, 2)).toEqual(['unpacked', 'also unpacked']);
  });

  it('is asked over https, with a certificate of the host', async () => {
    const server = await startFileServer({ tls: true });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const bench = await open({ resolve, tls: { ca: testCertificate().cert } });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
    expect(headersOf(server)).toMatchObject({ host: `${serverName}:${server.port}` });
    const refused = { outcome: 'failed', code: 'certificateRefused' };
    expect(await bench.take(`https://wrong.example.com:${server.port}/crm.csv`)).toMatchObject(refused);
    const untrusting = await open({ resolve });
    expect(await untrusting.take(`${server.origin}/crm.csv`)).toMatchObject(refused);
    expect(server.requests).toHaveLength(1);
  });

  it('is never shown beyond its host', async () => {
    const [server, bench] = [await startFileServer(), await open()];
    const url = `${server.origin}/very/secret/path?token=secret#secret`;
    const answers: readonly FileServer['answer'][] = [
      (_request, response) => response.writeHead(404).end(),
      (_request, response) => response.writeHead(302, { location: 'https://else.example.com/secret?x=secret' }).end(),
      sends('<html>secret', { 'content-type': 'text/html' }),
      (_request, response) =>
        void response.writeHead(200, { 'content-length': 9 }).write('secret', () => response.socket?.end()),
      (request) => request.socket.destroy(),
    ];
    for (const answer of answers) {
      server.answer = answer;
      const end = await bench.take(url);
      expect(end).toMatchObject({ outcome: 'failed', message: expect.stringMatching(/127\.0\.0\.1/) });
      expect(JSON.stringify(end)).not.toContain('secret');
    }
    expect(await bench.strays()).toEqual([]);
  });
});

describe('an answer that is a workbook', () => {
  it.each([
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/octet-stream',
    'text/csv',
  ])('is taken as %s', async (type) => {
    const book = workbookOf([['externalId'], ['1']]);
    const [server, bench] = [await startFileServer({ answer: sends(book, { 'content-type': type }) }), await open()];
    expect(await bench.take(`${server.origin}/export`)).toMatchObject({ outcome: 'run' });
  });
});

describe('an answer that is no file', () => {
  const answered = async (status: number, headers: Record<string, string> = {}) => {
    const server = await startFileServer({ answer: (_request, response) => response.writeHead(status, headers).end() });
    const bench = await open();
    return { end: await bench.take(`${server.origin}/crm.csv`), count: server.requests.length };
  };

  it.each([
    [401, 'credentialsRefused', 1],
    [403, 'credentialsRefused', 1],
    [404, 'urlNotFound', 1],
    [410, 'urlNotFound', 1],
    [400, 'urlRefused', 1],
    [204, 'urlRefused', 1],
    [206, 'urlRefused', 1],
    [304, 'urlRefused', 1],
    [429, 'urlFailed', 3],
    [500, 'urlFailed', 3],
    [503, 'urlFailed', 3],
  ])('%i ends as %s after %i tries', async (status, code, tries) => {
    const { end, count } = await answered(status);
    expect(end).toMatchObject({ outcome: 'failed', code, message: new RegExp(String(status)) });
    expect(count).toBe(tries);
  });

  it('is waited for as long as it asks, within limits', async () => {
    const waits: number[] = [];
    const clock = systemClock();
    const sleep = (ms: number, signal?: AbortSignal) =>
      ms === download.timeoutMs ? clock.sleep(ms, signal) : Promise.resolve(void waits.push(ms));
    const bench = await open({ clock: { ...clock, sleep } });
    const server = await startFileServer();
    const after = ['7', '60'];
    server.answer = (request, response) => {
      const retryAfter = after.shift();
      if (retryAfter === undefined) sends('at last')(request, response);
      else response.writeHead(503, { 'retry-after': retryAfter }).end();
    };
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
    expect(waits).toEqual([7_001, 60_002]);
    expect(await bench.contents()).toEqual(['at last']);
  });

  it('that asks to wait for longer is asked again once that is over, unless a person asks', async () => {
    let passedMs = 0;
    const system = systemClock();
    const clock = { ...system, monotonicMs: () => system.monotonicMs() + passedMs };
    const server = await startFileServer({
      answer: (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
    });
    const bench = await open({ clock });
    const take = (trigger: TickTrigger) => bench.take(`${server.origin}/crm.csv`, {}, { trigger });
    const asked = {
      outcome: 'failed',
      code: 'urlFailed',
      message: expect.stringMatching(/answered 429, and asks to wait until \S+ \S+Z$/),
    };
    expect(await take('due')).toMatchObject(asked);
    passedMs = 3_500_000;
    expect(await take('catchUp')).toMatchObject({
      outcome: 'skipped',
      message: expect.stringMatching(/has asked to wait until \S+ \S+Z$/),
    });
    expect(server.requests).toHaveLength(1);
    expect(await take('request')).toMatchObject(asked);
    passedMs += 3_600_001;
    expect(await take('due')).toMatchObject(asked);
    expect(server.requests).toHaveLength(3);
  });

  it('that asks to wait for as long as its schedule does is asked at its next tick, and left alone no longer once it answers', async () => {
    let passedMs = 0;
    const waits: number[] = [];
    const system = systemClock();
    const sleep: typeof system.sleep = async (ms, signal) => {
      if (ms === download.timeoutMs) return system.sleep(ms, signal);
      waits.push(ms);
      passedMs += ms;
    };
    const clock = { ...system, sleep, monotonicMs: () => system.monotonicMs() + passedMs };
    const busy: Answer = (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end();
    const server = await startFileServer({ answer: busy });
    const bench = await open({ clock });
    const take = (trigger: TickTrigger) => bench.take(`${server.origin}/crm.csv`, {}, { trigger });
    expect(await take('due')).toMatchObject({ outcome: 'failed' });
    passedMs = 3_595_000;
    expect(await take('due')).toMatchObject({ outcome: 'failed' });
    expect([server.requests.length, waits.length]).toEqual([2, 1]);

    server.answer = sends('at last');
    expect(await take('request')).toMatchObject({ outcome: 'run' });
    expect(await take('due')).toMatchObject({ outcome: 'nothingNew' });
  });

  it('that asks for minutes is waited for, within the time of a download', async () => {
    const system = systemClock();
    const waits: number[] = [];
    const sleep: typeof system.sleep = (ms, signal) =>
      ms === download.timeoutMs ? system.sleep(ms, signal) : Promise.resolve(void waits.push(ms));
    const bench = await open({ clock: { ...system, sleep } });
    const server = await startFileServer();
    const after = ['120'];
    server.answer = (request, response) => {
      const retryAfter = after.shift();
      if (retryAfter === undefined) sends('at last')(request, response);
      else response.writeHead(503, { 'retry-after': retryAfter }).end();
    };
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
    expect(waits.map((ms) => Math.floor(ms / 1_000))).toEqual([120]);
  });

  it.each([
    ['text/html; charset=utf-8', 'x', 'contentTypeRefused'],
    ['application/pdf', 'x', 'contentTypeRefused'],
    ['text/plain', '\n <!DOCTYPE html><html>', 'contentTypeRefused'],
    ['text/csv', '<?xml version="1.0"?><!DOCTYPE html><html>', 'contentTypeRefused'],
    ['text/csv', '<!-- sign in --><html>', 'contentTypeRefused'],
    ['application/vnd.ms-excel', Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'formatUnknown'],
    ['text/csv', '', 'downloadEmpty'],
  ])('but %s is refused', async (type, content, code) => {
    const [server, bench] = [await startFileServer({ answer: sends(content, { 'content-type': type }) }), await open()];
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'failed', code });
    expect(await bench.runs()).toEqual([]);
    expect(await bench.strays()).toEqual([]);
  });

  it('that asks for more time than there is is told as what it said', async () => {
    const answer: Answer = (_request, response) => response.writeHead(503, { 'retry-after': '60' }).end();
    const server = await startFileServer({ answer });
    const bench = await open({ download: { ...download, privateAddresses: true, timeoutMs: 30_000 } });
    const end = { code: 'urlFailed', message: expect.stringMatching(/answered 503$/) };
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(end);
    expect(server.requests).toHaveLength(1);
  });

  it('is not repeated where it is no type at all', async () => {
    const server = await startFileServer({ answer: sends('x', { 'content-type': 'sent/ann@example.com' }) });
    const message = expect.not.stringContaining('ann');
    expect(await (await open()).take(`${server.origin}/crm.csv`)).toMatchObject({
      code: 'contentTypeRefused',
      message,
    });
  });

  it('with two lengths, or without the encryption that was asked for, is told as such', async () => {
    const bench = await open();
    const lengths = 'content-length: 4\r\ncontent-length: 2\r\n';
    const answer: Answer = ({ socket }) =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\n${lengths}\r\na,b\n`);
    const server = await startFileServer({ answer });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ code: 'notHttp' });
    const { origin } = await startFileServer();
    expect(await bench.take(`${origin.replace('http', 'https')}/crm.csv`)).toMatchObject({ code: 'tlsFailed' });
  });

  it('is told by a host that is not there, or no web server', async () => {
    const bench = await open({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) });
    const unknown = {
      outcome: 'failed',
      code: 'urlUnreachable',
      message: expect.stringMatching(/was not found \(ENOTFOUND\)/),
    };
    expect(await bench.take('http://nowhere.example.com/crm.csv')).toMatchObject(unknown);
    expect(await bench.take('http://127.0.0.1:1/crm.csv')).toMatchObject({
      code: 'urlUnreachable',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    const server = await startFileServer({ answer: ({ socket }) => socket.end('SSH-2.0-x\r\n\r\n') });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ code: 'notHttp' });
  });
});
