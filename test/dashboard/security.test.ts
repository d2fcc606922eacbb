/** Who may see the page, and what it lets through (`docs/rules.md`, "Secrets and personal data"). */
import { describe, expect, it } from 'vitest';
import { dashboardBench, deadRow, enterRun, finishedRun, stageRun } from './dashboard-bench.ts';
import { postLogin, sameOrigin } from './post-login.ts';

const token = 'a-long-token-of-24-chars';

describe('markup in data', () => {
  it('is escaped in the name of a file', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench, { fileName: '<script>alert(1)</script>.csv', feed: '"><img src=x>' });
    for (const path of ['/', '/runs', `/runs/${run.id}`]) {
      const { text } = await bench.page(path);
      expect(text, path).toContain('&lt;script&gt;alert(1)&lt;/script&gt;.csv');
      expect(text, path).not.toMatch(/<script|<img/);
    }
  });

  it('is escaped in the message, the hint and the cells of a dead letter', async () => {
    const bench = await dashboardBench();
    const evil = `<svg onload="alert('x')">`;
    const row = { kind: 'object', line: 3, record: 2, object: { [evil]: evil } } as const;
    await finishedRun(bench, [
      deadRow({ message: evil, cell: evil, key: evil }),
      deadRow({
        code: 'other',
        key: 'c-2',
        row,
        answer: { status: 400, code: evil, title: evil, message: evil, trace: evil },
      }),
    ]);
    for (const path of ['/', '/dead-letters']) {
      const { text } = await bench.page(path);
      expect(text, path).toContain('&lt;svg onload=&quot;alert(&#39;x&#39;)&quot;&gt;');
      expect(text, path).not.toContain('<svg');
    }
  });
});

it('characters that turn the direction of text are shown as such, in the name of a file, of a feed and in a cell', async () => {
  const bench = await dashboardBench();
  const turned = '\u202egnp.\u2067csv\u2069';
  const run = await enterRun(bench, { fileName: turned, feed: turned });
  await stageRun(bench, run, { rows: 1, dead: 1 }, [deadRow({ cell: turned, key: turned, message: turned })]);
  const asked = encodeURIComponent(turned);
  for (const path of [
    '/',
    '/runs',
    `/runs?feed=${asked}`,
    `/runs?feed=no${asked}`,
    `/runs/${run.id}`,
    '/dead-letters',
  ]) {
    const { text } = await bench.page(path);
    expect(text, path).toContain('\ufffdgnp.\ufffdcsv\ufffd');
    expect(text, path).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/u);
  }
  expect((await bench.page(`/runs/${run.id}`)).text).toContain('<title>\ufffdgnp.');
  expect((await bench.page('/runs')).text, 'links lead to the feed as it is named').toContain(`feed=${asked}`);
  expect((await bench.json(`/runs/${run.id}`)).body).toMatchObject({ file: turned });
});

describe('every answer', () => {
  it('carries the strict headers, also for pages that are not found, refused or broken', async () => {
    const bench = await dashboardBench();
    const refused = await bench.page('/', { host: 'rebound.example.com' });
    const answers = [await bench.page('/'), await bench.json('/runs'), await bench.page('/nowhere'), refused];
    await bench.ledger.close();
    answers.push(await bench.page('/'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 403, 500]);
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src|unsafe/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it('to a method that an address does not take is a refusal with those that it takes, and 404 where nothing is', async () => {
    const bench = await dashboardBench();
    const ask = (method: string, path: string, headers = {}) =>
      bench.app.request(path, { method, headers: { host: 'localhost', accept: 'application/json', ...headers } });
    for (const [method, path] of [
      ...(['/', '/runs', '/runs/x', '/feeds', '/dead-letters', '/healthz', '/readyz', '/metrics'] as const).map(
        (one) => ['POST', one] as const,
      ),
      ...[['DELETE', '/runs'] as const, ['PUT', '/style.css'] as const],
    ]) {
      const response = await ask(method, path);
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
      expect(await response.json()).toMatchObject({ error: { code: 'methodNotAllowed' } });
    }
    expect((await ask('POST', '/nowhere')).status).toBe(404);
    expect((await ask('HEAD', '/runs')).status).toBe(200);
    const withToken = await dashboardBench({ token });
    const known = { host: 'localhost', authorization: `Bearer ${token}` };
    const login = await withToken.app.request('/login', { method: 'PUT', headers: known });
    expect([login.status, login.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    const unknown = await withToken.app.request('/runs', { method: 'DELETE', headers: { host: 'localhost' } });
    expect(unknown.status).toBe(401);
  });

  it('needs no script and no inline style', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow()]);
    for (const path of ['/', '/runs', '/dead-letters']) {
      const { text } = await bench.page(path);
      expect(text).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/);
      const [, href] = /<link rel="stylesheet" href="([^"]+)">/.exec(text) ?? [];
      const style = await bench.page(href ?? '');
      expect([style.status, style.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    }
  });
});

describe('without a token', () => {
  it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:8080', '127.0.0.2', '[::1]:8080', '[::1]'])(
    'the host %s is answered',
    async (host) => {
      expect((await (await dashboardBench()).page('/', { host })).status).toBe(200);
    },
  );

  it.each([
    'patchbay.example.com',
    '127.0.0.1.example.com',
    '128.0.0.1',
    'localhost.example.com:8080',
    'localhost@example.com',
    '192.0.2.7:8080',
    'localhost:',
    '',
  ])('the host "%s" is refused, so that no name can be pointed at this machine', async (host) => {
    const bench = await dashboardBench();
    for (const path of ['/', '/dead-letters', '/readyz', '/metrics']) {
      const { status, body } = await bench.json(path, { host });
      expect([path, status, body.error.code]).toEqual([path, 403, 'foreignHost']);
    }
  });

  it('there is nothing to log in to', async () => {
    const bench = await dashboardBench();
    const response = await bench.app.request('/login', {
      method: 'POST',
      headers: { host: 'localhost', ...sameOrigin },
    });
    expect(response.status).toBe(404);
  });
});

describe('with a token', () => {
  const closed = ['/', '/runs', '/runs/x', '/dead-letters', '/metrics', '/nowhere'];

  it('nothing but the probes is open to those who do not know it', async () => {
    const bench = await dashboardBench({ token });
    await finishedRun(bench, [deadRow()]);
    for (const path of closed) {
      for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${token}`, `Bearer ${token}x`]) {
        const { status, body, text } = await bench.json(path, { authorization });
        expect([path, status, body.error.code]).toEqual([path, 401, 'tokenNeeded']);
        expect(text).not.toContain('crm.csv');
      }
      expect((await bench.page(path)).text).toContain('<form method="post" action="/login"');
    }
    for (const path of ['/healthz', '/readyz']) expect((await bench.page(path)).status).toBe(200);
  });

  it('the bearer header opens every page, under any host', async () => {
    const bench = await dashboardBench({ token });
    const headers = { authorization: `Bearer ${token}`, host: 'patchbay.example.com' };
    for (const path of ['/', '/runs', '/dead-letters', '/metrics']) {
      expect((await bench.page(path, headers)).status, path).toBe(200);
    }
  });
});

describe('the log', () => {
  it('holds neither token nor cells nor what was asked for', async () => {
    const bench = await dashboardBench({ token });
    const canary = '+1 415 555 0199';
    const run = await finishedRun(bench, [deadRow({ cell: canary, message: `${canary} is no phone number` })]);
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/', '/runs', `/runs/${run.id}`, '/dead-letters', `/runs/${encodeURIComponent(canary)}`]) {
      await bench.page(path, headers);
    }
    await postLogin(bench, `${token}x`, sameOrigin);
    await postLogin(bench, token, sameOrigin);
    await postLogin(bench, token, {});
    await bench.ledger.close();
    expect((await bench.page('/dead-letters', headers)).status).toBe(500);
    const log = bench.logLines.join('');
    expect(bench.logLines.map((line) => JSON.parse(line).msg)).toEqual([
      'page action refused',
      'page action',
      'page action refused',
      'page failed',
    ]);
    for (const word of [token, canary, '5550199', '555 0199', 'Ada', 'crm.csv']) expect(log).not.toContain(word);
  });
});
