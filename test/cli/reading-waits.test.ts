/** What a command that only reads waits for is said to a person at a terminal, and to nobody else. */
import { describe, expect, it } from 'vitest';
import { type ReadingWaits, tellReadingWaits } from '#src/cli/reading-waits.ts';
import type { ServiceFailure } from '#src/ledger/port.ts';
import { manualClock } from '#test/service/test-service.ts';

const origin = 'https://api.example.com';

interface BenchOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly isTerminal?: boolean;
  readonly failure?: ServiceFailure | null;
}

function open({ json = false, quiet = false, isTerminal = true, failure = null }: BenchOptions = {}) {
  const clock = manualClock();
  const told: string[] = [];
  const home = { clock, serviceName: origin, ledger: { serviceFailure: async () => failure } };
  const waits = tellReadingWaits(home as never, { json, quiet, note: (text) => void told.push(text) }, isTerminal);
  /** Lets the time pass, and then all that follows from it. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { waits, told, pass, nowMs: clock.nowMs };
}

const stages: readonly (readonly [Parameters<ReadingWaits['begin']>[0], string])[] = [
  ['folder', 'another command on this data folder is starting its engine, or reads: waiting for it'],
  ['queue', 'waiting for the queue: it has not answered yet'],
  ['service', `waiting for the service at ${origin}: it has not answered yet`],
  ['workspace', `reading the rows, and looking for their contacts: the service at ${origin}`],
];

describe('A person at a terminal', () => {
  it.each(stages)('reads after two seconds, once, what is waited for: %s', async (stage, text) => {
    const { waits, told, pass } = open();
    waits.begin(stage);
    await pass(1_999);
    expect(told).toEqual([]);
    await pass(1);
    await pass(10_000);
    expect(told).toEqual([text]);
  });

  it('reads nothing of what goes on in time, nor once something is shown', async () => {
    const { waits, told, pass } = open();
    waits.begin('folder');
    await pass(1_500);
    waits.begin('service');
    await pass(1_500);
    waits.end();
    await pass(10_000);
    expect(told).toEqual([]);
  });

  it('reads why the service does not answer, where a read has failed since', async () => {
    const message = `the last read at ${origin} failed: the connection was refused (ECONNREFUSED)`;
    const nowMs = manualClock().nowMs();
    const now = open({ failure: { code: 'serviceUnreachable', message, atMs: nowMs } });
    const before = open({ failure: { code: 'serviceUnreachable', message, atMs: nowMs - 1 } });
    for (const { waits, pass } of [now, before]) {
      waits.begin('service');
      await pass(2_000);
    }
    expect(now.told).toEqual([`waiting for the service: ${message}`]);
    expect(before.told).toEqual([`waiting for the service at ${origin}: it has not answered yet`]);
  });
});

it.each([{ json: true }, { quiet: true }, { isTerminal: false }])('nothing is said with %j', async (options) => {
  const { waits, told, pass } = open(options);
  waits.begin('service');
  await pass(10_000);
  expect(told).toEqual([]);
});
