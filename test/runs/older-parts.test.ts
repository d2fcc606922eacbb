/** A full file that was read while it was being written: the whole one behind it turns nothing back (`docs/rules.md`, "Guards"). */
import { expect, it } from 'vitest';
import { csv, expectCounts, fillers, openRunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const whole = csv(fillers(30));
const cleared = { crm: { onMissing: 'clear role' } } as const;

it('the content of an earlier file comes again behind its own first half, and is accepted', async () => {
  const bench = await openRunsBench({ guards: defaultGuards, configured: cleared });
  const inCrm = { feed: 'crm' };
  await bench.import('crm.csv', whole, inCrm);
  const half = whole.split('\n').slice(0, 25).join('\n').concat('\n');
  expectCounts(await bench.import('crm.csv', half, inCrm), { rows: 30, updated: 6, unchanged: 24 });
  const again = await bench.import('crm.csv', whole, inCrm);
  expect(again.reason).toBeNull();
  expectCounts(again, { rows: 30, updated: 6, unchanged: 24 });
});

it('behind a file that lacks its last people since long, it stops: they may have left', async () => {
  const bench = await openRunsBench({ guards: defaultGuards, configured: cleared });
  const inCrm = { feed: 'crm' };
  await bench.import('crm.csv', whole, inCrm);
  await bench.import('crm.csv', whole.split('\n').slice(0, 25).join('\n').concat('\n'), inCrm);
  bench.world.clock.advance(3 * 3_600_000);
  expect(await bench.import('crm.csv', whole, inCrm)).toMatchObject({ reason: { code: 'guardOlder' } });
});

it('behind another file, or behind a half that has said something else, it stops', async () => {
  const bench = await openRunsBench({ guards: defaultGuards, configured: cleared });
  const inCrm = { feed: 'crm' };
  await bench.import('crm.csv', whole, inCrm);
  const other = whole.replace('Engineer', 'Pilot').split('\n').slice(0, 25).join('\n').concat('\n');
  await bench.import('crm.csv', other, inCrm);
  expect(await bench.import('crm.csv', whole, inCrm)).toMatchObject({
    state: 'stopped',
    reason: { code: 'guardOlder' },
  });
});
