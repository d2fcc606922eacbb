/** Where the pages lead to: with the choice of the person about refreshing, and to the lists of what they name. */
import { expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import {
  type DashboardBench,
  dashboardBench,
  deadRow,
  enterRun,
  finishedRun,
  stageRun,
  startMs,
} from './dashboard-bench.ts';

/** A run that ended with rejected rows, one that is stopped, one at work. */
async function busyBench(): Promise<DashboardBench> {
  const bench = await dashboardBench();
  await finishedRun(bench, [deadRow(), deadRow({ key: 'c-2', code: 'cellCount' })]);
  const stopped = await enterRun(bench, { id: '20261121T140100Z-00000b', feed: 'a & b' });
  await stageRun(bench, stopped, { rows: 1, dead: 1 }, [deadRow({ key: 'c-3' })]);
  await bench.ledger.runs.move(stopped.id, ['staging'], 'stopped', { atMs: startMs });
  await enterRun(bench, { id: '20261121T140200Z-00000c', feed: 'erp' });
  return bench;
}

const runId = '20261121T140000Z-00000a';

/** Of the page itself: its head, and the link that begins to refresh again, are left out. */
function linksOf(text: string): readonly string[] {
  const found = [...text.matchAll(/<a [^>]*?href="(\/[^"]*)"[^>]*>(?!Refresh this page)/g)];
  return found.map(([, href = '']) => href.replaceAll('&amp;', '&'));
}

it.each([
  '/',
  '/runs',
  '/runs?limit=1',
  '/feeds',
  '/dead-letters',
  '/dead-letters?limit=1',
  `/runs/${runId}`,
  '/no-such-page',
])('from %s every link keeps the choice not to refresh', async (path) => {
  const bench = await busyBench();
  const links = linksOf((await bench.page(`${path}${path.includes('?') ? '&' : '?'}refresh=off`)).text);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((link) => !link.includes('refresh=off'))).toEqual([]);
  for (const link of links) expect((await bench.page(link)).status, link).toBe(200);
});

it('a page that cannot be made now stays as it is where its address says so, and can be stopped', async () => {
  const bench = await dashboardBench();
  const away = new PatchbayError('transient', 'ledgerAway', 'postgres://db/patchbay does not answer');
  bench.parts.ledger.pause = () => Promise.reject(away);
  const moving = (await bench.page('/runs?feed=crm')).text;
  expect(moving).toContain('<meta http-equiv="refresh" content="5">');
  expect(moving).toContain('<a href="/runs?feed=crm&amp;refresh=off">Stop refreshing</a>');
  const still = await bench.page('/runs?feed=crm&refresh=off');
  expect(still.status).toBe(503);
  expect(still.text).not.toContain('http-equiv="refresh"');
  expect(still.text).toContain('<a href="/runs?feed=crm">Refresh this page</a>');
  expect(still.text).toContain('<a href="/?refresh=off">To the overview</a>');
});

it('a run leads to its letters and its feed, a reason to its letters, a feed to its runs', async () => {
  const bench = await busyBench();
  const linksAt = async (path: string) => linksOf((await bench.page(path)).text);
  expect(await linksAt(`/runs/${runId}`)).toEqual(
    expect.arrayContaining([`/dead-letters?run=${runId}`, '/runs?feed=main']),
  );
  const ofRuns = [`/dead-letters?run=${runId}`, '/runs?feed=main', '/runs?feed=a+%26+b'];
  expect(await linksAt('/runs')).toEqual(expect.arrayContaining(ofRuns));
  expect(await linksAt('/')).toEqual(expect.arrayContaining(['/dead-letters?code=cellCount', '/runs?feed=erp']));
  expect(await linksAt('/feeds')).toContain('/runs?feed=main');
  expect(await linksAt('/dead-letters')).toContain('/dead-letters?feed=main');
});

it('a list that loads again has a link to its form, which would be emptied: that page stays, and its list loads again', async () => {
  const bench = await busyBench();
  const moving = (await bench.page('/runs?feed=erp&state=active&limit=2')).text;
  expect(moving).toContain('http-equiv="refresh"');
  expect(moving).not.toContain('<form');
  expect(moving).toMatch(/Feed: <bdi>erp<\/bdi> · State: <bdi>running<\/bdi> · <a [^>]*>Filter this list/);
  const [, href = ''] = /<a href="([^"]*)">Filter this list/.exec(moving) ?? [];
  const still = (await bench.page(href.replaceAll('&amp;', '&'))).text;
  expect(still).not.toContain('http-equiv="refresh"');
  expect(still).toContain('<label>Feed <input name="feed" value="erp"');
  expect(still).toContain('<option value="active" selected>');
  expect(still).toContain('<input type="hidden" name="limit" value="2">');
  expect(still, 'the list that it asks for is one that loads again').not.toMatch(/name="(filter|refresh)"/);
});

it('lists have their filters as a form, with what the address asks for; its blank fields ask for nothing', async () => {
  const bench = await busyBench();
  const runs = (await bench.page('/runs?feed=a+%26+b&state=stopped&limit=2&refresh=off')).text;
  expect(runs).toContain('<form method="get" action="/runs" class="filters">');
  expect(runs).toContain('<label>Feed <input name="feed" value="a &amp; b"');
  expect(runs).toContain('<option value="stopped" selected>stopped</option>');
  expect(runs).toContain('<input type="hidden" name="refresh" value="off">');
  expect(runs).toContain('<input type="hidden" name="limit" value="2">');
  expect((await bench.page('/runs?state=active&filter=open')).text).toContain('<option value="active" selected>');
  expect((await bench.page('/runs?state=active&filter=open')).text).toMatch(
    /stays as it is\. <a href="\/runs\?state=active">Back to the list<\/a>/,
  );
  expect((await bench.page('/runs?state=queued,failed&filter=open')).text).toContain(
    '<option value="queued,failed" selected>',
  );
  const letters = (await bench.page(`/dead-letters?run=${runId}&code=cellCount&feed=&state=`)).text;
  expect(letters).toContain('<input name="code" value="cellCount"');
  expect(letters).toContain('<option value="" selected>open</option>');
  expect(letters.match(/<article/g)).toHaveLength(1);
  expect((await bench.json('/runs?feed=&state=')).body).toHaveLength(3);
  const empty = await dashboardBench();
  for (const path of ['/runs', '/dead-letters']) expect((await empty.page(path)).text).not.toContain('<form');
});
