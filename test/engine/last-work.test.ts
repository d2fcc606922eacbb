/** What an engine of a single command does before it leaves ends at once with a signal, and keeps no command from its end. */
import { expect, it } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import { doLastWork, type LastWorkParts } from '#src/engine/last-work.ts';
import { newDeliveryId } from '#src/ledger/deliveries.ts';
import { silentLogger } from '#src/log.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';

/** Notices are due, each of the feed that its type begins with. */
async function openBench(
  deliver: LastWorkParts['notices']['deliver'],
  leads = true,
  types: readonly string[] = ['crm.bad'],
): Promise<LastWorkParts> {
  const { ledger } = await openForTest(openTempLedger);
  const clock = movedClock();
  const atMs = clock.nowMs();
  const notices = types.map(
    (type) => ({ id: newDeliveryId(), kind: 'notice', type, feed: type.split('.')[0] ?? '', data: {}, atMs }) as const,
  );
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: atMs }, notices);
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

/** Delivers, but for types that end in `refused`, or in `slow`, which end with the signal. */
async function openReceiver(types: readonly string[], onTry: (type: string) => void): Promise<LastWorkParts> {
  const parts: LastWorkParts = await openBench(
    async (id, signal) => {
      const { ledger, clock } = parts.home;
      const type = (await ledger.deliveries.get(id))?.type ?? '';
      onTry(type);
      if (type.endsWith('slow')) {
        await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      const why = { code: 'webhookFailed', message: '503' };
      const refused = { state: 'waiting', why, nextDueAtMs: clock.nowMs() + 5_000 } as const;
      await ledger.deliveries.tried(id, clock.nowMs(), type.endsWith('refused') ? refused : { state: 'delivered' });
    },
    true,
    types,
  );
  return parts;
}

it('notices of a feed are sent one behind the other, until one is not accepted', async () => {
  const tried: string[] = [];
  const types = ['crm.first', 'crm.second', 'crm.refused', 'crm.last'];
  const parts = await openReceiver(types, (type) => tried.push(type));
  await doLastWork(parts, new AbortController().signal);
  expect(tried).toEqual(types.slice(0, 3));
});

it('a receiver that does not answer keeps no notice of another feed back', async () => {
  const stopping = new AbortController();
  const tried: string[] = [];
  const parts = await openReceiver(['shop.slow', 'crm.first', 'crm.second'], (type) => {
    tried.push(type);
    if (type === 'crm.second') stopping.abort();
  });
  await doLastWork(parts, stopping.signal);
  expect(tried.sort()).toEqual(['crm.first', 'crm.second', 'shop.slow']);
});

it('a notice that stays due is tried once', async () => {
  const tried: string[] = [];
  const parts = await openBench(async (id) => void tried.push(id));
  await doLastWork(parts, new AbortController().signal);
  expect(tried).toHaveLength(1);
});
