/** The login: what it lets through, where it leads, and what it refuses (`docs/rules.md`, "Secrets and personal data"). */
import { describe, expect, it } from 'vitest';
import { createDashboard } from '#src/dashboard/dashboard-app.ts';
import { placeAfterLogin } from '#src/dashboard/login.ts';
import type { DashboardParts } from '#src/dashboard/parts.ts';
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

describe('the session cookie', () => {
  const cookieOf = async (bench: DashboardBench, headers: Record<string, string>) =>
    (await postLogin(bench, token, { ...sameOrigin, ...headers })).headers.get('set-cookie') ?? '';
  /** Its `page.address` is https. */
  const publicBench = async (): Promise<DashboardBench> => {
    const bench = await dashboardBench({ token });
    const config = {
      ...bench.parts.config,
      page: { ...bench.parts.config.page, address: 'https://patchbay.example.com' },
    };
    return { ...bench, app: createDashboard({ ...bench.parts, config }) };
  };

  it('is sent by https alone where the page was opened by https', async () => {
    const bench = await publicBench();
    expect(await cookieOf(bench, { origin: 'https://patchbay.example.com' })).toMatch(/; Secure/);
    expect(await cookieOf(bench, {})).toMatch(/; Secure/);
    const plain = await dashboardBench({ token });
    expect(await cookieOf(plain, { origin: 'https://patchbay.example.com' })).toMatch(/; Secure/);
  });

  it('works by plain http, on this machine beside a proxy and where no address is configured', async () => {
    const bench = await publicBench();
    const host = 'localhost:8080';
    expect(await cookieOf(bench, { host, origin: `http://${host}` })).not.toContain('Secure');
    expect(await cookieOf(bench, { host })).not.toContain('Secure');
    expect(await cookieOf(await dashboardBench({ token }), {})).not.toContain('Secure');
  });
});

describe('a log-out', () => {
  const postLogout = (bench: DashboardBench, headers: Record<string, string>) =>
    bench.app.request('/logout', { method: 'POST', headers: { host: 'patchbay.example.com', ...headers } });

  it('takes the cookie from the browser, leads to the login, and is in the log', async () => {
    const bench = await dashboardBench({ token });
    const login = await postLogin(bench, token, sameOrigin);
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const logout = await postLogout(bench, { ...sameOrigin, cookie });
    expect([logout.status, logout.headers.get('location')]).toEqual([303, '/login']);
    expect(logout.headers.get('set-cookie')).toMatch(/^patchbay_session_\w+=; Max-Age=0; Path=\//);
    expect(logout.headers.get('set-cookie')).toContain(cookie.split('=')[0]);
    expect(bench.logLines.map((line) => JSON.parse(line).action)).toEqual(['login', 'logout']);
  });

  it('is refused to other sites, and to any other method', async () => {
    const bench = await dashboardBench({ token });
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://elsewhere.example.org' }, {}]) {
      const { status, headers: answered } = await postLogout(bench, headers as Record<string, string>);
      expect([status, answered.get('set-cookie')], JSON.stringify(headers)).toEqual([403, null]);
    }
    const got = await bench.page('/logout', { authorization: `Bearer ${token}` });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('is a button of every page where there is a token, and of none where there is not', async () => {
    const bench = await dashboardBench({ token });
    for (const path of ['/', '/runs', '/feeds', '/dead-letters']) {
      const { text } = await bench.page(path, { authorization: `Bearer ${token}` });
      expect(text, path).toMatch(/<form method="post" action="\/logout"[^>]*><button type="submit">Log out/);
      // Without it the form's request has no Origin.
      expect(text, path).toContain('<meta name="referrer" content="same-origin">');
    }
    const { text } = await (await dashboardBench()).page('/');
    expect(text).not.toContain('/logout');
  });
});

describe('a wrong token', () => {
  /** With what it slept. */
  const guessBench = async () => {
    const slept: number[] = [];
    const bench = await dashboardBench({ token });
    const sleep = async (ms: number): Promise<void> => void slept.push(ms);
    const app = createDashboard({ ...bench.parts, clock: { ...bench.parts.clock, sleep } });
    const ask = async (headers: Record<string, string>) =>
      (await app.request('/runs', { headers: { host: 'localhost', ...headers } })).status;
    const bearer = (given: string) => ask({ authorization: `Bearer ${given}` });
    return { ...bench, app, slept, ask, bearer };
  };
  const refusedLines = ({ logLines }: DashboardBench) =>
    logLines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'page action refused')
      .map(({ action, code, leftOut }) => [action, code, leftOut]);

  it('is answered after a second, and a right one, a session and a request without one at once', async () => {
    const bench = await guessBench();
    expect(await bench.bearer('wrong')).toBe(401);
    await postLogin(bench, 'wrong', sameOrigin);
    expect(bench.slept).toEqual([1_000, 1_000]);
    const login = await postLogin(bench, token, sameOrigin);
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect([await bench.bearer(token), await bench.ask({ cookie }), await bench.ask({})]).toEqual([200, 200, 401]);
    expect(bench.slept).toHaveLength(2);
  });

  it('is in the log, with one line in ten seconds and the number of those left out', async () => {
    const bench = await guessBench();
    for (let time = 0; time < 40; time += 1) await postLogin(bench, `wrong-${time}`, sameOrigin);
    await bench.bearer('wrong');
    await bench.bearer('wrong');
    await bench.ask({});
    expect(refusedLines(bench)).toEqual([
      ['login', 'wrongToken', undefined],
      ['bearer', 'wrongToken', undefined],
    ]);
    bench.advance(10_000);
    await postLogin(bench, 'wrong', sameOrigin);
    await bench.bearer('wrong');
    expect(refusedLines(bench).slice(2)).toEqual([
      ['login', 'wrongToken', 39],
      ['bearer', 'wrongToken', 1],
    ]);
  });
});

describe('the address of the login', () => {
  it('leads on where the token is known, and asks for it in JSON with 401', async () => {
    const bench = await dashboardBench({ token });
    const known = await bench.json('/login', { authorization: `Bearer ${token}` });
    expect([known.status, known.headers.get('location')]).toEqual([303, '/']);
    const { status, body } = await bench.json('/login');
    expect([status, body.error.code]).toEqual([401, 'tokenNeeded']);
    expect((await bench.page('/login')).status).toBe(200);
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
