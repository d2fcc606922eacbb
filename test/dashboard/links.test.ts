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
