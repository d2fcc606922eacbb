/** A ledger belongs to one workspace (`docs/rules.md`, "Workspace, feed, key"). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { silentLogger } from '#src/log.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { type Cut, checkWorkspace } from '#src/runs/check-workspace.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { act } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { startTestService, testKey } from '#test/service/test-service.ts';
import { csv, openRunsBench } from './support/runs-bench.ts';

async function openLedger(): Promise<Ledger> {
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  return opened.ledger;
}

interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly createPerson: (externalId: string) => Promise<void>;
  /** How it misbehaves from now on. */
  readonly faults: (...specs: readonly string[]) => Promise<void>;
}

/** A workspace of its own, with so many phone numbers. */
async function openWorkspace(numbers: number): Promise<OpenWorkspace> {
  const service = await startTestService({ seedPhoneNumbers: numbers, apiKeys: [testKey, 'rotated'], control: true });
  const clock = systemClock();
  const workspace = createHttpWorkspace({
    baseUrl: service.origin,
    readApiKey: () => testKey,
    rateGate: createPauseGate(clock),
    clock,
    random: () => 0,
    log: silentLogger(),
  });
  onTestFinished(() => workspace.close());
  const createPerson = async (externalId: string): Promise<void> => {
    const { status } = await service.call('POST', '/v1/contacts', { externalId, defaultFields: { firstName: 'Ann' } });
    expect(status).toBe(201);
  };
  const faults = async (...specs: readonly string[]): Promise<void> => {
    expect((await service.call('POST', '/__control', { faults: specs })).status).toBe(200);
  };
  return { workspace, createPerson, faults };
}

const check = (
  ledger: Ledger,
  { workspace }: { workspace: Workspace },
  apiKey = testKey,
  sameWorkspace = false,
  cut: Cut = {},
) => {
  const confirmed = sameWorkspace ? async () => act('sameWorkspace') : null;
  return checkWorkspace(ledger, workspace, { origin: workspace.origin, apiKey, confirmed }, cut);
};
const other = { kind: 'usage', code: 'otherWorkspace' };

describe('a ledger that knows nothing', () => {
  it('belongs to the first workspace that it meets: origin, a salted hash of the key, its phone numbers', async () => {
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await check(ledger, there);
    const binding = await ledger.binding();
    expect(binding?.origin).toBe(there.workspace.origin);
    expect(binding?.phoneNumberIds).toEqual(await there.workspace.listPhoneNumberIds());
    expect(binding?.phoneNumberIds).toHaveLength(2);
    expect(JSON.stringify(binding)).not.toContain(testKey);
  });

  it('has another hash of the same key than another ledger has', async () => {
    const [one, two] = [await openLedger(), await openLedger()];
    const there = await openWorkspace(1);
    await check(one, there);
    await check(two, there);
    expect((await one.binding())?.keyHash).not.toBe((await two.binding())?.keyHash);
  });

  it('may be bound anew while it holds no contact', async () => {
    const ledger = await openLedger();
    await check(ledger, await openWorkspace(0));
    const there = await openWorkspace(2);
    await check(ledger, there, 'rotated');
    expect((await ledger.binding())?.origin).toBe(there.workspace.origin);
  });
});

describe('the same origin and the same key', () => {
  it('pass, also when all phone numbers are others today', async () => {
    const ledger = await openLedger();
    const there = await openWorkspace(1);
    await check(ledger, there);
    await ledger.bind({ ...((await ledger.binding()) ?? never()), phoneNumberIds: ['PN-ported-away'] });
    await check(ledger, there);
    expect((await ledger.binding())?.phoneNumberIds).toEqual(await there.workspace.listPhoneNumberIds());
  });
});

describe('a rotated key', () => {
  it('passes where one known phone number is there, and is remembered', async () => {
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await check(ledger, there);
    const before = await ledger.binding();
    await ledger.bind({
      ...(before ?? never()),
      phoneNumberIds: [...(before?.phoneNumberIds.slice(0, 1) ?? []), 'PN-gone'],
    });
    await check(ledger, there, 'rotated');
    expect((await ledger.binding())?.keyHash).not.toBe(before?.keyHash);
  });

  it('is refused where it opens another workspace: none of the known numbers is there', async () => {
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await check(ledger, there);
    const before = { ...((await ledger.binding()) ?? never()), phoneNumberIds: ['PN-of-another'] };
    await ledger.bind(before);
    await expect(check(ledger, there, 'rotated')).rejects.toMatchObject({
      ...other,
      message: 'this key opens another workspace than the one that the data folder belongs to',
      hint: expect.stringMatching(/--data DIR.*--same-workspace/),
    });
    expect(await ledger.binding()).toEqual(before);
  });
});

describe('another origin', () => {
  it('is refused where none of the known numbers is there, and both origins are named', async () => {
    const ledger = await openLedger();
    const [one, two] = [await openWorkspace(2), await openWorkspace(3)];
    await check(ledger, one);
    // Seeded workspaces have numbers of the same names.
    await ledger.bind({ ...((await ledger.binding()) ?? never()), phoneNumberIds: ['PN-of-the-first'] });
    await expect(check(ledger, two)).rejects.toMatchObject({
      ...other,
      message: `the data folder belongs to the workspace at ${one.workspace.origin}, and ${two.workspace.origin} is another one`,
      facts: { known: one.workspace.origin, given: two.workspace.origin },
    });
  });

  it('is refused where it has no phone numbers at all', async () => {
    const ledger = await openLedger();
    await check(ledger, await openWorkspace(1));
    await expect(check(ledger, await openWorkspace(0))).rejects.toMatchObject(other);
  });

  it('passes with --same-workspace, once and for all', async () => {
    const ledger = await openLedger();
    const first = await openWorkspace(1);
    // Where nothing has changed there is nothing to confirm.
    for (const isFirst of [true, false]) await check(ledger, first, testKey, !isFirst);
    const there = await openWorkspace(0);
    await check(ledger, there, testKey, true);
    await check(ledger, there, testKey, true);
    await check(ledger, there);
    expect((await ledger.binding())?.origin).toBe(there.workspace.origin);
    const facts = { from: first.workspace.origin, to: there.workspace.origin, keyChanged: false };
    expect(await ledger.acts.list({ limit: 9 })).toMatchObject([{ kind: 'sameWorkspace', who: 'ann', facts }]);
  });
});

describe('a workspace without phone numbers', () => {
  it('is known by a contact that we made', async () => {
    const bench = await openRunsBench();
    const { workspace } = bench.world.parts;
    await check(bench.ledger, { workspace });
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    await expect(check(bench.ledger, { workspace }, 'rotated')).resolves.toBeUndefined();
  });

  it('is another one where none of our contacts is there', async () => {
    const bench = await openRunsBench();
    await check(bench.ledger, bench.world.parts);
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    await expect(check(bench.ledger, await openWorkspace(0), 'rotated')).rejects.toMatchObject(other);
  });

  it('is another one where a contact of the same key is not the one that we made', async () => {
    const bench = await openRunsBench();
    await check(bench.ledger, bench.world.parts);
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    const there = await openWorkspace(0);
    await there.createPerson('c-1');
    await expect(check(bench.ledger, there, 'rotated')).rejects.toMatchObject(other);
  });
});

/** A workspace whose list of phone numbers gets no answer, and the silence that each read was allowed, in milliseconds. */
function withoutList(workspace: Workspace): { readonly workspace: Workspace; readonly allowed: () => object } {
  const allowed: Record<string, number | undefined> = {};
  return {
    workspace: {
      ...workspace,
      listPhoneNumberIds: async ({ silentMsMax } = {}) => {
        allowed.list = silentMsMax;
        const facts = { operation: 'list the phone numbers', silentMs: silentMsMax ?? 0 };
        throw new PatchbayError('unreachable', 'serviceUnreachable', 'no answer', { facts });
      },
      listByExternalIds: async (keys, options) => {
        allowed.lookUp = options?.silentMsMax;
        return workspace.listByExternalIds(keys, options);
      },
    },
    allowed: () => allowed,
  };
}

describe('a list of phone numbers that gets no answer', () => {
  const hangs = async (cut: Cut, apiKey = testKey) => {
    const bench = await openRunsBench();
    await check(bench.ledger, bench.world.parts);
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    const there = withoutList(bench.world.parts.workspace);
    const known = { ...((await bench.ledger.binding()) ?? never()), phoneNumberIds: ['PN1'] };
    await bench.ledger.bind(known);
    await check(bench.ledger, there, apiKey, false, cut);
    expect((await bench.ledger.binding())?.phoneNumberIds).toEqual(known.phoneNumberIds);
    return there.allowed();
  };

  it.each([
    ['a start', 5_000, { list: 2_000, lookUp: 3_000 }],
    ['a look that nothing repeats', 15_000, { list: 2_000, lookUp: 13_000 }],
    ['what ends a pause', undefined, { list: 2_000, lookUp: Number.POSITIVE_INFINITY }],
  ])('does not hold up %s: a look-up has the rest of the time', async (_, silentMsMax, allowed) => {
    expect(await hangs(silentMsMax === undefined ? {} : { silentMsMax })).toEqual(allowed);
  });

  it.each([
    ['knows no workspace yet', null, { list: 2_500, lookUp: 2_500 }],
    ['knows no number', 0, { list: 2_500, lookUp: 2_500 }],
    ['knows a number', 1, { list: 2_000, lookUp: 3_000 }],
  ])('has more time at a start of a ledger that %s', async (_, numbers, allowed) => {
    const ledger = await openLedger();
    if (numbers !== null) await check(ledger, await openWorkspace(numbers));
    const there = withoutList((await openWorkspace(0)).workspace);
    await check(ledger, there, testKey, true, { silentMsMax: 5_000 });
    expect(there.allowed()).toEqual(allowed);
  });

  it('is waited for by what ends a pause of a ledger without numbers', async () => {
    const there = withoutList((await openWorkspace(0)).workspace);
    await check(await openLedger(), there);
    expect(there.allowed()).toMatchObject({ list: 5_000 });
  });

  it('has more time where the key has changed, and then the contacts that we made decide', async () => {
    expect(await hangs({ silentMsMax: 5_000 }, 'rotated')).toMatchObject({ list: 2_500 });
    expect(await hangs({}, 'rotated')).toMatchObject({ list: 15_000 });
  });

  it('stops everything where the look-up gets no answer either', async () => {
    const there = await openWorkspace(2);
    await there.faults('*:hangAfter');
    const silence = check(await openLedger(), there, testKey, false, { silentMsMax: 300 });
    await expect(silence).rejects.toMatchObject({
      code: 'serviceUnreachable',
      facts: { operation: 'look up contacts' },
    });
  });

  it('is one that the service itself leaves without an answer', async () => {
    const there = await openWorkspace(2);
    await there.faults('numbers:hangAfter');
    const ledger = await openLedger();
    await check(ledger, there, testKey, false, { silentMsMax: 2_000 });
    expect(await ledger.binding()).toMatchObject({ origin: there.workspace.origin, phoneNumberIds: [] });
  });
});

describe('a list of phone numbers that cannot be read', () => {
  it.each([
    ['is paged oddly', 'numbers:repeatToken'],
    ['has a token that is no text', 'numbers:nonStringToken'],
    ['is refused', 'numbers:status=403'],
    ['is no JSON', 'numbers:notJson'],
  ])('stops nothing where it %s: what is known stays known', async (_, fault) => {
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await check(ledger, there);
    const before = await ledger.binding();
    await there.faults(fault);
    await check(ledger, there);
    expect(await ledger.binding()).toEqual(before);
  });

  it('does not keep a new ledger from its workspace', async () => {
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await there.faults('numbers:nonStringToken');
    await check(ledger, there);
    expect(await ledger.binding()).toMatchObject({ origin: there.workspace.origin, phoneNumberIds: [] });
  });

  it('stops everything where a look-up does not pass either', async () => {
    const there = await openWorkspace(2);
    await there.faults('*:status=403');
    await expect(check(await openLedger(), there)).rejects.toMatchObject({ kind: 'auth', code: 'keyRefused' });
  });

  it('leaves a rotated key to the contacts that we made, and without them to its own trouble', async () => {
    const bench = await openRunsBench();
    await check(bench.ledger, bench.world.parts);
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    await bench.world.faults('numbers:nonStringToken');
    await check(bench.ledger, bench.world.parts, 'rotated');
    const ledger = await openLedger();
    const there = await openWorkspace(2);
    await check(ledger, there);
    const before = await ledger.binding();
    await there.faults('numbers:notJson');
    await expect(check(ledger, there, 'rotated')).rejects.toMatchObject({ code: 'serviceAnswersOddly' });
    expect(await ledger.binding()).toEqual(before);
  });
});

function never(): never {
  throw new Error('the ledger is bound');
}
