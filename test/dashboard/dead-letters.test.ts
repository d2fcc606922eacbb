/** The page of dead letters and its JSON twin. */
import { describe, expect, it } from 'vitest';
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
    expect(text).toContain('205 rows rejected and not settled since; the newest 200 are here');
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
      expect((await bench.page(`/dead-letters?run=${name}`)).text).not.toContain('No dead letters');
    }
  });
});
