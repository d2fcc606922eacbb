/** Where a download may go: never to this machine or the network around it, never with credentials to somebody else. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import { type HostAddress, judgeAddress } from '#src/takes/address-guard.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { otherName, redirectsTo, sends, serverName, startFileServer, testCertificate } from './support/file-server.ts';
import { openTakesBench, type TakesBench } from './support/takes-bench.ts';

const at = (address: string): HostAddress => ({ address, family: address.includes(':') ? 6 : 4 });

/** In these tests 127.0.0.1, where the test's servers are, passes for a public address; all others are what they are. */
function open(download: Partial<TakeParts['download']> = {}, given: Partial<TakeParts> = {}): Promise<TakesBench> {
  return openTakesBench({
    clock: systemClock(),
    download: { ...configSchema.parse({}).download, ...download },
    judge: (address) => address === '127.0.0.1' || judgeAddress(address),
    resolve: async () => [at('127.0.0.1')],
    tls: { ca: testCertificate().cert },
    limits: { retryWaitMs: 1 },
    ...given,
  });
}

const refusedAddress = { outcome: 'failed', code: 'addressRefused' };
const refusedRedirect = { outcome: 'failed', code: 'redirectRefused' };

describe('a URL', () => {
  it('by plain http is refused, unless private addresses are allowed', async () => {
    const server = await startFileServer();
    const bench = await open();
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({
      ...{ outcome: 'failed', code: 'httpsNeeded' },
      plainMessage: expect.stringContaining('without encryption'),
    });
    expect(await bench.take('ftp://files.example.com/crm.csv')).toMatchObject({ code: 'urlInvalid' });
    expect(await bench.take('https://user:secret@files.example.com/crm.csv')).toMatchObject({ code: 'urlInvalid' });
    expect(server.requests).toEqual([]);
    const local = await open({ privateAddresses: true });
    expect(await local.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
  });

  it('to this machine or a private network is refused, in any form', async () => {
    const bench = await openTakesBench({ clock: systemClock() });
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:10.0.0.1]', '169.254.169.254']) {
      expect(await bench.take(`https://${host}/crm.csv`)).toMatchObject(refusedAddress);
    }
    expect(await bench.take('https://localhost/crm.csv')).toMatchObject(refusedAddress);
  });

  it('whose name leads to a private address is refused, also where it has a public one as well', async () => {
    const server = await startFileServer({ tls: true });
    const bench = await open({}, { resolve: async () => [at('127.0.0.1'), at('fd00::1')] });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(refusedAddress);
    expect(server.requests).toEqual([]);
  });

  it('is connected to the address that was checked, whatever its name leads to afterwards', async () => {
    const server = await startFileServer({ tls: true });
    let lookUps = 0;
    const resolve = async () => {
      lookUps += 1;
      return [at(lookUps === 1 ? '127.0.0.1' : '127.0.0.2')];
    };
    const bench = await open({}, { resolve });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ outcome: 'run' });
    expect(lookUps).toBe(1);
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(refusedAddress);
  });
});

describe('a redirect', () => {
  it('on the same host is followed, and so is one to a host that is allowed by name', async () => {
    const [server, other] = [await startFileServer({ tls: true }), await startFileServer({ tls: true })];
    const elsewhere = `https://${otherName}:${other.port}/people.csv`;
    server.answer = (request, response) => redirectsTo(request.url === '/a' ? '/b' : elsewhere, 307)(request, response);
    const strict = await open();
    expect(await strict.take(`${server.origin}/a`)).toMatchObject(refusedRedirect);
    expect(other.requests).toEqual([]);
    const bench = await open({ hosts: [otherName] });
    expect(await bench.take(`${server.origin}/a`)).toMatchObject({ outcome: 'run' });
    expect(await bench.runs()).toMatchObject([{ fileName: 'people.csv' }]);
  });

  it('to this machine or a private network is refused, however it is put', async () => {
    const server = await startFileServer({ tls: true });
    const hosts = ['127.0.0.2', '[::1]', '169.254.169.254', 'internal.example.com', '10.0.0.1'];
    const resolve = async (name: string) => [at(name === serverName ? '127.0.0.1' : '192.168.1.1')];
    const bench = await open({ hosts }, { resolve });
    const targets = [
      'https://127.0.0.2/',
      'https://2130706434/',
      '//[::1]/',
      'https://169.254.169.254/latest/meta-data/',
    ];
    for (const target of [...targets, 'https://internal.example.com/x', 'https://0x0a000001/']) {
      server.answer = redirectsTo(target);
      expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(refusedAddress);
    }
    expect(await bench.runs()).toEqual([]);
  });

  it('to where cloud machines get their credentials is refused, also where private addresses are allowed', async () => {
    const addresses = ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1%eth0', 'fd00:ec2::254'];
    const resolve = async () => [at(addresses.pop() ?? '127.0.0.1')];
    const bench = await open({ privateAddresses: true }, { resolve });
    while (addresses.length > 0) {
      expect(await bench.take('http://files.example.com/crm.csv')).toMatchObject(refusedAddress);
    }
    const server = await startFileServer({ answer: redirectsTo('http://169.254.169.254/latest/') });
    const message = expect.not.stringContaining('download.hosts');
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ ...refusedRedirect, message });
  });

  it('whose name leads elsewhere the second time is refused', async () => {
    const server = await startFileServer({ tls: true, answer: redirectsTo('/again') });
    const answers = ['127.0.0.1', '127.0.0.2'];
    const bench = await open({}, { resolve: async () => [at(answers.shift() ?? '127.0.0.2')] });
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(refusedAddress);
    expect(server.requests).toHaveLength(1);
  });

  it('from https to http, to another kind of address, or to nowhere is refused', async () => {
    const server = await startFileServer({ tls: true });
    for (const allowed of [{}, { privateAddresses: true }]) {
      const bench = await open(allowed);
      for (const target of [`http://${serverName}/x`, 'file:///etc/passwd', 'javascript:1', 'https://[']) {
        server.answer = redirectsTo(target);
        expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject(refusedRedirect);
      }
    }
    server.answer = (_request, response) => response.writeHead(302).end();
    expect(await (await open()).take(`${server.origin}/crm.csv`)).toMatchObject(refusedRedirect);
  });

  it('is followed five times, not six', async () => {
    const server = await startFileServer({ tls: true });
    const bench = await open();
    server.answer = (request, response) => {
      const left = Number(request.url?.slice(1));
      (left > 0 ? redirectsTo(`/${left - 1}`) : sends('found'))(request, response);
    };
    expect(await bench.take(`${server.origin}/5`)).toMatchObject({ outcome: 'run' });
    expect(await bench.take(`${server.origin}/6`)).toMatchObject({ outcome: 'failed', code: 'tooManyRedirects' });
    server.answer = redirectsTo('/crm.csv');
    expect(await bench.take(`${server.origin}/crm.csv`)).toMatchObject({ code: 'tooManyRedirects' });
    expect(server.requests).toHaveLength(18);
  });

  it('never shows the credentials to another origin, nor to the first one once it was left', async () => {
    const [server, other] = [await startFileServer({ tls: true }), await startFileServer({ tls: true })];
    const samePort = `https://${serverName}:${other.port}/x`;
    server.answer = (request, response) => {
      const next = { '/a': '/b', '/b': samePort }[request.url ?? ''];
      (next === undefined ? sends('found') : redirectsTo(next))(request, response);
    };
    other.answer = redirectsTo(`${server.origin}/c`);
    const bench = await open({}, { env: { CRM_AUTHORIZATION: 'Bearer canary' } });
    const end = await bench.take(`${server.origin}/a`, { authorizationVariable: 'CRM_AUTHORIZATION' });
    expect(end).toMatchObject({ outcome: 'run' });
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/a', 'Bearer canary'],
      ['/b', 'Bearer canary'],
      ['/c', undefined],
    ]);
    expect(JSON.stringify(other.requests.map(({ rawHeaders }) => rawHeaders))).not.toContain('canary');
  });

  it('to another origin, which asks for credentials, says that they were kept back', async () => {
    const other = await startFileServer({ tls: true, answer: (_request, response) => response.writeHead(401).end() });
    const server = await startFileServer({ tls: true, answer: redirectsTo(`https://${serverName}:${other.port}/x`) });
    const bench = await open({}, { env: { CRM_AUTHORIZATION: 'Bearer canary' } });
    const take = (variable: string | null) => bench.take(`${server.origin}/a`, { authorizationVariable: variable });
    const refused = { outcome: 'failed', code: 'credentialsRefused' };
    const hint = expect.stringContaining('The credentials were not sent, since a redirect led to another origin');
    expect(await take('CRM_AUTHORIZATION')).toMatchObject({ ...refused, hint });
    expect(await take(null)).toMatchObject({ ...refused, hint: expect.stringContaining('set authorization') });
  });

  it('to another file each day is asked for in full: the marks of yesterday’s are not told', async () => {
    const server = await startFileServer({ tls: true });
    let day = 1;
    server.answer = (request, response) => {
      if (request.url === '/latest') redirectsTo(`/day-${day}.csv?signed=${day}`)(request, response);
      else if (request.headers['if-none-match'] === '"same"') response.writeHead(304).end();
      else sends(`day ${day}`, { etag: '"same"' })(request, response);
    };
    const bench = await open();
    await bench.take(`${server.origin}/latest`);
    expect(await bench.take(`${server.origin}/latest`)).toMatchObject({ code: 'notModified' });
    day = 2;
    expect(await bench.take(`${server.origin}/latest`)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['day 1', 'day 2']);
  });
});
