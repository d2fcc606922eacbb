/** Work stops when the service refuses the key or does not answer, and goes on by itself (`docs/rules.md`, "Retries, rate, outages"). */
import { describe, expect, it } from 'vitest';
import { createServiceWatch, createWriteTrial, type ServiceWatch } from '#src/engine/service-watch.ts';
import { type ErrorKind, PatchbayError } from '#src/errors.ts';
import { createLogger } from '#src/log.ts';
import { createBreakers } from '#src/workspace/classify.ts';
import { wanted } from '#test/upsert/support/build.ts';
import { openUpsertWorld, type UpsertWorld } from '#test/upsert/support/upsert-world.ts';

interface Bench {
  readonly world: UpsertWorld;
  readonly watch: ServiceWatch;
  /** `level code message` of every line. */
  readonly lines: readonly string[];
  /** What the check before work begins again throws; null where it passes. */
  failRecheckWith(error: Error | null): void;
  recheckCount(): number;
}

async function openBench(): Promise<Bench> {
  const world = await openUpsertWorld();
  const lines: string[] = [];
  let failure: Error | null = null;
  let recheckCount = 0;
  const write = (line: string): void => {
    const { level, code, msg } = JSON.parse(line);
    lines.push([level, code, msg].filter((part) => part !== undefined).join(' '));
  };
  const { ledger, workspace, clock } = world.parts;
  const recheck = async (): Promise<void> => {
    recheckCount += 1;
    if (failure !== null) throw failure;
  };
  const log = createLogger({ level: 'info', stream: { write } });
  const breakers = createBreakers({ clock, onOpen: () => undefined });
  return {
    world,
    watch: createServiceWatch({ ledger, workspace, breakers, clock, log, recheck }),
    lines,
    failRecheckWith: (error) => {
      failure = error;
    },
    recheckCount: () => recheckCount,
  };
}

const error = (kind: ErrorKind, code: string): PatchbayError => new PatchbayError(kind, code, `it is ${code}`);

describe('work is paused', () => {
  it.each(['auth', 'unreachable'] as const)('for an error of kind %s, with the reason and the moment', async (kind) => {
    const { world, watch } = await openBench();
    expect(await watch.pauseFor(error(kind, 'keyRefused'))).toBe(true);
    const pause = await world.ledger.pause();
    expect(pause).toMatchObject({ code: kind, message: 'it is keyRefused' });
    expect(Math.abs((pause?.sinceMs ?? 0) - world.clock.nowMs())).toBeLessThan(60_000);
  });

  it.each(['usage', 'file', 'guard', 'transient', 'rejected', 'bug'] as const)(
    'for no error of kind %s',
    async (kind) => {
      const { world, watch, lines } = await openBench();
      expect(await watch.pauseFor(error(kind, 'x'))).toBe(false);
      expect(await world.ledger.pause()).toBeNull();
      expect(lines).toEqual([]);
    },
  );

  it('for nothing else that is thrown', async () => {
    const { world, watch } = await openBench();
    expect(await watch.pauseFor(new TypeError('x'))).toBe(false);
    expect(await watch.pauseFor('auth')).toBe(false);
    expect(await world.ledger.pause()).toBeNull();
  });

  it('since the first time, for the cause as it is now: the same trouble again is no news', async () => {
    const { world, watch, lines } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    const first = await world.ledger.pause();
    world.clock.advance(60_000);
    await watch.pauseFor(error('unreachable', 'serviceFailing'));
    expect(await world.ledger.pause()).toEqual({
      ...first,
      ...{ errorCode: 'serviceFailing', message: 'it is serviceFailing', plainMessage: 'it is serviceFailing' },
    });
    expect(lines).toEqual(['warn serviceUnreachable work paused']);
  });

  it('anew where the trouble is another one', async () => {
    const { world, watch, lines } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    await watch.pauseFor(error('auth', 'keyRefused'));
    expect(await world.ledger.pause()).toMatchObject({ code: 'auth' });
    expect(lines).toEqual(['warn serviceUnreachable work paused', 'warn keyRefused work paused']);
  });
});

describe('a probe', () => {
  it('renews the cause of the pause where the service fails in another way by now, and keeps since when', async () => {
    const { world, watch } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    const first = await world.ledger.pause();
    world.clock.advance(60_000);
    await world.faults('*:status=500');
    expect(await watch.probe()).toBe(false);
    expect(await world.ledger.pause()).toMatchObject({
      ...{ code: 'unreachable', errorCode: 'serviceFailing', sinceMs: first?.sinceMs },
      ...{ message: expect.stringContaining('500'), plainMessage: expect.stringMatching(/status 500\)\.$/) },
    });
  });

  it('asks nothing while work goes on', async () => {
    const { world, watch, recheckCount } = await openBench();
    const before = world.parts.workspace.counts();
    expect(await watch.probe()).toBe(true);
    expect(world.parts.workspace.counts()).toEqual(before);
    expect(recheckCount()).toBe(0);
  });

  it('resumes when the service answers, after the workspace was checked', async () => {
    const { world, watch, lines, recheckCount } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    expect(await watch.probe()).toBe(true);
    expect(await world.ledger.pause()).toBeNull();
    expect(recheckCount()).toBe(1);
    expect(lines).toEqual(['warn serviceUnreachable work paused', 'info work resumed']);
  });

  it('keeps the pause while the service fails, and says so once', async () => {
    const { world, watch, lines, recheckCount } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    await world.faults('*:status=401');
    for (let probe = 0; probe < 3; probe += 1) expect(await watch.probe()).toBe(false);
    expect(await world.ledger.pause()).toMatchObject({ code: 'auth' });
    expect(recheckCount()).toBe(0);
    expect(lines).toEqual(['warn serviceUnreachable work paused', 'warn keyRefused work paused']);
    await world.faults();
    expect(await watch.probe()).toBe(true);
  });

  it('keeps the pause where the key opens another workspace, and says so once, in the pause too', async () => {
    const { world, watch, lines, failRecheckWith } = await openBench();
    await watch.pauseFor(error('auth', 'keyRefused'));
    failRecheckWith(error('usage', 'otherWorkspace'));
    for (let probe = 0; probe < 3; probe += 1) expect(await watch.probe()).toBe(false);
    expect(await world.ledger.pause()).toMatchObject({ code: 'auth', message: 'it is otherWorkspace' });
    expect(lines).toEqual(['warn keyRefused work paused', 'error otherWorkspace probe failed']);
  });

  it('tells a failure of the check again after it was well in between', async () => {
    const { watch, lines, failRecheckWith } = await openBench();
    await watch.pauseFor(error('auth', 'keyRefused'));
    failRecheckWith(error('usage', 'otherWorkspace'));
    await watch.probe();
    failRecheckWith(null);
    await watch.probe();
    await watch.pauseFor(error('auth', 'keyRefused'));
    failRecheckWith(error('usage', 'otherWorkspace'));
    await watch.probe();
    expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(2);
  });

  it('keeps the pause where the missing key is found out by the check', async () => {
    const { world, watch, failRecheckWith } = await openBench();
    await watch.pauseFor(error('unreachable', 'serviceUnreachable'));
    failRecheckWith(error('auth', 'apiKeyMissing'));
    expect(await watch.probe()).toBe(false);
    expect(await world.ledger.pause()).toMatchObject({ code: 'auth', message: 'it is apiKeyMissing' });
  });

  it.each(['rateLimited', 'queueAway', 'queueFull', 'queueSlow', 'rateGateAway'])(
    'that the rate gate holds back (%s) tells nothing new: the pause stays as it is',
    async (code) => {
      const { world, watch, lines, failRecheckWith } = await openBench();
      const writing = {
        code: 'unreachable',
        scope: 'writes',
        errorCode: 'serviceFailing',
        message: 'no writes',
      } as const;
      const refused = { code: 'auth', scope: 'all', errorCode: 'keyRefused', message: 'no key' } as const;
      failRecheckWith(error('unreachable', code));
      for (const pause of [writing, refused]) {
        await world.ledger.setPause({ ...pause, sinceMs: 1 });
        const before = await world.ledger.pause();
        expect(await watch.probe()).toBe(false);
        expect(await world.ledger.pause()).toEqual(before);
      }
      expect(lines).toEqual([]);
    },
  );
});

it('a trial of writes is one record where not even its reads pass, and the next trial is one of another batch', async () => {
  const { world } = await openBench();
  const { ledger, clock } = world.parts;
  const runs = [await world.stage([wanted('crm-1')]), await world.stage([wanted('shop-1')], { feed: 'shop' })];
  const tried: string[] = [];
  const breakers = createBreakers({ clock, onOpen: () => undefined });
  const trial = createWriteTrial(ledger, clock, breakers, async ({ runId }) => {
    tried.push(runId);
    return false;
  });
  const [first, second] = runs.map(({ id }) => id);
  for (let trials = 0; trials < 3; trials += 1) expect(await trial()).toBe('failed');
  expect(tried).toEqual([first, second, first]);
});
