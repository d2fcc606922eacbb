/** The pages of runs, and their JSON twins. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HeldField } from '#src/contacts/outcome.ts';
import { heldEvent } from '#src/ledger/rules/events.ts';
import {
  type DashboardBench,
  dashboardBench,
  deadRow,
  enterRun,
  finishedRun,
  stageRun,
  startMs,
} from './dashboard-bench.ts';

async function writeReportFile(bench: DashboardBench, runId: string, problemCount: number): Promise<void> {
  const problems = Array.from({ length: problemCount }, (_, index) => ({
    line: index + 2,
    code: 'phoneLetters',
    field: 'phone mobile',
    value: `cell ${index + 2}`,
    hint: 'Write digits.',
  }));
  await mkdir(bench.parts.runFolders.reports, { recursive: true });
  await writeFile(join(bench.parts.runFolders.reports, `${runId}.json`), JSON.stringify({ run: runId, problems }));
}

const importKeys = [
  ['run', 'feed', 'file', 'service', 'state', 'rows', 'created', 'updated', 'unchanged', 'skipped'],
  ...['moved', 'dead', 'pending'],
  [
    'adopted',
    'linked',
    'deleted',
    'heldFields',
    'removedValues',
    'deadNew',
    'warnings',
    'missing',
    'drift',
    'requests',
    'seconds',
    'fixFile',
    'report',
  ],
  ['exitCode'],
].flat();

describe('the runs', () => {
  it('are listed newest first, as a page and as an array with the keys of import --json', async () => {
    const bench = await dashboardBench();
    await enterRun(bench, { id: '20261121T130000Z-00000a', fileName: 'first.csv' });
    await enterRun(bench, { id: '20261121T140000Z-00000b', fileName: 'second.csv' });
    const { text } = await bench.page('/runs');
    expect(text.indexOf('second.csv')).toBeLessThan(text.indexOf('first.csv'));
    const { body } = await bench.json('/runs');
    expect(body.map((run: { file: string }) => run.file)).toEqual(['second.csv', 'first.csv']);
    expect(Object.keys(body[0])).toEqual(importKeys);
  });

  it('are listed by feed and state, page by page, as the options of runs ls', async () => {
    const bench = await dashboardBench();
    for (const id of ['00000a', '00000b', '00000c'])
      await enterRun(bench, {
        id: `20261121T130000Z-${id}`,
        fileName: `${id}.csv`,
        feed: id === '00000b' ? 'crm' : 'erp',
      });
    const filesOf = async (query: string): Promise<readonly string[]> =>
      (await bench.json(`/runs?${query}`)).body.map((run: { file: string }) => run.file);
    expect(await filesOf('feed=crm')).toEqual(['00000b.csv']);
    expect(await filesOf('state=failed')).toEqual([]);
    expect(await filesOf('state=queued,failed&limit=2')).toEqual(['00000c.csv', '00000b.csv']);
    expect(await filesOf('limit=2&after=20261121T130000Z-00000b')).toEqual(['00000a.csv']);
    const { text } = await bench.page('/runs?limit=2&feed=erp');
    expect(text).toContain('href="/runs?feed=erp&amp;limit=2&amp;after=20261121T130000Z-00000a"');
    expect((await bench.page('/runs?state=failed')).text).toContain('No such runs.');
  });

  it('of a feed that is none are no empty list alone: the page says which one may be meant', async () => {
    const bench = await dashboardBench();
    await enterRun(bench, { feed: 'one' });
    const { status, text } = await bench.page('/runs?feed=One&state=failed');
    expect(status).toBe(200);
    expect(text).toContain('name="feed" value="One"');
    expect(text).toMatch(
      /There is no feed "<bdi>One<\/bdi>": did you mean <a href="\/runs\?state=failed&amp;feed=one"><bdi>one<\/bdi><\/a>\?/,
    );
    expect((await bench.page('/runs?feed=entirely-else')).text).toContain('"<bdi>entirely-else</bdi>".');
    expect((await bench.page('/runs?feed=one&state=failed')).text).toContain('No such runs.');
  });

  it('behind a run that is not there are none: the page keeps its form, and one of no run its navigation', async () => {
    const bench = await dashboardBench();
    const list = await bench.page('/runs?feed=crm&after=nothing');
    expect(list.status).toBe(400);
    expect(list.text).toMatch(/name="feed" value="crm"[\s\S]*There is no run nothing\./);
    const none = await bench.page('/runs/nothing');
    expect(none.status).toBe(404);
    expect(none.text).toContain('<title>There is no such run · Patchbay</title>');
    expect(none.text).toMatch(/<nav [\s\S]*The page <a href="\/runs">Runs<\/a> lists all known runs\./);
  });

  it.each(['state=broken', 'limit=0', 'limit=many', 'after=nothing'])('refuse an address with %s', async (query) => {
    const bench = await dashboardBench();
    const { status, body } = await bench.json(`/runs?${query}`);
    expect(status).toBe(400);
    expect(body.error.hint).not.toBe('');
  });

  it('say how many of their rows are pending, so that the counts of a stopped one add up', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 1_500 });
    await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: startMs });
    for (const path of ['/', '/runs'])
      expect((await bench.page(path)).text, path).toMatch(
        /data-label="Rows"><span>1,500 <span[^>]*>\(1,500 pending\)</,
      );
  });

  it('say where to drop a file while there are none', async () => {
    const bench = await dashboardBench();
    expect((await bench.page('/runs')).text).toContain(`${bench.folder}/import`);
    expect((await bench.json('/runs')).body).toEqual([]);
  });
});

describe('one run', () => {
  it('shows counts, requests, notes, and problems from its report', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    await bench.ledger.runs.record(run.id, { notes: ['the column Fax is not mapped'] });
    await writeReportFile(bench, run.id, 1);
    const { status, text } = await bench.page(`/runs/${run.id}`);
    expect(status).toBe(200);
    expect(text).toContain('<dt>created</dt><dd>1</dd>');
    expect(text).toContain('<dt>PATCH</dt><dd>1</dd>');
    expect(text).toContain('the column Fax is not mapped');
    expect(text).toContain('cell 2');
    expect(text).toContain(`${bench.folder}/import/_fix/${run.id}__crm.csv`);
    expect(text).toContain('2.5 s');
  });

  it('of a file that could not be imported has no section of problems: there was no row that could have any', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    const reason = { code: 'webPage', message: 'it is a web page', hint: 'Export it again.', facts: {} };
    await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: startMs, reason });
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text).toContain('it is a web page');
    expect(text).not.toContain('Problems');
  });

  it('has the summary and the problems as its JSON twin', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    await writeReportFile(bench, run.id, 1);
    const { body } = await bench.json(`/runs/${run.id}`);
    expect(Object.keys(body)).toEqual(expect.arrayContaining([...importKeys, 'problems', 'outcomes', 'notes']));
    expect(body).toMatchObject({ rows: 4, dead: 1, pending: 0, exitCode: 3, seconds: 2.5, problemsComplete: true });
    expect(body.problems).toEqual([
      { line: 2, code: 'phoneLetters', field: 'phone mobile', value: 'cell 2', hint: 'Write digits.' },
    ]);
  });

  it('lists its warnings with line, column and value, from its report and while it is at work', async () => {
    const bench = await dashboardBench();
    const warning = { kind: 'warning', line: 7, key: 'c-1', code: 'phoneExtensionDropped', field: 'phone' } as const;
    const event = { ...warning, value: '<b>x12', message: 'the extension was left out' };
    const run = await finishedRun(bench, []);
    await mkdir(bench.parts.runFolders.reports, { recursive: true });
    const report = JSON.stringify({ run: run.id, problems: [], outcomes: [event] });
    await writeFile(join(bench.parts.runFolders.reports, `${run.id}.json`), report);
    const atWork = await enterRun(bench, { id: '20261121T150000Z-00000c' });
    await stageRun(bench, atWork, { rows: 1, warnings: 1 }, [], [event]);
    for (const { id } of [run, atWork]) {
      const { text } = await bench.page(`/runs/${id}`);
      expect(text).toMatch(
        /<h2>Warnings<\/h2>[\s\S]*line 7[\s\S]*phone[\s\S]*&lt;b&gt;x12[\s\S]*the extension was left out/,
      );
      expect((await bench.json(`/runs/${id}`)).body.outcomes).toEqual([event]);
    }
  });

  it('shows the problems so far while it is at work', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 5, dead: 1 }, [deadRow({ cell: 'ask reception' })]);
    expect((await bench.page(`/runs/${run.id}`)).text).toContain('ask reception');
    expect((await bench.json(`/runs/${run.id}`)).body).toMatchObject({ problemsComplete: false, fixFile: null });
  });

  it('shows held fields with both values, at work and from its report, whatever they hold', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 2, heldFields: 1 });
    const held: HeldField = { field: 'role', said: 'X', ours: '<b>Lead</b>', theirs: ['a', 'b"'] };
    const event = heldEvent('h-<1>', 2, held);
    await bench.ledger.runs.stage({
      ...{ runId: run.id, feed: run.feed, rowsPerBatch: 100, records: [], dead: [] },
      ...{ events: [event], counts: {}, atMs: startMs },
    });
    const expectHeld = async (): Promise<void> => {
      const { text } = await bench.page(`/runs/${run.id}`);
      expect(text).toContain('<h2>Held fields</h2>');
      expect(text).toContain('<td data-label="Key"><bdi>h-&lt;1&gt;</bdi></td>');
      expect(text).toContain('<code class="cell"><bdi>&lt;b&gt;Lead&lt;/b&gt;</bdi></code>');
      expect(text).toContain('<bdi>a; b&quot;</bdi>');
      expect(text).toContain('patchbay held ls');
      expect(text).not.toContain('<b>Lead');
    };
    await expectHeld();
    await bench.ledger.runs.move(run.id, ['staging'], 'done', { atMs: startMs });
    await mkdir(bench.parts.runFolders.reports, { recursive: true });
    const report = { run: run.id, problems: [], outcomes: [event] };
    await writeFile(join(bench.parts.runFolders.reports, `${run.id}.json`), JSON.stringify(report));
    await expectHeld();
  });

  it('has no section of held fields where there are none', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    expect((await bench.page(`/runs/${run.id}`)).text).not.toContain('Held fields');
  });

  it('shows the reason and the hint of a failure', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    const reason = { code: 'emptyFile', message: 'crm.csv is empty', hint: 'Export it again.', facts: {} };
    await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: bench.parts.clock.nowMs(), reason });
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text).toContain('crm.csv is empty');
    expect(text).toContain('Export it again.');
    expect((await bench.json(`/runs/${run.id}`)).body.error).toEqual(reason);
  });

  it('shows at most 200 problems and names the report for the rest', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    await writeReportFile(bench, run.id, 230);
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text.match(/data-label="Value"/g)).toHaveLength(200);
    expect(text).toContain('And 30 more, in');
  });

  it('says how many more rows are rejected while it is at work', async () => {
    const bench = await dashboardBench();
    const rows = Array.from({ length: 230 }, (_, index) => deadRow({ key: `c-${index}`, line: index + 2 }));
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 230, dead: 230 }, rows);
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text.match(/data-label="Value"/g)).toHaveLength(200);
    expect(text).toMatch(/And 30 more, so far; when the run has ended, all are in .*reports/);
    const other = (row: (typeof rows)[number]) => row.problems.map((one) => ({ ...one, field: 'another' }));
    const twice = rows.map((row) => ({ ...row, problems: [...row.problems, ...other(row)] }));
    const second = await enterRun(bench, { id: '20261121T140100Z-00000b' });
    await stageRun(bench, second, { rows: 230, dead: 230 }, twice);
    const { text: cut } = await bench.page(`/runs/${second.id}`);
    expect(cut.match(/data-label="Value"/g)).toHaveLength(200);
    expect(cut).toMatch(/And more: 230 rows are rejected so far; when the run has ended, all are in .*reports/);
    const third = await enterRun(bench, { id: '20261121T140200Z-00000c' });
    await stageRun(bench, third, { rows: 200, dead: 200 }, rows.slice(0, 200));
    expect((await bench.page(`/runs/${third.id}`)).text).not.toMatch(/And (more|\d+)/);
  });

  it('that took another one back says what it deleted, which values stay, and why', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench, { kind: 'undo', fileName: 'undo of crm.csv' });
    const place = { kind: 'held', line: 0, key: 'c-1', code: 'changedSince', field: 'role' } as const;
    const event = { ...place, message: 'changed since the run', file: 'Buyer', app: 'Chief' };
    const left = { kind: 'skipped', line: 0, key: 'c-2', code: 'gone', field: null, message: 'not there' } as const;
    const warning = { kind: 'warning', line: 0, key: 'c-3', code: 'w', field: 'role', message: 'told' } as const;
    const events = [event, left, warning];
    const counts = { rows: 13, updated: 11, deleted: 11, skipped: 1, heldFields: 2, warnings: 1 };
    await stageRun(bench, run, counts, [], events);
    await bench.ledger.runs.record(run.id, { requests: { get: 2, delete: 11 } });
    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text).toContain('<dt>deleted</dt><dd>11</dd>');
    expect(text).toContain('<dt>DELETE</dt><dd>11</dd>');
    expect(text).toMatch(/<h2>Values that stay<\/h2>[\s\S]*leaves these values as they are/);
    expect(text).toMatch(/data-label="Before the run">.*Buyer[\s\S]*data-label="Now">.*Chief/);
    expect(text).toContain('data-label="Why"><bdi>changed since the run</bdi></td>');
    expect(text).toContain('And 1 more');
    expect(text).toContain('<th scope="row"><bdi>c-2</bdi></th>');
    expect(text).not.toContain('<th scope="col">Line</th>');
    expect(text).not.toMatch(/Held fields|held ls|data-label="(File|App)"/);
    expect((await bench.page('/runs')).text).toMatch(
      /data-label="Updated"><span>11 <span class="dim">\(11 deleted\)<\/span><\/span><\/td>/,
    );
  });

  it('lists contacts that may be there already with their lines, where it has a file', async () => {
    const bench = await dashboardBench();
    const place = { kind: 'match', key: 'c-4', code: 'matchFound', field: null, contact: 'p1', message: '' } as const;
    for (const [id, line] of [
      ['20261121T140000Z-00000a', 7],
      ['20261121T140000Z-00000b', 0],
    ] as const) {
      const run = await enterRun(bench, { id });
      await stageRun(bench, run, { rows: 1 }, [], [{ ...place, line }]);
      const { text } = await bench.page(`/runs/${id}`);
      expect(text).toMatch(line === 0 ? /<th scope="row"><bdi>c-4</ : /<th scope="row">line 7<[\s\S]*<bdi>c-4</);
      expect(text.includes('<th scope="col">Line</th>')).toBe(line > 0);
    }
  });

  it('shows rows that it skipped, people whom the file lacks and what people changed, each with the reason', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    const missing = { kind: 'missing', line: 0, key: 'c-8', code: 'missing', field: null, message: 'not in the file' };
    const outcomes = [
      ...Array.from({ length: 203 }, (_, index) => ({
        ...{ kind: 'skipped', line: index + 2, key: `c-<${index}>`, code: 'superseded', field: null },
        message: 'already set by a later file',
      })),
      { ...missing, since: '2026-11-20T08:00:00.000Z' },
      {
        ...{ kind: 'drift', line: 0, key: 'c-9', code: 'driftChanged', field: 'role', message: 'another value' },
        ...{ file: 'Buyer', app: '<Chief>' },
      },
    ];
    await stageRun(bench, run, { rows: 203, skipped: 203 });
    const shape = { format: 'csv', columns: ['id'], delimiter: ',', missing: { count: 4, new: 1 } } as const;
    await bench.ledger.runs.record(run.id, { shape });
    await bench.ledger.runs.move(run.id, ['staging'], 'done', { atMs: startMs });
    await mkdir(bench.parts.runFolders.reports, { recursive: true });
    const report = { run: run.id, problems: [], outcomes };
    await writeFile(join(bench.parts.runFolders.reports, `${run.id}.json`), JSON.stringify(report));

    const { text } = await bench.page(`/runs/${run.id}`);
    expect(text).toMatch(/<h2>Skipped rows<\/h2>[\s\S]*<th scope="row">line 2<\/th>\s*.*c-&lt;0&gt;/);
    expect(text.match(/<code class="reason">superseded<\/code>/g)).toHaveLength(200);
    expect(text).toMatch(
      /And 3 more, in[\s\S]*<h2>No longer in the file<\/h2>[\s\S]*c-8[\s\S]*datetime="2026-11-20T08:00/,
    );
    expect(text).toMatch(/And 3 more, in[\s\S]*And 3 more, in[\s\S]*<h2>Changed in the app<\/h2>/);
    expect(text).toMatch(/data-label="Agreed">.*Buyer[\s\S]*data-label="App">.*&lt;Chief&gt;/);
  });

  describe('with a report of more than 8 MB', () => {
    const change = { key: 'c', kind: 'create', changes: [{ field: 'role', to: 'x'.repeat(900) }] };
    const changes = Array.from({ length: 10_000 }, () => change);
    const skipped = { kind: 'skipped', line: 4, key: 'c-4', code: 'superseded', field: null, message: 'set later' };
    const problemOf = (line: number) => ({
      line,
      code: 'phoneLetters',
      field: 'phone',
      value: 'x'.repeat(300),
      hint: 'Write.',
    });

    async function shown(dead: number, report: object) {
      const bench = await dashboardBench();
      const run = await enterRun(bench);
      await stageRun(bench, run, { rows: dead + 1, skipped: 1, dead });
      await bench.ledger.runs.move(run.id, ['staging'], 'done', { atMs: startMs });
      await mkdir(bench.parts.runFolders.reports, { recursive: true });
      const text = JSON.stringify({ run: run.id, ...report });
      expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
      await writeFile(join(bench.parts.runFolders.reports, `${run.id}.json`), text);
      return { run, ...(await bench.page(`/runs/${run.id}`)), body: (await bench.json(`/runs/${run.id}`)).body };
    }

    it('has no problems where no row was rejected, and shows what stands before the changes', async () => {
      const { text, body } = await shown(0, { problems: [], outcomes: [skipped], changes });
      expect(text).toMatch(/<h2>Problems<\/h2>\s*<p class="empty">None\.<\/p>/);
      expect(text).toMatch(/<h2>Skipped rows<\/h2>[\s\S]*c-4[\s\S]*set later/);
      expect(body).toMatchObject({ problems: [], outcomes: [skipped], problemsComplete: true });
    });

    it('shows all problems that stand before the changes, without the keys of people', async () => {
      const problems = [{ ...problemOf(7), key: 'c-7' }];
      const { text, body } = await shown(1, { problems, outcomes: [], changes });
      expect(text).toMatch(/<h2>Problems<\/h2>[\s\S]*line 7/);
      expect(text).not.toContain('And more');
      expect(body).toMatchObject({ problems: [problemOf(7)], problemsComplete: true });
      expect(body.problems[0]).not.toHaveProperty('key');
    });

    it('shows the first of too many problems, and says where all are', async () => {
      const problems = Array.from({ length: 30_000 }, (_, index) => problemOf(index + 2));
      const { text, body } = await shown(30_000, { problems, outcomes: [skipped] });
      expect(text.match(/data-label="What to do"/g)).toHaveLength(200);
      expect(text).toMatch(/And more: 30,000 rows are rejected in .*reports/);
      expect(body.problemsComplete).toBe(false);
      expect(body.problems.length).toBeGreaterThan(1_000);
      expect(body.outcomes).toEqual([]);
    });

    it('names what is still open where none of it can be read', async () => {
      const { run, text } = await shown(3, { notes: 'x'.repeat(9 * 1024 * 1024) });
      expect(text).toContain(
        `What is still open is listed under <a href="/dead-letters?run=${run.id}">Dead letters</a>`,
      );
    });
  });

  it('says so when the report is gone', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, [deadRow()]);
    expect((await bench.page(`/runs/${run.id}`)).text).toContain(
      'The report is not here: it was deleted, or it is on another host.',
    );
  });

  it('is found by the end of its id, as on the command line', async () => {
    const bench = await dashboardBench();
    const run = await finishedRun(bench, []);
    expect((await bench.json(`/runs/${run.id.slice(-6)}`)).body).toMatchObject({ run: run.id });
    expect((await bench.page(`/runs/${run.id.slice(-3)}`)).status).toBe(404);
  });

  it('that is not known is a 404, as page and as JSON, and no path of the disk', async () => {
    const bench = await dashboardBench();
    await writeFile(join(bench.folder, 'secret.json'), '{"problems":[]}');
    for (const id of ['nobody', '..%2Fsecret', '%2e%2e%2fsecret']) {
      const { status, body } = await bench.json(`/runs/${id}`);
      expect([status, body.error.code]).toEqual([404, 'noSuchRun']);
      expect((await bench.page(`/runs/${id}`)).status).toBe(404);
    }
  });
});
