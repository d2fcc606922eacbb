/** The login: what it lets through, where it leads, and what it refuses (`docs/rules.md`, "Secrets and personal data"). */
import { describe, expect, it } from 'vitest';
import { createDashboard } from '#src/dashboard/dashboard-app.ts';
import type { DashboardParts } from '#src/dashboard/parts.ts';
import { placeAfterLogin } from '#src/dashboard/place-after-login.ts';
import { answerOf, type DashboardBench, dashboardBench, finishedRun } from './dashboard-bench.ts';
import { postLogin, sameOrigin } from './post-login.ts';

const token = 'a-long-token-of-24-chars';

describe('a login', () => {
  it('a login sets a cookie that opens the page, does not hold the token, and ends after half a day', async () => {
    const bench = await dashboardBench({ token });
    const login = await postLogin(bench, token, sameOrigin);
    expect([login.status, login.headers.get('location')]).toEqual([303, '/']);
    const setCookie = login.headers.get('set-cookie') ?? '';
    expect(setCookie).toMatch(/; Path=\/;/);
    expect(setCookie).toMatch(/; HttpOnly/);
    expect(setCookie).toMatch(/; SameSite=Lax/);
    expect(setCookie).not.toContain(token);
    const cookie = setCookie.split(';')[0] ?? '';
    expect((await bench.page('/', { cookie })).status).toBe(200);
    bench.advance(12 * 60 * 60 * 1_000);
    expect((await bench.page('/', { cookie })).status).toBe(401);
  });

  const sessionCookie = async (bench: DashboardBench, given: string): Promise<string> => {
    const [cookie = ''] = (await postLogin(bench, given, sameOrigin)).headers.getSetCookie();
    return cookie.split(';')[0] ?? '';
  };
  const nameOf = (cookie: string): string => cookie.split('=')[0] ?? '';

  it('a cookie made by somebody else, or for another token, opens nothing', async () => {
    const bench = await dashboardBench({ token });
    const name = nameOf(await sessionCookie(bench, token));
    const otherToken = 'another-token-of-24-char';
    const before = createDashboard({ ...bench.parts, token: otherToken });
    const foreign = await sessionCookie({ ...bench, app: before }, otherToken);
    expect(nameOf(foreign)).toBe(name);
    const later = foreign.replace(/=\d/, '=9');
    for (const cookie of [foreign, later, `${name}=`, `${name}=${token}`]) {
      expect((await bench.page('/', { cookie })).status, cookie).toBe(401);
    }
  });

  it('two installations on one machine keep both sessions, and neither opens the other, even with one token', async () => {
    const berlin = await dashboardBench({ token });
    const boston = await dashboardBench({ token });
    const cookies = [await sessionCookie(berlin, token), await sessionCookie(boston, token)];
    const [ofBerlin = '', ofBoston = ''] = cookies;
    // A browser keeps one cookie of each name for a host, whatever its port, and sends all of them.
    const kept = [...new Map(cookies.map((cookie) => [nameOf(cookie), cookie])).values()].join('; ');
    for (const bench of [berlin, boston]) expect((await bench.page('/', { cookie: kept })).status).toBe(200);
    const renamed = ofBerlin.replace(nameOf(ofBerlin), nameOf(ofBoston));
    for (const cookie of [ofBerlin, renamed]) expect((await boston.page('/', { cookie })).status, cookie).toBe(401);
  });

  it('a session outlasts a restart, and hosts that share a ledger have sessions of their own', async () => {
    const bench = await dashboardBench({ token });
    const cookie = await sessionCookie(bench, token);
    const pageOf = async (parts: DashboardParts) => {
      const response = await createDashboard(parts).request('/', { headers: { host: 'localhost', cookie } });
      return response.status;
    };
    expect(await pageOf(bench.parts)).toBe(200);
    const host = { id: 'h0123456789ab', name: 'berlin-2:/srv/patchbay' };
    expect(await pageOf({ ...bench.parts, host })).toBe(401);
  });

  it('a wrong token is told so', async () => {
    const { status, headers } = await postLogin(await dashboardBench({ token }), 'wrong', sameOrigin);
    expect([status, headers.get('set-cookie')]).toEqual([401, null]);
  });

  it('a login from another site is refused, even with the right token', async () => {
    const bench = await dashboardBench({ token });
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site', origin: 'https://patchbay.example.com' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example.org' },
      { origin: 'null' },
      {},
    ];
    for (const headers of foreign) {
      const { status, headers: answered } = await postLogin(bench, token, headers);
      expect([status, answered.get('set-cookie')], JSON.stringify(headers)).toEqual([403, null]);
    }
  });

  it('a browser that tells no site is believed when Origin and Host agree', async () => {
    const bench = await dashboardBench({ token });
    for (const origin of ['https://patchbay.example.com', 'http://patchbay.example.com']) {
      expect((await postLogin(bench, token, { origin })).status).toBe(303);
    }
  });

  it('a form that is too large is refused unread', async () => {
    const { status } = await postLogin(await dashboardBench({ token }), 'x'.repeat(5_000), sameOrigin);
    expect(status).toBe(413);
  });

  it.each([
    ['multipart/form-data; boundary=x', 'garbage'],
    ['multipart/form-data', '--x--'],
    ['application/json', `{"token":"${token}"}`],
    ['', `token=${token}`],
  ])('form of the type "%s" that cannot be read is refused in words, and is no error of ours', async (type, body) => {
    const bench = await dashboardBench({ token });
    const headers = { host: 'localhost', accept: 'application/json', 'content-type': type, ...sameOrigin };
    const answer = await answerOf(await bench.app.request('/login', { method: 'POST', headers, body }));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'formUnreadable']);
    expect(bench.logLines.map((line) => JSON.parse(line).level)).toEqual(['warn']);
  });

  it('form that is too large, and does not say so before, is refused unread', async () => {
    const bench = await dashboardBench({ token });
    const body = new ReadableStream({
      start: (to) => {
        for (let part = 0; part < 5; part += 1) to.enqueue(Buffer.alloc(1_000, 'x'));
        to.close();
      },
    });
    const headers = { host: 'localhost', 'content-type': 'application/x-www-form-urlencoded', ...sameOrigin };
    const request = new Request('http://localhost/login', { method: 'POST', headers, body, duplex: 'half' });
    expect((await bench.app.request(request)).status).toBe(413);
  });
});

describe('the place after a login', () => {
  /** Logs in from the form that this address answers with. */
  async function loginFrom(bench: DashboardBench, path: string, given = token) {
    const { status, text } = await bench.page(path);
    expect(status).toBe(401);
    const [, next = ''] = /<input type="hidden" name="next" value="([^"]*)">/.exec(text) ?? [];
    return await postLogin(bench, given, sameOrigin, { next: next.replaceAll('&amp;', '&') });
  }

  it('is the page that was asked for, as by the link of a notice', async () => {
    const bench = await dashboardBench({ token });
    const run = await finishedRun(bench, []);
    for (const path of [`/runs/${run.id}`, '/feeds', '/dead-letters?code=a%20b&state=all', '/runs?limit=2', '/']) {
      const { status, headers } = await loginFrom(bench, path);
      expect([status, headers.get('location')]).toEqual([303, path]);
    }
  });

  it('is still that one after a wrong token', async () => {
    const wrong = await loginFrom(await dashboardBench({ token }), '/feeds', 'wrong');
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('name="next" value="/feeds"');
  });

  it.each([
    [
      '//evil.example.com',
      '//evil.example.com/runs',
      '///evil.example.com',
      '/\\evil.example.com',
      '\\\\evil.example.com',
    ],
    ['https://evil.example.com/', 'https:evil.example.com', 'javascript:alert(1)', 'data:text/html,x'],
    ['/\t/evil.example.com', '/\n/evil.example.com', '/runs\r\nset-cookie: a=b', ' /runs', '/runs\u0000'],
    [
      '/runs/..//evil.example.com',
      '/runs/../..//evil.example.com',
      '/./%2e/..//evil.example.com',
      '/.//evil.example.com',
    ],
    ['runs', '', '.', '?x', '/login', '/metrics', '/nowhere', '/runs/a/b', '/\u00e9', `/runs?${'x'.repeat(1_000)}`],
  ])('is the overview in place of whatever is no page of ours: %j and more', async (...places) => {
    const bench = await dashboardBench({ token });
    for (const next of places) {
      expect(placeAfterLogin(next), next).toBe('/');
      const { headers } = await postLogin(bench, token, sameOrigin, { next });
      if (next.length < 1_000) expect(headers.get('location'), next).toBe('/');
    }
    for (const next of [undefined, null, 7]) expect(placeAfterLogin(next)).toBe('/');
  });
});

describe('a link from elsewhere', () => {
  it('opens its page for a person who is logged in', async () => {
    const bench = await dashboardBench({ token });
    const run = await finishedRun(bench, []);
    const login = await postLogin(bench, token, sameOrigin);
    // A browser sends a cookie that is `Lax` along with a link of another site.
    expect(login.headers.get('set-cookie')).toContain('; SameSite=Lax');
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { status } = await bench.page(`/runs/${run.id}`, { cookie, 'sec-fetch-site': 'cross-site' });
    expect(status).toBe(200);
  });
});
