/** What a plan and `contact` take for a feed that is there: one that any host has a folder of (`docs/rules.md`, "Workspace, feed, key"). */
import { expect, it, onTestFinished } from 'vitest';
import type { Home } from '#src/app.ts';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';

it('is there where another host has its folder, or the configuration names it', async () => {
  const { ledger, close } = await openTempLedger();
  onTestFinished(close);
  const feeds = await testFeeds({ configured: { shop: {} } });
  // Of a host its feeds alone are looked at.
  const hosts = {
    ...ledger.hosts,
    list: async () => [{ feeds: ['crm', 'b\u00fcro'] }],
  } as unknown as Home['ledger']['hosts'];
  const exists = await feedsOfAllHosts({ ledger: { ...ledger, hosts }, feeds });
  expect(['crm', 'bu\u0308ro', 'shop', 'main', 'old'].map(exists)).toEqual([true, true, true, true, false]);
});
