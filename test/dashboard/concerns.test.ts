/** What the first page and the page of a run warn of beside stopped runs and rejected rows, as `status` and `runs show` do. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type DashboardBench, dashboardBench, enterRun, finishedRun, openPages, startMs } from './dashboard-bench.ts';

/** One run whose audit found that two contacts have its key. */
async function audited(bench: DashboardBench, isDuplicate: boolean): Promise<string> {
  const run = await finishedRun(bench, []);
  const { audits } = bench.ledger;
  await audits.demand({ runId: run.id, atMs: startMs, dueAtMs: startMs });
  const [first] = await audits.ofRun(run.id);
  if (first === undefined) throw new Error('the run has an audit');
  const contacts = ['p-1', 'p-2'].map((id) => ({ id, createdAt: '2026-11-20', source: '<b>crm' }));
  await audits.advance(first.id, {
    ...{ fromPosition: 0, toPosition: 1, checked: 1, requests: { get: 1, retried: 0, rateLimited: 0 } },
    findings: isDuplicate ? [{ key: 'c-<1>', kind: 'duplicate', contacts, code: null }] : [],
  });
  await audits.finish(first.id, startMs + 1);
  return run.id;
}

describe('keys with more than one contact', () => {
  it('are an alarm on the first page, and listed with their contacts on the page of the run', async () => {
    const bench = await dashboardBench();
    const id = await audited(bench, true);
    const { text } = await bench.page('/');
    expect(text).toMatch(/<h2 id="duplicates">Keys with more than one contact<\/h2>\s*<div class="notice bad"/);
    expect(text).toContain(`<a href="/runs/${id}#audits"><code>${id}</code></a>: 1 key with more than one contact.`);
    expect(text).toContain(`<code>patchbay audit ${id}</code>`);
    const { text: page } = await bench.page(`/runs/${id}`);
    expect(page).toMatch(/<h2 id="audits">Audits<\/h2>[\s\S]*1 key has more than one contact/);
    expect(page).toMatch(/<bdi>c-&lt;1&gt;<\/bdi>[\s\S]*<code>p-1<\/code>[\s\S]*&lt;b&gt;crm[\s\S]*<code>p-2<\/code>/);
    expect(page).toContain(`<code>patchbay audit ${id}</code>`);
  });

  it('that an audit looked for and did not find are said on the page of the run alone', async () => {
    const bench = await dashboardBench();
    const id = await audited(bench, false);
    expect((await bench.page('/')).text).not.toContain('more than one contact');
    expect((await bench.page(`/runs/${id}`)).text).toMatch(/Audits[\s\S]*1 key checked|no key to check/);
  });

  it('have no section while no audit is entered', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench);
    expect((await bench.page(`/runs/${run.id}`)).text).not.toContain('Audits');
  });
});

describe('feeds', () => {
  it('in trouble, and with people whom their file lacks, are on the first page with a link to all feeds', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, []);
    const feed = 'a & b';
    await bench.ledger.deliveries.setCondition({ feed, troubles: ['missed'], sinceMs: startMs }, []);
    const missing = { ...bench.ledger.missing, count: async () => 2 };
    const standings = async () => [{ feed: 'crm', lastFinishedAtMs: null }] as never;
    const deliveries = { ...bench.ledger.deliveries, standings };
    const { page } = openPages({ ...bench.parts, ledger: { ...bench.ledger, missing, deliveries } } as never);
    // A feed that has neither an entry nor a folder has no file that people could be missing from.
    expect((await page('/')).text).not.toContain('no longer in its file');
    for (const folder of bench.parts.folders.watched) await mkdir(join(folder, 'crm'), { recursive: true });
    const { text } = await page('/');
    expect(text).toContain('<h2 id="feeds">Feeds: worth a look</h2>');
    expect(text).toMatch(/<a href="\/runs\?feed=a\+%26\+b"><bdi>a &amp; b<\/bdi><\/a>: .* since <time/);
    expect(text).toContain('<bdi>crm</bdi></a>: 2 people are no longer in its file');
    expect(text).toContain('<a href="/feeds">See all feeds</a>');
  });

  it('that are well have no section, nor have hosts where there are none', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, []);
    expect((await bench.page('/')).text).not.toMatch(/id="(feeds|hosts|duplicates)"/);
  });
});

describe('a host that is away', () => {
  it('is on the first page with what waits for it, and so is why on the page of the run', async () => {
    const bench = await dashboardBench();
    const run = await enterRun(bench, { host: 'h2', fileName: 'late.csv' });
    const seenAtMs = Date.UTC(2026, 10, 20, 8);
    await bench.ledger.hosts.enter(
      {
        ...{ id: 'h2', name: 'berlin:/srv', session: 's', engine: null, queue: 'redis', isSandbox: false },
        ...{ runsSchedules: false, leads: false, feeds: [], startedAtMs: seenAtMs, seenAtMs, hasLeft: false },
      },
      'q',
      () => false,
    );
    const why = 'the run waits for the host berlin:/srv, which has been silent since 2026-11-20 08:00:00Z';
    const { text } = await bench.page('/');
    expect(text).toMatch(/<bdi>berlin:\/srv<\/bdi>[\s\S]*away[\s\S]*late\.csv[\s\S]*patchbay hosts forget h2/);
    expect(text).toMatch(new RegExp(`<article class="card">[\\s\\S]*late\\.csv[\\s\\S]*${why}`));
    const { text: page } = await bench.page(`/runs/${run.id}`);
    expect(page).toContain(why);
    expect(page).toContain('Start that host again: it goes on with the run by itself.');
  });
});
