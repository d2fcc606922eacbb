/** What `patchbay status` says of notices that were given up, and of addressees that do not accept them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { status } from '#src/cli/commands/status.ts';
import { systemClock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

function dataFolder(): { readonly data: string; readonly ledger: Ledger } {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  return { data, ledger };
}

it('names the command that lists the notices that were given up, whatever else is dead', async () => {
  const { data, ledger } = dataFolder();
  const notice = { kind: 'notice', type: 'feed.bad', feed: 'crm@slack', data: {}, atMs: 1 } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 1 }, [
    { ...notice, id: 'n1' },
    { ...notice, id: 'n2' },
  ]);
  await ledger.deliveries.tried('n1', 2, { state: 'dead', why: { code: 'slackGone', message: 'Slack answered 410' } });
  const captured = captureOutput();
  expect(await status({ data, color: false })).toBe(0);
  expect(captured.stdout()).toMatch(
    /\nnotices {7}1 to be delivered, 1 given up {2}patchbay --data \S+ dead ls --code slackGone\n/,
  );
});

it('names each addressee that does not accept notices, since when, why, how many wait, and what tries it now', async () => {
  const { data, ledger } = dataFolder();
  const notice = { kind: 'notice', type: 'feed.bad', data: {}, atMs: 1 } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 1 }, [
    { ...notice, id: 'n1', feed: 'crm' },
    { ...notice, id: 'n2', feed: 'crm' },
    { ...notice, id: 'n3', feed: 'other' },
    { ...notice, id: 'n4', feed: 'crm@slack' },
  ]);
  const downAtMs = Date.UTC(2026, 10, 27, 20);
  const minute = 60_000;
  const nextDueAtMs = (await ledger.nowMs(systemClock())) + 30 * minute;
  const why = (status: number) => ({ code: 'webhookFailed', message: `the webhook answered ${status}` });
  const failed = (id: string, minutes: number, status: number) =>
    ledger.deliveries.tried(id, downAtMs + minutes * minute, { state: 'waiting', why: why(status), nextDueAtMs });
  await failed('n1', 0, 503);
  await failed('n3', 1, 503);
  await failed('n1', 2, 404);
  const text = captureOutput();
  expect(await status({ data, color: false })).toBe(0);
  expect(text.stdout()).toMatch(
    /\nnotices to {4}webhook {2}3 not accepted since 2026-11-27 20:00:00Z: the webhook answered 404; next try \S+ \S+, or now: patchbay --data \S+ dead retry n1\n/,
  );
  expect(text.stdout()).not.toContain('slack');
  const json = captureOutput();
  await status({ data, json: true });
  const { notices } = JSON.parse(json.stdout());
  const nextInMs = Date.parse(notices.failing[0].nextTry) - Date.now();
  expect(Math.abs(nextInMs - 30 * minute)).toBeLessThan(5 * minute);
  expect(notices).toMatchObject({
    ...{ waiting: 4, dead: 0, codes: [] },
    failing: [{ to: 'webhook', waiting: 3, since: '2026-11-27T20:00:00.000Z', ...why(404), retry: 'n1' }],
  });
});
