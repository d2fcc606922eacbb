/** What an engine of a single command does before it leaves ends at once with a signal, and keeps no command from its end. */
import { expect, it } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import { doLastWork, type LastWorkParts } from '#src/engine/last-work.ts';
import { newDeliveryId } from '#src/ledger/deliveries.ts';
import { silentLogger } from '#src/log.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';

/** One notice is due. */
async function openBench(deliver: LastWorkParts['notices']['deliver'], leads = true): Promise<LastWorkParts> {
  const { ledger } = await openForTest(openTempLedger);
  const clock = movedClock();
  const notice = {
    id: newDeliveryId(),
    kind: 'notice',
    type: 'feed.bad',
    feed: 'crm',
    data: {},
    atMs: clock.nowMs(),
  } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: clock.nowMs() }, [notice]);
  const runFolders = { claimed: '', handedOver: '', drafts: '', reports: '', importFolders: [] };
  return {
    home: { config: configSchema.parse({}), ledger, clock, log: silentLogger(), host: null, runFolders },
    standing: { leads: () => leads },
    noticeWatch: { look: async () => undefined },
    notices: { deliver },
  };
}

it('a receiver that does not answer is left with the signal, and the notice waits', async () => {
  const stopping = new AbortController();
  const asked: string[] = [];
  const parts = await openBench(async (id, signal) => {
    asked.push(id);
    const cut = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    stopping.abort();
    await cut;
  });
  await doLastWork(parts, stopping.signal);
  expect(asked).toHaveLength(1);
  await doLastWork(parts, stopping.signal);
  expect(asked).toHaveLength(1);
});

it('nothing is sent where another engine leads, and what fails is no failure of the command', async () => {
  let count = 0;
  const deliver = async (): Promise<void> => {
    count += 1;
    throw new Error('no');
  };
  const never = new AbortController().signal;
  await doLastWork(await openBench(deliver, false), never);
  expect(count).toBe(0);
  await doLastWork(await openBench(deliver), never);
  expect(count).toBe(1);
});
