/** The page as people see it: in a real browser, where there is one. */

import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPage } from '#src/dashboard/start-page.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { chromiumMissing, hasChromium, launchChromium } from '#test/support/chromium.ts';
import {
  type DashboardBench,
  dashboardBench,
  deadRow,
  enterRun,
  finishedRun,
  stageRun,
  startMs,
} from './dashboard-bench.ts';

describe.skipIf(!hasChromium)(`the page in a browser${chromiumMissing}`, () => {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** A page over one finished run with a dead row; what the browser complains about is collected. */
  async function openPage(width: number): Promise<{ page: Page; complaints: string[] }> {
    if (browser === null) throw new Error('the browser is there');
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow({ message: '<b>no</b> phone number' })]);
    const served = await startPage(bench.parts, { host: '127.0.0.1', port: 0 });
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    onTestFinished(async () => {
      await page.close();
      await served.close();
    });
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(served.address);
    return { page, complaints };
  }

  it('is styled, keeps its own content policy, and leads from the overview to a run', async () => {
    const { page, complaints } = await openPage(1_100);
    expect(await page.title()).toContain('Patchbay');
    await page.locator('tbody a').first().click();
    await page.waitForURL(/\/runs\/.+/);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.evaluate('document.styleSheets.length')).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('shows markup in a message as text', async () => {
    const { page } = await openPage(1_100);
    await page.goto(new URL('/dead-letters', page.url()).href);
    expect(await page.locator('b', { hasText: 'no' }).count()).toBe(0);
    expect(await page.getByText('<b>no</b> phone number').count()).toBeGreaterThan(0);
  });

  /** Names, keys and values without a space, as long as systems write them; runs that ended, wait and are at work. */
  async function longNamesBench() {
    const world = await openRunsBench();
    const wide = 'externalId,firstName,role';
    const key = `k-${'0123456789'.repeat(7)}`;
    const feed = 'a-feed-of-a-system-with-a-long-name-for-accounts-and-contact';
    const name = `${'Salesforce_Report_Accounts_and_Contacts_EMEA_North_2026-11-26T02-30-00_'.repeat(3)}.csv`;
    await world.import(name, csv([`${key},Ann,${'X'.repeat(300)}`], wide), { feed });
    const { id } = await world.world.contactOf(key);
    await world.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { role: 'Y'.repeat(300) } });
    const held = await world.import(name, csv([`${key},Ann,${'Z'.repeat(305)}`], wide), { feed });
    const opened = await dashboardBench({ ledger: world.ledger, runFolders: world.parts.folders });
    const bench = { ...opened, ledger: world.ledger };
    const given = { fileName: name, feed, importFolder: opened.folder };
    const working = await enterRun(bench, { ...given, id: '20261121T140100Z-00000b' });
    const word = 'W'.repeat(300);
    const problem = { code: 'phoneLetters', line: 3, field: word, value: word, message: word, hint: word };
    await stageRun(bench, working, { rows: 2, dead: 1 }, [{ ...deadRow({ cell: word }), key, problems: [problem] }]);
    const stopped = await enterRun(bench, { ...given, id: '20261121T140200Z-00000c' });
    await stageRun(bench, stopped, { rows: 2 });
    const reason = { code: 'guardDead', message: word, hint: word, facts: {} };
    await world.ledger.runs.move(stopped.id, ['staging'], 'stopped', { atMs: startMs, reason });
    return { bench, held, working, stopped, feed };
  }

  /** One that is narrow by itself, of the widths between, and one below and above each change of the layout. */
  const widths = [320, 340, 390, 600, 768, 1_000, 1_092, 1_140, 1_152, 1_153, 1_180, 1_220, 1_280, 1_600];

  async function expectNoSidewaysScrolling(bench: DashboardBench, paths: readonly string[]): Promise<void> {
    if (browser === null) throw new Error('the browser is there');
    const served = await startPage(bench.parts, { host: '127.0.0.1', port: 0 });
    const page = await browser.newPage();
    onTestFinished(async () => {
      await page.close();
      await served.close();
    });
    const tooWide: string[] = [];
    for (const path of paths) {
      await page.goto(new URL(path, served.address).href);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
        if (wide > width) tooWide.push(`${path} at ${width}: ${wide}`);
      }
    }
    expect(tooWide).toEqual([]);
  }

  it('needs no sideways scrolling for a run with rejected rows and large counts, however wide the window', async () => {
    const bench = await dashboardBench();
    const many = 1_234_567;
    await finishedRun(bench, [deadRow({ message: '<b>no</b> phone number' })]);
    const large = await enterRun(bench, { id: '20261121T140100Z-00000b', feed: 'salesforce' });
    const counts = { rows: 5 * many, created: many, updated: many, unchanged: many, skipped: many, dead: many };
    await stageRun(bench, large, { ...counts, deleted: many, heldFields: many }, [deadRow()]);
    await bench.ledger.runs.move(large.id, ['staging'], 'applying', { atMs: startMs });
    await bench.ledger.runs.move(large.id, ['applying'], 'doneWithDead', { atMs: startMs + 3_599_000 });
    const stopped = await enterRun(bench, { id: '20261121T140200Z-00000c' });
    await stageRun(bench, stopped, { rows: 2 * many, unchanged: many });
    await bench.ledger.runs.move(stopped.id, ['staging'], 'stopped', { atMs: startMs });
    const paths = ['/', '/runs', '/feeds', '/dead-letters', `/runs/${large.id}`, `/runs/${stopped.id}`, '/runs/none'];
    await expectNoSidewaysScrolling(bench, paths);
  });

  it('needs no sideways scrolling either for names and values that are long and have no space', async () => {
    const { bench, held, working, stopped, feed } = await longNamesBench();
    const runs = [held, working, stopped].map(({ id }) => `/runs/${id}`);
    await expectNoSidewaysScrolling(bench, ['/', `/runs?feed=${feed}`, '/feeds', '/dead-letters', ...runs]);
  });

  it('is printed with its tables as tables, codes in one piece and every row open', async () => {
    if (browser === null) throw new Error('the browser is there');
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow({ code: 'phoneExtensionDropped' })]);
    const served = await startPage(bench.parts, { host: '127.0.0.1', port: 0 });
    const page = await browser.newPage({ viewport: { width: 718, height: 1_000 }, colorScheme: 'dark' });
    onTestFinished(async () => {
      await page.close();
      await served.close();
    });
    await page.goto(served.address);
    const linesOfCode = "document.querySelector('.reason').getClientRects().length";
    const display = "getComputedStyle(document.querySelector('tbody td')).display";
    expect(await page.evaluate(display), 'a card on a narrow screen').toBe('grid');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(display)).toBe('table-cell');
    expect(await page.evaluate(linesOfCode)).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(718);
    await page.goto(new URL('/dead-letters', served.address).href);
    const rowIsOpen = "document.querySelector('details .cells').checkVisibility()";
    expect(await page.evaluate(rowIsOpen)).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    expect(await page.evaluate(rowIsOpen), 'on a screen').toBe(false);
  });

  it('is stopped from refreshing by the first thing that the keyboard reaches', async () => {
    if (browser === null) throw new Error('the browser is there');
    const bench = await dashboardBench();
    await enterRun(bench);
    const served = await startPage(bench.parts, { host: '127.0.0.1', port: 0 });
    const page = await browser.newPage();
    onTestFinished(async () => {
      await page.close();
      await served.close();
    });
    await page.goto(served.address);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\?refresh=off$/);
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    expect(await page.getByText('Refresh this page').getAttribute('href')).toBe('/');
  });

  it('opens the page that a link elsewhere leads to: after the login, and at once for a person who is logged in', async () => {
    if (browser === null) throw new Error('the browser is there');
    const token = 'a-long-token-of-24-chars';
    const bench = await dashboardBench({ token });
    const run = await finishedRun(bench, [deadRow()]);
    const served = await startPage(bench.parts, { host: '127.0.0.1', port: 0 });
    const wanted = `${served.address}/runs/${run.id}`;
    // To a browser localhost is another site than 127.0.0.1.
    const chat = createServer((_, response) => response.end(`<a href="${wanted}">3 rows were rejected</a>`));
    await new Promise<void>((resolve) => chat.listen(0, 'localhost', resolve));
    const address = chat.address();
    if (address === null || typeof address === 'string') throw new Error('it listens on a port');
    const page = await browser.newPage();
    onTestFinished(async () => {
      await page.close();
      await served.close();
      chat.close();
    });
    const followLink = async (): Promise<void> => {
      await page.goto(`http://localhost:${address.port}/`);
      await page.locator('a').click();
    };
    await followLink();
    await page.locator('#token').fill(token);
    await page.locator('button').click();
    await page.waitForURL(wanted);
    await page.locator('h1', { hasText: 'crm.csv' }).waitFor();
    await followLink();
    await page.locator('h1', { hasText: 'crm.csv' }).waitFor();
    expect(page.url()).toBe(wanted);
  });
});
