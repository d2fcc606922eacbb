/** Delivery to the webhook: signed, tried again, given up in the end; at least once. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Config, configSchema } from '#src/config/schema.ts';
import { webhookSecretBytes } from '#src/config/secrets.ts';
import type { NewDelivery } from '#src/ledger/deliveries.ts';
import { createLogger } from '#src/log.ts';
import { noWebhookMaxMs, openNotices, retryDelayMs, retryDelaysMs } from '#src/notices/deliver.ts';
import { retryAfterMaxMs } from '#src/notices/senders.ts';
import { webhookHeaders } from '#src/notices/webhook.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { startChild } from '#test/ledger/support/child-process.ts';
import { openTempLedger, tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';
import { isSigned, startReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

const secretText = 'a secret of more than sixteen characters'.replaceAll(' ', '-');
const never = new AbortController().signal;

interface Bench {
  readonly clock: ReturnType<typeof movedClock>;
  readonly ledger: Awaited<ReturnType<typeof openTempLedger>>['ledger'];
  readonly file: string;
  /** `level code message`. */
  readonly lines: readonly string[];
  /** The same lines as they were written. */
  readonly log: readonly string[];
  deliver(signal?: AbortSignal, id?: string): Promise<void>;
  /** Lets the time pass that a failed try waits at most, then tries. */
  deliverLater(): Promise<void>;
  standing(): Promise<string>;
}

/** One notice that waits, and the processes' part that delivers it. */
async function openBench(
  receiver: Pick<WebhookReceiver, 'url'> | null,
  notify: Partial<Config['notify']> = { secret: secretText },
  requestMs = 10_000,
): Promise<Bench> {
  const opened = await openTempLedger();
  const { ledger } = await openForTest(async () => opened);
  const clock = movedClock();
  const lines: string[] = [];
  const log: string[] = [];
  const write = (line: string): void => {
    log.push(line);
    const { level, code, msg } = JSON.parse(line);
    lines.push([level, code, msg].join(' '));
  };
  const notice: NewDelivery = {
    id: 'n1',
    kind: 'notice',
    type: 'feed.bad',
    feed: 'crm',
    data: { troubles: ['guard'] },
    atMs: Date.UTC(2026, 10, 21),
  };
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 0 }, [notice]);
  const notices = openNotices({
    ledger,
    clock,
    log: createLogger({ level: 'info', stream: { write } }),
    random: () => 1,
    notify: { ...configSchema.parse({ notify: { url: receiver?.url ?? null } }).notify, ...notify },
    workspace: 'sandbox',
    installation: null,
    pageAddress: null,
    limits: { connectMs: 1_000, requestMs },
  });
  onTestFinished(() => notices.close());
  const deliver = (signal = never, id = 'n1'): Promise<void> => notices.deliver(id, signal);
  return {
    clock,
    ledger,
    file: opened.file,
    lines,
    log,
    deliver,
    deliverLater: async () => {
      clock.advance(24 * 3_600_000);
      await deliver();
    },
    standing: async () => {
      const found = await ledger.deliveries.get('n1');
      return `${found?.state} ${found?.attempts} ${found?.code} ${found?.message}`;
    },
  };
}

describe('A delivery', () => {
  it('is signed, and says what happened, where and when', async () => {
    const receiver = await startReceiver();
    const bench = await openBench(receiver);
    await bench.deliver();
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing arrived');
    expect(await isSigned(received, new TextEncoder().encode(secretText))).toBe(true);
    expect(await isSigned(received, new TextEncoder().encode('another secret of that length'))).toBe(false);
    expect(received.headers).toMatchObject({ 'webhook-id': 'n1', 'content-type': 'application/json' });
    const ageSeconds = bench.clock.nowMs() / 1_000 - Number(received.headers['webhook-timestamp']);
    expect(Math.abs(ageSeconds)).toBeLessThan(30);
    expect(JSON.parse(received.body)).toEqual({
      id: 'n1',
      type: 'feed.bad',
      at: '2026-11-21T00:00:00.000Z',
      feed: 'crm',
      workspace: 'sandbox',
      data: { troubles: ['guard'] },
    });
    expect(await bench.standing()).toBe('delivered 1 null null');
    expect(bench.lines).toEqual([]);
    await bench.deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it('that fails twice is sent again with the same id and body until it is taken', async () => {
    const receiver = await startReceiver([503, 'reset']);
    const bench = await openBench(receiver);
    await bench.deliver();
    expect(await bench.standing()).toBe('waiting 1 webhookFailed the webhook answered 503');
    await bench.deliver();
    expect(receiver.received).toHaveLength(1);
    await bench.deliverLater();
    expect(await bench.standing()).toMatch(/^waiting 2 webhookFailed the webhook did not answer \(\w+\)$/);
    await bench.deliverLater();
    expect(await bench.standing()).toBe('delivered 3 null null');
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['n1']));
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    for (const one of receiver.received) expect(await isSigned(one, new TextEncoder().encode(secretText))).toBe(true);
  });

  it('is given up when its tries are used up, which is told, and nothing of the answer is kept', async () => {
    const receiver = await startReceiver(Array.from({ length: 20 }, () => 400));
    const bench = await openBench(receiver);
    for (let turn = 0; turn < 12; turn += 1) await bench.deliverLater();
    expect(await bench.standing()).toBe('dead 9 webhookFailed the webhook answered 400');
    expect(receiver.received).toHaveLength(9);
    expect(bench.lines).toEqual([
      'warn webhookFailed the webhook does not accept deliveries; they are retried for about a day',
      'warn webhookFailed delivery given up',
    ]);
    expect(JSON.stringify(await bench.ledger.deliveries.get('n1'))).not.toMatch(/Ada|127\.0\.0\.1/);
  });

  it('that fails is told once, and again when the receiver is well', async () => {
    const bench = await openBench(await startReceiver([500, 500, 200, 500]));
    for (let turn = 0; turn < 3; turn += 1) await bench.deliverLater();
    const failing = 'warn webhookFailed the webhook does not accept deliveries; they are retried for about a day';
    expect(bench.lines).toEqual([failing, 'info  the webhook accepts deliveries again']);
    await bench.ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: 0 }, [
      { id: 'n2', kind: 'notice', type: 'feed.recovered', feed: 'crm', data: {}, atMs: 0 },
    ]);
    await bench.deliver(never, 'n2');
    expect(bench.lines.at(-1)).toBe(failing);
  });

  it('that is accepted brings forward what waits for the same addressee, and no other', async () => {
    const receiver = await startReceiver([503, 503, 503]);
    const bench = await openBench(receiver);
    const { deliveries } = bench.ledger;
    const notice = { kind: 'notice', type: 'feed.bad', data: {}, atMs: 0 } as const;
    await deliveries.setCondition({ feed: 'other', troubles: ['guard'], sinceMs: 0 }, [
      { ...notice, id: 'n2', feed: 'crm' },
      { ...notice, id: 'n3', feed: 'other' },
      { ...notice, id: 'n4', feed: 'crm@slack' },
    ]);
    const dueNow = async () => {
      const nowMs = await bench.ledger.nowMs(bench.clock);
      return (await deliveries.nextDue(nowMs, 9)).map(({ id }) => id);
    };
    for (let turn = 0; turn < 3; turn += 1) await bench.deliverLater();
    const why = { code: 'slackFailed', message: 'Slack answered 503' };
    const nextDueAtMs = (await bench.ledger.nowMs(bench.clock)) + 3_600_000;
    await deliveries.tried('n4', 0, { state: 'waiting', why, nextDueAtMs });
    expect(await dueNow()).toEqual(['n3']);
    await bench.deliver(never, 'n3');
    expect(await dueNow()).toEqual(['n1']);
    await bench.deliver();
    expect(await bench.standing()).toBe('delivered 4 null null');
    expect(await dueNow()).toEqual(['n2']);
  });

  it('that was brought forward and is refused again keeps its tries, and is due when it was', async () => {
    const bench = await openBench(await startReceiver([503, 503]));
    const { deliveries } = bench.ledger;
    await bench.deliver();
    const before = await deliveries.get('n1');
    await deliveries.bringForward(() => true, await bench.ledger.nowMs(bench.clock));
    await bench.deliver();
    expect(await deliveries.get('n1')).toMatchObject({ attempts: 1, state: 'waiting', dueAtMs: before?.dueAtMs });
  });

  it('that was brought forward waits as long as the receiver asks then, if that is later than it was due', async () => {
    const bench = await openBench(await startReceiver([429], { 'retry-after': '3600' }));
    const { deliveries } = bench.ledger;
    const nowMs = await bench.ledger.nowMs(bench.clock);
    const why = { code: 'webhookFailed', message: 'the webhook answered 503' };
    await deliveries.tried('n1', 0, { state: 'waiting', why, nextDueAtMs: nowMs + 60_000 });
    await deliveries.bringForward(() => true, nowMs);
    await bench.deliver();
    expect((await deliveries.get('n1'))?.dueAtMs).toBeGreaterThan(nowMs + 3_590_000);
  });

  it('is given up at once where the receiver is gone for good', async () => {
    const bench = await openBench(await startReceiver([410]));
    await bench.deliver();
    expect(await bench.standing()).toBe('dead 1 webhookGone the webhook answered 410: it is gone');
  });

  it.each([
    ['slack', 'slackGone'],
    ['teams', 'noAddressee'],
  ])('to %s that is given up is in the log under its feed', async (addressee, code) => {
    const receiver = await startReceiver([410]);
    const recovered = { ended: ['guard'], badSince: '2026-11-21T00:00:00.000Z' };
    const slack = configSchema.parse({ notify: { slack: { url: receiver.url } } }).notify.slack;
    const bench = await openBench(null, { slack });
    await bench.ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: 0 }, [
      { id: 'n2', kind: 'notice', type: 'feed.recovered', feed: `crm@${addressee}`, data: recovered, atMs: 0 },
    ]);
    await bench.deliver(never, 'n2');
    const given = bench.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'delivery given up');
    expect(given).toMatchObject([{ delivery: 'n2', type: 'feed.recovered', feed: 'crm', addressee, code }]);
  });

  it('follows no redirect', async () => {
    const target = await startReceiver();
    const receiver = await startReceiver([307], { location: target.url });
    const bench = await openBench(receiver);
    await bench.deliver();
    expect(await bench.standing()).toContain('the webhook answered 307, a redirect, which is not followed');
    expect(target.received).toEqual([]);
  });

  it('to a receiver that hangs ends with the time-out', async () => {
    const bench = await openBench(await startReceiver(['hang']), {}, 60);
    await bench.deliver();
    expect(await bench.standing()).toBe('waiting 1 webhookFailed the webhook did not answer (timeout)');
  });

  it.each(['hangBody', 'flood'] as const)('has arrived with a 2xx, whatever the body does (%s)', async (behaviour) => {
    const bench = await openBench(await startReceiver([behaviour]), {}, 300);
    await bench.deliver();
    expect(await bench.standing()).toContain('delivered 1');
  });

  it('waits as long as the receiver asks, within a bound', async () => {
    const bench = await openBench(await startReceiver([429], { 'retry-after': '3600' }));
    await bench.deliver();
    const dueInMs = ((await bench.ledger.deliveries.get('n1'))?.dueAtMs ?? 0) - (await bench.ledger.nowMs(bench.clock));
    expect(dueInMs).toBeGreaterThan(3_590_000);
    expect(dueInMs).toBeLessThanOrEqual(3_600_000);
  });

  it('is not sent twice at once by one process', async () => {
    const receiver = await startReceiver();
    const bench = await openBench(receiver);
    await Promise.all([bench.deliver(), bench.deliver()]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('At least once', () => {
  it('a delivery whose process is killed in the middle is sent again, under the same id', async () => {
    const receiver = await startReceiver(['hang']);
    const bench = await openBench(receiver);
    const child = startChild(new URL('./support/deliver-process.ts', import.meta.url), bench.file, receiver.url, 'n1');
    await receiver.arrived(1);
    await child.kill();
    expect(await bench.standing()).toBe('waiting 0 null null');
    await bench.deliver();
    expect(await bench.standing()).toBe('delivered 1 null null');
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(['n1', 'n1']);
  });

  it('one that is broken off by a stop counts no try', async () => {
    const receiver = await startReceiver(['hang']);
    const bench = await openBench(receiver);
    const stop = new AbortController();
    const sending = bench.deliver(stop.signal);
    await receiver.arrived(1);
    stop.abort();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
    expect(await bench.standing()).toBe('waiting 0 null null');
  });
});

describe('The secret', () => {
  it('is taken from its file anew each time', async () => {
    const secretFile = join(tempFolder(), 'secret');
    const bytes = new TextEncoder().encode('twenty-four bytes of it!');
    writeFileSync(secretFile, `${secretText}\n`, { mode: 0o600 });
    const receiver = await startReceiver([500]);
    const bench = await openBench(receiver, { secretFile });
    await bench.deliver();
    writeFileSync(secretFile, `whsec_${Buffer.from(bytes).toString('base64')}\n`);
    await bench.deliverLater();
    const [first, second] = receiver.received;
    expect(first && (await isSigned(first, new TextEncoder().encode(secretText)))).toBe(true);
    expect(second && (await isSigned(second, bytes))).toBe(true);
  });

  it('that cannot be used sends nothing, and says so once', async () => {
    const secretFile = join(tempFolder(), 'secret');
    writeFileSync(secretFile, 'short', { mode: 0o600 });
    const receiver = await startReceiver();
    const bench = await openBench(receiver, { secretFile });
    await bench.deliver();
    expect(await bench.standing()).toContain('waiting 1 notifySecretUnusable');
    chmodSync(secretFile, 0o644);
    await bench.deliverLater();
    await bench.deliverLater();
    expect(await bench.standing()).toContain('waiting 3 notifySecretFileOpen');
    expect(receiver.received).toEqual([]);
    expect(bench.lines).toEqual([
      'warn notifySecretUnusable the secret of the webhook cannot be used',
      'warn notifySecretFileOpen the secret of the webhook cannot be used',
    ]);
  });

  it('is optional: without one deliveries are not signed, which is said once', async () => {
    const receiver = await startReceiver([500]);
    const bench = await openBench(receiver, {});
    await bench.deliver();
    await bench.deliverLater();
    expect(receiver.received.map(({ headers }) => headers['webhook-signature'])).toEqual([undefined, undefined]);
    expect(bench.lines.filter((line) => line.includes('notifyUnsigned'))).toHaveLength(1);
  });

  it.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 24],
    ['sixteen-letters!', 16],
    ['fifteen-letters', null],
    ['whsec_not base64 at all, no', null],
    ['whsec_c2hvcnQ=', null],
  ])('%s is of so many bytes: %s', (text, count) => {
    expect(webhookSecretBytes(text)?.length ?? null).toBe(count);
  });

  it('signs as the scheme’s published example says', () => {
    const secret = webhookSecretBytes('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const atMs = 1_614_265_330_000;
    const signable = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', atMs, body: '{"test": 2432232314}' };
    expect(webhookHeaders(signable, secret)['webhook-signature']).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });
});

describe('Without a webhook', () => {
  it('deliveries wait without a try, and are given up after three days', async () => {
    const bench = await openBench(null);
    const entered = Date.UTC(2026, 10, 21);
    await bench.ledger.deliveries.tried('n1', entered, { state: 'dead', why: { code: 'x', message: 'x' } });
    await bench.ledger.deliveries.retry('n1', bench.clock.nowMs());
    await bench.deliver();
    const found = await bench.ledger.deliveries.get('n1');
    expect(found).toMatchObject({ state: 'waiting', attempts: 0 });
    expect((found?.dueAtMs ?? 0) - (await bench.ledger.nowMs(bench.clock))).toBeGreaterThan(50_000);
    bench.clock.advance(noWebhookMaxMs + 1_000);
    await bench.deliver();
    expect(await bench.standing()).toContain('dead 0 noWebhook');
    expect(bench.lines).toEqual(['warn noWebhook deliveries given up']);
  });
});

describe('The next try', () => {
  it('comes ever later, never earlier than its step, and in the end not at all', () => {
    expect(retryDelaysMs.map((_, index) => retryDelayMs(index + 1, 0, null))).toEqual(retryDelaysMs);
    expect(retryDelaysMs.toSorted((a, b) => a - b)).toEqual(retryDelaysMs);
    expect(retryDelayMs(1, 1, null)).toBe(6_000);
    expect(retryDelayMs(retryDelaysMs.length + 1, 0, 5_000)).toBeNull();
    expect(retryDelayMs(1, 0, 10 * retryAfterMaxMs)).toBe(retryAfterMaxMs);
  });
});
