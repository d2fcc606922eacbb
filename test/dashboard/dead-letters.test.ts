/** The page of dead letters and its JSON twin. */
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fixFilePath } from '#src/runs/fix/fix-file.ts';
import { dashboardBench, deadRow, enterRun, finishedRun, stageRun } from './dashboard-bench.ts';

describe('the dead letters', () => {
  it('are listed with message, hint and the cells of their row', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow({ cell: 'CALL +1 415 555 0101' })]);
    const { text } = await bench.page('/dead-letters');
    expect(text).toContain('phone mobile is not a phone number');
    expect(text).toContain('Write the number with its country code');
    expect(text).toContain('<dt><bdi>phone mobile</bdi></dt><dd><bdi>CALL +1 415 555 0101</bdi></dd>');
    expect(text).toContain('line 3');
  });

  it('name all that is wrong with their row, each with what to do', async () => {
    const bench = await dashboardBench();
    const row = deadRow();
    const [first] = row.problems;
    if (first === undefined) throw new Error('the row has a problem');
    const second = { ...first, code: 'emailInvalid', field: '<email>', message: 'no @ in it', hint: 'Write one @.' };
    await finishedRun(bench, [{ ...row, problems: [first, second] }]);
    const { text } = await bench.page('/dead-letters');
    expect(text).toMatch(/<li><p><code>phoneLetters<\/code>[\s\S]*Write the number with its country code/);
    expect(text).toMatch(/<code>emailInvalid<\/code> <bdi>&lt;email&gt;<\/bdi>: <bdi>no @ in it<[\s\S]*Write one @\./);
    expect(text.match(/phone mobile is not a phone number/g)).toHaveLength(1);
  });

  it('show a JSON row and what the service answered', async () => {
    const bench = await dashboardBench();
    const answer = {
      status: 400,
      code: '0000400',
      title: 'Bad Request',
      message: 'role is too long',
      trace: 'trace-7',
    };
    const row = { kind: 'object', line: 3, record: 2, object: { firstName: 'Grace' } } as const;
    await finishedRun(bench, [deadRow({ class: 'refused', code: 'refused', answer, row })]);
    const { text } = await bench.page('/dead-letters');
    expect(text).toContain('&quot;firstName&quot;: &quot;Grace&quot;');
    expect(text).toMatch(/The service answered 400 Bad Request.*role is too long.*trace-7/);
  });

  it('of a run that a guard stopped are in no fix-file yet: the page says so, and names the run', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    expect((await bench.page('/dead-letters')).text).not.toContain('in no fix-file yet');
    const second = await enterRun(bench, { id: '20261121T140100Z-00000b' });
    await stageRun(bench, second, { rows: 1, dead: 1, deadNew: 1 }, [deadRow({ key: 'c-stopped' })]);
    await bench.ledger.runs.move(second.id, ['staging'], 'stopped', { atMs: 1 });
    const { text } = await bench.page('/dead-letters');
    expect(text).toMatch(new RegExp(`/runs/${second.id}"><code>${second.id}</code></a> is stopped by a guard`));
    expect(text.match(/in no fix-file yet/g)).toHaveLength(1);
    expect(text).not.toContain(`<code>${run.id}</code></a> is stopped`);
  });

  it('of a run whose rows a newer run has rejected again are not listed under it: the page says where they are', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    expect((await bench.page(`/dead-letters?run=${run.id}`)).text).not.toContain('has its dead letter now');
    const second = await enterRun(bench, { id: '20261121T140100Z-00000b' });
    await stageRun(bench, second, { rows: 1, dead: 1 }, [deadRow()]);
    const { text } = await bench.page(`/dead-letters?run=${run.id}`);
    expect(text).toMatch(
      /This run rejected 1 row, [^<]* has its dead letter now\. <a href="\/dead-letters\?feed=main">/,
    );
    expect(text).not.toContain('No such dead letters');
  });

  it('of a run whose fix-file is gone can be written anew: the page has the command, and so has that of the run', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    expect((await bench.page('/dead-letters')).text).not.toContain('is not there any more');
    await rm(fixFilePath(run));
    const advised = `<code>patchbay dead export --run ${run.id}</code>`;
    expect((await bench.page('/dead-letters')).text).toContain(
      `is not there any more. Write its open rows anew: ${advised}`,
    );
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text).toContain(advised);
    expect(text, 'no report is there, either').not.toContain('<dt>Report</dt>');
  });

  it('have the keys of dead ls --json as their twin', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    const { body } = await bench.json('/dead-letters');
    expect(body).toEqual([
      {
        id: expect.stringMatching(/^d[0-9a-f]{12}$/),
        run: run.id,
        feed: 'main',
        file: 'crm.csv',
        line: 3,
        key: 'c-1',
        class: 'invalid',
        code: 'phoneLetters',
        field: 'phone mobile',
        message: 'phone mobile is not a phone number',
        attempts: 0,
        seen: 1,
        state: 'open',
        firstAt: '2026-11-21T14:00:00.000Z',
        lastAt: '2026-11-21T14:00:00.000Z',
      },
    ]);
  });

  it('are at most 200 on the page, which says how many there are', async () => {
    const bench = await dashboardBench();
    await finishedRun(
      bench,
      Array.from({ length: 205 }, (_, index) => deadRow({ key: `c-${index}` })),
    );
    const { text } = await bench.page('/dead-letters');
    expect(text.match(/<article/g)).toHaveLength(200);
    expect(text).toContain('205 open dead letters, one for each key and reason; the newest 200 are here');
    expect((await bench.json('/dead-letters')).body).toHaveLength(200);
  });

  it('that are none make an empty page that says what would be here', async () => {
    const bench = await dashboardBench();
    expect((await bench.page('/dead-letters')).text).toContain('No dead letters.');
    expect((await bench.json('/dead-letters')).body).toEqual([]);
  });

  it('are those of a run by its id or the end of it; a run that is not there is no empty list', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    for (const name of [run.id, run.id.slice(-6)]) {
      const { body } = await bench.json(`/dead-letters?run=${name}`);
      expect(body, name).toMatchObject([{ run: run.id }]);
    }
    for (const name of ['nosuch', run.id.slice(-3)]) {
      const { status, body } = await bench.json(`/dead-letters?run=${name}`);
      expect([status, body.error.code]).toEqual([400, 'noSuchRun']);
      const page = await bench.page(`/dead-letters?run=${name}`);
      expect(page.status).toBe(400);
      expect(page.text).not.toContain('No dead letters');
      expect(page.text, 'the form has what was asked for').toContain(`name="run" value="${name}"`);
      expect(page.text).toContain('aria-current="page">Dead letters</a>');
      expect(page.text).toMatch(/There is no run [\s\S]*<a href="\/runs">Runs<\/a> lists all known runs/);
      expect(page.text).not.toContain('patchbay runs ls');
    }
  });

  it('are those of a run whose id was pasted with blanks around it', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    const { status, text } = await bench.page(`/dead-letters?run=%20${run.id}+&feed=+&code=`);
    expect([status, text.match(/<article/g)?.length]).toEqual([200, 1]);
    expect(text).toContain(`name="run" value="${run.id}"`);
  });

  it('of a feed that is none are no empty list alone: the page says which one may be meant', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow()]);
    const { text } = await bench.page('/dead-letters?feed=Maim&code=phoneLetters');
    expect(text).toMatch(
      /There is no feed "<bdi>Maim<\/bdi>": did you mean <a href="\/dead-letters\?code=phoneLetters&amp;feed=main"><bdi>main</,
    );
    expect((await bench.page('/dead-letters?feed=main&state=closed')).text).not.toContain('There is no feed');
  });
});

describe('the head of the dead letters', () => {
  const wholeHead = 'one for each key and reason';
  const threeLetters = async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow(), deadRow({ key: 'c-2', code: 'other' }), deadRow({ key: 'c-3' })]);
    const letters = await bench.ledger.deadLetters.list({ limit: 9 });
    const idOf = (key: string): string => letters.find((letter) => letter.key === key)?.id ?? '';
    const drop = (id: string) =>
      bench.ledger.deadLetters.drop(
        { ids: [id] },
        { kind: 'deadDrop', who: 'ann', by: 'command', atMs: 1, ledgerAtMs: 1, reason: null, facts: {} },
      );
    return { ...bench, letters, idOf, drop };
  };
  const headOf = (text: string): string => /<h1>Dead letters<\/h1>([\s\S]*?)(<article|<\/main)/.exec(text)?.[1] ?? '';

  it('counts all that are open, and tells of a list that is cut at one', async () => {
    const { page } = await threeLetters();
    expect(headOf((await page('/dead-letters')).text)).toContain(`3 open dead letters, ${wholeHead}. Fix the row`);
    expect(headOf((await page('/dead-letters?limit=1')).text)).toContain(
      `3 open dead letters, ${wholeHead}; the newest one is here.`,
    );
  });

  it('of a later part says which it follows, and not that these are the newest', async () => {
    const { page, letters } = await threeLetters();
    const first = letters[0]?.id ?? '';
    const head = headOf((await page(`/dead-letters?limit=1&after=${first}`)).text);
    expect(head).toContain(`The next open dead letter, after <code>${first}</code>.`);
    expect(head).not.toContain('newest');
    const last = headOf((await page(`/dead-letters?after=${letters.at(-1)?.id}`)).text);
    expect(last).toMatch(/No such dead letters\.[\s\S]*3 open dead letters: <a href="\/dead-letters">/);
  });

  it('of dropped letters says what dropping means, and their cards that they are dropped', async () => {
    const { page, idOf, drop } = await threeLetters();
    await drop(idOf('c-2'));
    const { text } = await page('/dead-letters?state=dropped');
    expect(headOf(text)).toMatch(/1 dropped dead letter\. A person has dropped them: nothing is done for these rows/);
    expect(headOf(text)).not.toContain('a success closes the letter');
    expect(text).toContain('<span class="pill quiet">dropped</span>');
    expect(text).not.toContain('in no fix-file yet');
    const all = await page('/dead-letters?state=all');
    expect(headOf(all.text)).toContain('3 dead letters. Of those that are open, fix the row');
    expect(all.text.match(/pill quiet">dropped/g)).toHaveLength(1);
  });

  it('of a choice says what was chosen, and how many are open beside it', async () => {
    const { page } = await threeLetters();
    const head = headOf((await page('/dead-letters?code=other&feed=main')).text);
    expect(head).toContain('1 open dead letter with the code <code>other</code> of the feed <bdi>main</bdi>.');
    expect(head).toMatch(/3 open dead letters: <a href="\/dead-letters">all that are open<\/a>/);
    const none = headOf((await page('/dead-letters?code=nothing')).text);
    expect(none).toMatch(/No such dead letters\.[\s\S]*3 open dead letters: /);
    expect(none).not.toContain('No dead letters.');
  });

  it('says no more than that there are none where nothing is open', async () => {
    const { page } = await dashboardBench();
    const head = headOf((await page('/dead-letters?state=dropped')).text);
    expect(head).toContain('No such dead letters.');
    expect(head).not.toContain('not settled since');
  });
});

describe('notices that could not be delivered', () => {
  const deadNotices = async (count: number) => {
    const bench = await dashboardBench();
    const atMs = bench.parts.clock.nowMs();
    const ids = Array.from({ length: count }, (_, index) => `n${index}`);
    const notice = { kind: 'notice', type: 'feed.bad', feed: 'crm@slack', data: {}, atMs } as const;
    await bench.ledger.deliveries.setCondition(
      { feed: 'crm', troubles: ['guard'], sinceMs: atMs },
      ids.map((id) => ({ ...notice, id })),
    );
    const why = { code: 'slackFailed', message: 'Slack answered 503' };
    for (const id of ids) await bench.ledger.deliveries.tried(id, atMs, { state: 'dead', why });
    return bench;
  };

  it('are listed on the page of dead letters as by dead ls, also where no row was rejected', async () => {
    const bench = await deadNotices(1);
    const { text } = await bench.page('/dead-letters');
    expect(text).toContain('1 notice could not be delivered');
    expect(text).toMatch(
      /<code>n0<\/code>[\s\S]*feed\.bad[\s\S]*crm[\s\S]*slack[\s\S]*Slack answered 503 <code>slackFailed/,
    );
    expect(text).toContain('patchbay dead retry ID');
    expect(text).not.toContain('No dead letters');
    await finishedRun(bench, [deadRow()]);
    expect((await bench.page('/dead-letters')).text).toMatch(/1 open dead letter, one[\s\S]*1 notice could not/);
    expect((await bench.page('/dead-letters?state=dropped')).text).not.toContain('could not be delivered');
  });

  it('are told on a page of letters that leave no room for them, with the way to them', async () => {
    const bench = await deadNotices(2);
    await finishedRun(bench, [deadRow(), deadRow({ key: 'c-2' })]);
    const { text } = await bench.page('/dead-letters?limit=1');
    expect(text).toMatch(/2 notices could not be delivered\.[^<]*<a href="\/dead-letters\?code=slackFailed#notices">/);
    const { text: listed } = await bench.page('/dead-letters?code=slackFailed&limit=1');
    expect(listed).toContain('1 notice or more could not be delivered');
    expect((await bench.page('/dead-letters?limit=1&feed=crm')).text).not.toContain('2 notices');
  });

  it('are told on the first page, with the way to each kind of them', async () => {
    const { text } = await (await deadNotices(25)).page('/');
    expect(text).toMatch(/25 notices could not be delivered\.[^<]*<a href="\/dead-letters\?code=slackFailed#notices">/);
    expect((await (await dashboardBench()).page('/')).text).not.toContain('could not be delivered');
  });

  it('are told on the first page while they are still tried: who accepts none, since when, why, and what tries it now', async () => {
    const bench = await dashboardBench();
    const atMs = bench.parts.clock.nowMs();
    const notice = { kind: 'notice', type: 'feed.bad', feed: 'crm@slack', data: {}, atMs } as const;
    await bench.ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: atMs }, [
      { ...notice, id: 'n1' },
      { ...notice, id: 'n2' },
    ]);
    expect((await bench.page('/')).text).not.toContain('not accepted');
    const why = { code: 'slackFailed', message: 'Slack answered 503 <down>' };
    await bench.ledger.deliveries.tried('n1', atMs, { state: 'waiting', why, nextDueAtMs: atMs + 60_000 });
    const { text } = await bench.page('/');
    expect(text).toMatch(
      /2 notices not accepted by slack<\/strong> since [\s\S]*Slack answered 503 &lt;down&gt;[\s\S]*next try/,
    );
    expect(text).toContain('patchbay dead retry n1');
    expect(text).not.toContain('could not be delivered');
  });

  it('follow the letters, and are paged with them by the last id of a page', async () => {
    const bench = await deadNotices(5);
    await finishedRun(bench, [deadRow(), deadRow({ key: 'c-2' })]);
    const seen: string[] = [];
    const sizes: number[] = [];
    let path: string | undefined = '/dead-letters?limit=3';
    // Ends with the page that has no next one.
    while (path !== undefined) {
      const { body } = await bench.json(path);
      seen.push(...body.map(({ id }: { readonly id: string }) => id));
      sizes.push(body.length);
      const { text } = await bench.page(path);
      const next = /<a href="([^"]+)">Next dead letters/.exec(text)?.[1];
      path = next?.replaceAll('&amp;', '&');
      if (path === undefined) expect(text).toContain('1 notice could not be delivered');
    }
    expect(sizes).toEqual([3, 3, 1]);
    expect(seen.slice(0, 2)).toEqual([expect.stringMatching(/^d/), expect.stringMatching(/^d/)]);
    expect(seen.slice(2)).toEqual(['n4', 'n3', 'n2', 'n1', 'n0']);
  });
});
