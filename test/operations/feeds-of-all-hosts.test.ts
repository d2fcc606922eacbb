/** What a plan and `contact` take for a feed that is there: one that any host has a folder of (`docs/rules.md`, "Workspace, feed, key"). */
import { expect, it } from 'vitest';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';

it('is there where another host has its folder, or the configuration names it', async () => {
  const feeds = await testFeeds({ configured: { shop: {} } });
  const hosts = { list: async () => [{ feeds: ['crm', 'b\u00fcro'] }] };
  const exists = await feedsOfAllHosts({ ledger: { hosts }, feeds });
  expect(['crm', 'bu\u0308ro', 'shop', 'main', 'old'].map(exists)).toEqual([true, true, true, true, false]);
});
