/** The first page and its JSON twin. */
import { describe, expect, it } from 'vitest';
import { readinessOf } from '#src/dashboard/readiness.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { dashboardBench, deadRow, enterRun, finishedRun, stageRun, startMs } from './dashboard-bench.ts';

describe('the overview', () => {
  it('says where to drop a file while nothing has run', async () => {
    const bench = await dashboardBench();
    const { status, headers, text } = await bench.page('/');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    expect(text).toContain(
      `Drop a CSV, JSON, Excel or vCard file into <code class="path">${bench.folder}/import</code>`,
    );
    expect(text).toContain('No open dead letters.');
  });

  it('names the service, its origin and the queue', async () => {
    const { text } = await (await dashboardBench()).page('/');
    expect(text).toContain('<bdi>sandbox</bdi>');
    expect(text).toContain('http://127.0.0.1:40123');
    expect(text).toContain('embedded Valkey');
  });

  it('is renewed every few seconds only while a run is at work', async () => {
    const bench = await dashboardBench();
    expect((await bench.page('/')).text).not.toContain('http-equiv="refresh"');
    const run = await enterRun(bench);
    expect((await bench.page('/')).text).toContain('<meta http-equiv="refresh" content="3">');
    await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: startMs });
    expect((await bench.page('/')).text).not.toContain('http-equiv="refresh"');
  });

  it('is renewed less often while work is paused', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await bench.ledger.setPause({ code: 'unreachable', message: 'the service does not answer', sinceMs: startMs });
    for (const path of ['/', '/runs', `/runs/${run.id}`]) {
      const { text } = await bench.page(path);
      expect(text, path).toContain('<meta http-equiv="refresh" content="30">');
      expect(text, path).toContain('Refreshes every 30 s while work is paused.');
    }
  });

  it('is renewed while work is paused, also where no run is in progress: it would go on to say so afterwards', async () => {
    const bench = await dashboardBench();
    await bench.ledger.setPause({ code: 'unreachable', message: 'the service does not answer', sinceMs: startMs });
    expect((await bench.page('/')).text).toContain('<meta http-equiv="refresh" content="30">');
    await bench.ledger.setPause(null);
    expect((await bench.page('/')).text).not.toContain('http-equiv="refresh"');
  });

  it('stays as it is where its address says so, and leads to other pages that do', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench, { feed: 'a & b' });
    for (const path of ['/', '/runs', '/runs?feed=a+%26+b&limit=2', `/runs/${run.id}`]) {
      const moving = (await bench.page(path)).text;
      const [, first = '', words] = /<a [^>]*?href="([^"]*)"[^>]*>([^<]*)</.exec(moving) ?? [];
      expect([words, moving.includes('http-equiv="refresh"')], path).toEqual(['Stop refreshing', true]);
      const still = (await bench.page(first.replaceAll('&amp;', '&'))).text;
      expect(still, path).not.toContain('http-equiv="refresh"');
      expect(still, path).toContain(`<a href="${path.replaceAll('&', '&amp;')}">Refresh this page</a>`);
      expect(still, path).toContain('href="/runs?refresh=off"');
    }
    await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: startMs });
    expect((await bench.page('/?refresh=off')).text).not.toMatch(/Stop refreshing|Refresh this page/);
  });

  it('shows how far a run at work has come', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 2_000, created: 400, unchanged: 100 });
    expect((await bench.page('/')).text).toMatch(/<progress aria-label="Reading"><\/progress>\s*<p>2,000 rows read/);
    await bench.ledger.runs.move(run.id, ['staging'], 'applying', { atMs: startMs });
    const { text } = await bench.page('/');
    expect(text).toContain('max="2000" value="500"');
    expect(text).toContain('500 of 2,000 rows (25 %)');
  });

  it('says of a pause for the queue that work waits for it, and not for the service', async () => {
    const bench = await dashboardBench();
    const message = 'The queue is out of memory: Redis at h:6379. Work waits, and nothing is lost.';
    const pause = {
      code: 'unreachable',
      errorCode: 'queueFull',
      message,
      plainMessage: message,
      sinceMs: startMs,
    } as const;
    await bench.ledger.setPause(pause);
    const { text } = await bench.page('/');
    expect(text).toContain('as soon as the queue takes requests again');
    expect(text).not.toContain('as soon as the service answers');
    const signs = { folders: [], troubles: [{ code: 'queueFull', message }], failures: { whole: [], plain: [] } };
    expect(readinessOf({ ...signs, pause }).reasons, 'said once').toEqual([message]);
  });

  it('shows the pause with its reason and since when', async () => {
    const bench = await dashboardBench();
    await bench.ledger.setPause({ code: 'auth', message: 'the service refuses the API key', sinceMs: startMs });
    const run = await enterRun(bench);
    for (const path of ['/', '/runs', '/feeds', `/runs/${run.id}`]) {
      const { text } = await bench.page(path);
      expect(text, path).toMatch(/Paused since <time datetime="2026-11-21T14:00:00.000Z"/);
      expect(text, path).toContain('the service refuses the API key');
      expect(text, path).toContain('Set a working key');
    }
    for (const path of ['/', `/runs/${run.id}`])
      expect((await bench.page(path)).text, path).toContain('Waits until work continues.');
    await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: startMs });
    expect((await bench.page(`/runs/${run.id}`)).text, 'nothing of it waits').not.toContain('Paused since');
  });

  it('says of a queued run that it waits for its turn, also while writing alone is paused', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    for (const pause of [null, { code: 'unreachable', scope: 'writes', message: 'no', sinceMs: startMs } as const]) {
      await bench.ledger.setPause(pause);
      for (const path of ['/', `/runs/${run.id}`])
        expect((await bench.page(path)).text, path).toContain('Waits for its turn.');
    }
  });

  it('shows a stopped run with its reason and what to do', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    await stageRun(bench, run, { rows: 10 });
    const reason = {
      code: 'tooManyUpdates',
      message: '9 of 10 known contacts would change; the limit is 30 %',
      hint: 'Look at the plan, then approve the run.',
      facts: {},
    };
    await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: startMs, reason });
    const { text } = await bench.page('/');
    expect(text).toContain('waiting for you');
    expect(text).toContain(reason.message);
    expect(text).toContain(reason.hint);
  });

  it('says how many rows are rejected beside the fifty most frequent reasons', async () => {
    const bench = await dashboardBench();
    const reasons = Array.from({ length: 53 }, (_, index) =>
      deadRow({ key: `c-${index}`, line: index + 2, code: `reason${index}` }),
    );
    await finishedRun(bench, reasons);
    const { text } = await bench.page('/');
    expect(text.match(/<code class="reason">reason\d+<\/code>/g)).toHaveLength(50);
    expect(text).toContain('And 3 rows being tried again or rejected for rarer reasons.');
  });

  it('groups open dead letters by code and field with count, example and what to do', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow(), deadRow({ key: 'c-2', line: 4 })]);
    const { text } = await bench.page('/');
    expect(text).toContain('<code class="reason">phoneLetters</code>');
    expect(text).toContain('<bdi>phone mobile</bdi>');
    expect(text).toContain('2 rejected rows, by reason.');
    expect(text).toContain('<td class="number" data-label="Rows">2</td>');
    expect(text).toContain('phone mobile is not a phone number');
    expect(text).toContain('Write the number with its country code');
  });

  it('shows held fields with both values, by feed, and how to decide about them', async () => {
    const world = await openRunsBench();
    const wide = 'externalId,firstName,role';
    const people = Array.from({ length: 23 }, (_, index) => `c-${index + 1}`);
    const fileOf = (role: string): string =>
      csv(
        people.map((key) => `${key},Ann,${role}`),
        wide,
      );
    const bench = await dashboardBench({ ledger: world.ledger });
    await world.import('a.csv', fileOf('X'));
    expect((await bench.page('/')).text).toContain('<dt>Held fields</dt><dd>0</dd>');
    expect((await bench.page('/')).text).not.toContain('held take');
    for (const key of people) {
      const { id } = await world.world.contactOf(key);
      await world.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { role: `<b>${key}` } });
    }
    await world.import('b.csv', fileOf('Z'));
    const { text } = await bench.page('/');
    expect(text).toContain('<dt>Held fields</dt><dd>23</dd>');
    expect(text).toMatch(/23 fields that file and app changed differently: <bdi>main<\/bdi> 23\./);
    expect(text).toMatch(
      /<bdi>c-1<\/bdi>[\s\S]*<bdi>role<\/bdi>[\s\S]*<bdi>Z<\/bdi>[\s\S]*<bdi>&lt;b&gt;c-1<\/bdi>[\s\S]*b\.csv:2/,
    );
    expect(text).toMatch(/<td data-label="From"><a href="\/runs\/[^"]+"><bdi>b\.csv:2</);
    expect(text).toContain("Write the file's value: <code>patchbay held take file --field role c-1</code>");
    expect(text).toContain("Keep the app's value: <code>patchbay held take app --field role c-1</code>");
    expect(text).toContain('And 3 more: list all with <code>patchbay held ls</code>');
  });

  it('says so when files are not taken', async () => {
    const bench = await dashboardBench({
      readiness: async () => ({
        ...{ ready: false, degraded: false, reasons: [] },
        troubles: ['the import folder cannot be read'],
      }),
    });
    expect((await bench.page('/')).text).toMatch(
      /role="alert">.*Files are not taken[\s\S]*the import folder cannot be read/,
    );
  });

  it('tells trouble around the process while files are taken, and what of a pause waits', async () => {
    const trouble = 'The queue has no memory left: Redis at 127.0.0.1:6379. Work waits, and nothing is lost.';
    const message = 'Creates and updates fail';
    const readiness = async () => ({ ready: true, degraded: true, reasons: [trouble], troubles: [trouble] });
    const bench = await dashboardBench({ readiness });
    await bench.ledger.setPause({ code: 'unreachable', scope: 'writes', message, sinceMs: startMs });
    const { text } = await bench.page('/');
    expect(text).toContain(`<li>${trouble}</li>`);
    expect(text).not.toContain('Files are not taken');
    expect(text).toContain('files are read, and writing continues by itself');
    const { body } = await bench.json('/');
    expect(body).toMatchObject({ ready: true, troubles: [trouble], paused: { scope: 'writes', message } });
  });

  it('has a JSON twin with service, queue, paused, runs and dead letters', async () => {
    const bench = await dashboardBench();
    await bench.ledger.setPause({ code: 'unreachable', message: 'the service does not answer', sinceMs: startMs });
    const run = await finishedRun(bench, [deadRow()]);
    const { status, headers, body } = await bench.json('/');
    expect(status).toBe(200);
    expect(headers.get('vary')).toContain('Accept');
    expect(body).toMatchObject({
      service: 'sandbox',
      queue: 'embedded Valkey',
      paused: { code: 'unreachable', message: 'the service does not answer', since: '2026-11-21T14:00:00.000Z' },
      deadLetters: 1,
      deadLetterGroups: [{ code: 'phoneLetters', field: 'phone mobile', count: 1, class: 'invalid' }],
    });
    expect(body.runs).toHaveLength(1);
    expect(body.runs[0]).toMatchObject({ run: run.id, file: 'crm.csv', state: 'doneWithDead', rows: 4, dead: 1 });
  });

  it('is a page for a browser, which names JSON nowhere or last', async () => {
    const bench = await dashboardBench();
    for (const accept of ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html, application/json;q=0.5']) {
      expect((await bench.page('/', { accept })).headers.get('content-type'), accept).toMatch(/^text\/html/);
    }
  });
});
