/** Runs: order of arrival, one at a time per feed, moves by compare-and-set. */
import { expect, test } from 'vitest';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import {
  appliesAllRows,
  type NewRun,
  noOptions,
  type RunOptions,
  type RunState,
  zeroCounts,
  zeroRequests,
} from '#src/ledger/runs.ts';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import {
  applyingRun,
  createdAtMs,
  deadRow,
  newRecord,
  newRun,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const atMs = createdAtMs + 100;

export function runContract(open: OpenLedger): void {
  test('a run that takes the place of a stopped one cancels it, and no other; where it is not entered, the stopped one stays', async () => {
    const { ledger } = await openForTest(open);
    const reason = { code: 'guardDead', message: 'm', hint: null, facts: {} };
    const replaced = { code: 'replaced', message: 'r', hint: null, facts: {} };
    for (const id of ['r1', 'r2']) await ledger.runs.create(newRun(id));
    await ledger.runs.move('r1', ['queued'], 'stopped', { atMs, reason });
    const twice = ledger.runs.create(newRun('r2'), undefined, { id: 'r1', reason: replaced });
    await expect(twice).rejects.toThrow();
    expect(await ledger.runs.get('r1')).toMatchObject({ state: 'stopped', reason });
    await ledger.runs.create(newRun('r3'), undefined, { id: 'r1', reason: replaced });
    await ledger.runs.create(newRun('r4'), undefined, { id: 'r2', reason: replaced });
    expect(await ledger.runs.get('r1')).toMatchObject({ state: 'cancelling', reason: replaced });
    expect(await ledger.runs.get('r2')).toMatchObject({ state: 'queued', reason: null });
  });

  test('a run is entered as queued, with what was given and nothing counted', async () => {
    const { ledger, reopen } = await openForTest(open);
    const given = newRun('r1', { options: { ...noOptions, delimiter: ';', accept: true } });
    const run = await ledger.runs.create(given);
    expect(run).toEqual({
      ...given,
      host: null,
      approvals: [],
      sequence: run.sequence,
      state: 'queued',
      counts: zeroCounts,
      requests: zeroRequests,
      reason: null,
      look: null,
      notes: [],
      shape: null,
      startedAtMs: null,
      finishedAtMs: null,
      stoppedAtMs: null,
      stoppedMs: 0,
    });
    expect(await (await reopen()).runs.get('r1')).toEqual(run);
    expect(await ledger.runs.get('r2')).toBeNull();
  });

  test('what an older version did not know of a run is as if it was not chosen', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r1', { options: JSON.parse('{"delimiter":";","adopt":true}') }));
    expect((await ledger.runs.get('r1'))?.options).toEqual({ ...noOptions, delimiter: ';', adopt: true });
  });

  test('sequences go up in the order of arrival, over all feeds', async () => {
    const { ledger } = await openForTest(open);
    const first = await ledger.runs.create(newRun('r1'));
    const second = await ledger.runs.create(newRun('r2', { feed: 'crm' }));
    const third = await ledger.runs.create(newRun('r3'));
    expect(first.sequence).toBeGreaterThan(0);
    expect(second.sequence).toBeGreaterThan(first.sequence);
    expect(third.sequence).toBeGreaterThan(second.sequence);
  });

  test('a run id is entered once', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r1'));
    await expect(ledger.runs.create(newRun('r1', { fileName: 'other.csv' }))).rejects.toThrow();
    expect((await ledger.runs.get('r1'))?.fileName).toBe('r1.csv');
  });

  test('list answers the newest first, of the states and the feed asked for; the oldest first where that is asked for', async () => {
    const { ledger } = await openForTest(open);
    for (const [id, feed] of [
      ['r1', 'main'],
      ['r2', 'crm'],
      ['r3', 'main'],
      ['r4', 'main'],
    ] as const)
      await ledger.runs.create(newRun(id, { feed }));
    await ledger.runs.move('r3', ['queued'], 'staging', { atMs });
    const ids = (runs: readonly { id: string }[]) => runs.map((run) => run.id);
    expect(ids(await ledger.runs.list({ limit: 10 }))).toEqual(['r4', 'r3', 'r2', 'r1']);
    expect(ids(await ledger.runs.list({ limit: 2 }))).toEqual(['r4', 'r3']);
    expect(ids(await ledger.runs.list({ feed: 'main', states: ['queued'], limit: 10 }))).toEqual(['r4', 'r1']);
    expect(ids(await ledger.runs.list({ states: ['queued', 'staging'], limit: 3, oldestFirst: true }))).toEqual([
      'r1',
      'r2',
      'r3',
    ]);
    expect(await ledger.runs.count({})).toBe(4);
    expect(await ledger.runs.count({ feed: 'main', states: ['queued'] })).toBe(2);
    expect(await ledger.runs.count({ states: ['stopped'] })).toBe(0);
  });

  test('runs of which no row waits are found among those at work', async () => {
    const { ledger } = await openForTest(open);
    const whole = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    await applyingRun(ledger, 'r2', ['k3'], { feed: 'crm' });
    const found = async () =>
      (await ledger.runs.list({ states: ['applying'], nonePending: true, limit: 10 })).map(({ id }) => id);
    expect(await found()).toEqual([]);
    const [first, second] = (await pendingOf(ledger, whole)).map((record) => settled(record));
    await settleAs(ledger, whole, 'w1', first === undefined ? [] : [first]);
    expect(await found()).toEqual([]);
    await settleAs(ledger, whole, 'w1', second === undefined ? [] : [second]);
    expect(await found()).toEqual(['r1']);
    await ledger.runs.move('r1', ['applying'], 'done', { atMs });
    expect(await found()).toEqual([]);
  });

  test('one run of a feed is next at a time, the oldest first', async () => {
    const { ledger } = await openForTest(open);
    for (const [id, feed] of [
      ['r1', 'main'],
      ['r2', 'main'],
      ['r3', 'crm'],
      ['r4', 'crm'],
    ] as const)
      await ledger.runs.create(newRun(id, { feed }));
    const next = async () => (await ledger.runs.nextQueued(10)).map((run) => run.id);
    expect(await next()).toEqual(['r1', 'r3']);
    expect((await ledger.runs.nextQueued(1)).map((run) => run.id)).toEqual(['r1']);
    for (const state of ['staging', 'applying'] as const) {
      await ledger.runs.move('r1', ['queued', 'staging'], state, { atMs });
      expect(await next()).toEqual(['r3']);
    }
    await ledger.runs.move('r1', ['applying'], 'done', { atMs });
    expect(await next()).toEqual(['r2', 'r3']);
  });

  test('a stopped run does not block its feed', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r1'));
    await ledger.runs.create(newRun('r2'));
    await ledger.runs.move('r1', ['queued'], 'stopped', { atMs });
    expect((await ledger.runs.nextQueued(10)).map((run) => run.id)).toEqual(['r2']);
  });

  test('a content is found by its newest run of that feed', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r1', { sha256: 'abc' }));
    await ledger.runs.create(newRun('r2', { sha256: 'abc' }));
    await ledger.runs.create(newRun('r3', { sha256: 'abc', feed: 'crm' }));
    expect((await ledger.runs.list({ feed: 'main', sha256: 'abc', limit: 1 })).at(0)?.id).toBe('r2');
    expect(await ledger.runs.list({ feed: 'main', sha256: 'abd', limit: 1 })).toEqual([]);
    expect(await ledger.runs.list({ feed: 'shop', sha256: 'abc', limit: 1 })).toEqual([]);
  });

  test('the last accepted file of a feed is done, and no fix-file, redrive or file of another feed', async () => {
    const { ledger } = await openForTest(open);
    const done = async (id: string, parts: Parameters<typeof newRun>[1] = {}, state: RunState = 'done') => {
      const run = await ledger.runs.create(newRun(id, { feed: 'crm', ...parts }));
      await ledger.runs.move(id, ['queued'], state, { atMs });
      return run;
    };
    expect(await ledger.runs.lastAccepted('crm', 1_000)).toBeNull();
    await done('r1');
    const second = await done('r2', {}, 'doneWithDead');
    for (const state of ['stopped', 'failed', 'cancelled', 'applying'] as const) await done(state, {}, state);
    await done('fix', { kind: 'fixFile' });
    await done('redrive', { kind: 'redrive' });
    await done('other', { feed: 'shop' });
    expect((await ledger.runs.lastAccepted('crm', 1_000))?.run.id).toBe('r2');
    expect((await ledger.runs.lastAccepted('crm', second.sequence))?.run.id).toBe('r1');
    expect((await ledger.runs.get('fix'))?.kind).toBe('fixFile');
  });

  test('a file of which some rows were applied is not one that was accepted with all, and one that was looked at is none', async () => {
    const { ledger } = await openForTest(open);
    const modes: readonly Partial<RunOptions>[] = [
      {},
      ...[{ limit: 1 }, { only: ['c-1'] }, { createOnly: true }, { updateOnly: true }],
      { verify: true },
    ];
    for (const [index, mode] of modes.entries()) {
      const options = { ...noOptions, ...mode };
      const { id } = await ledger.runs.create(newRun(`r${index}`, { feed: 'crm', sha256: 'A', options }));
      await ledger.runs.move(id, ['queued'], 'done', { atMs });
      await ledger.runs.prune(id);
      const rows = mode.verify === true ? index - 1 : index;
      expect((await ledger.runs.lastAccepted('crm', 1_000))?.run.id).toBe(`r${rows}`);
      expect((await ledger.runs.lastAccepted('crm', 1_000, { applies: 'allRows' }))?.run.id).toBe('r0');
      expect(appliesAllRows(options)).toBe(index === 0);
    }
    // An older version did not know every option.
    const options = { accept: true } as RunOptions;
    await ledger.runs.create(newRun('old', { feed: 'shop', options }));
    await ledger.runs.move('old', ['queued'], 'done', { atMs });
    expect((await ledger.runs.lastAccepted('shop', 1_000, { applies: 'allRows' }))?.run.id).toBe('old');
    // What a feed may still ask for is kept.
    await ledger.forget(atMs + 10_000, 1, { historyMs: 1 });
    const kept = (await ledger.runs.list({ feed: 'crm', limit: 10 })).map(({ id }) => id);
    expect(kept).toEqual(['r4', 'r0']);
  });

  test('a file shares keys with another: those that its feed knew, and those that it knows by it', async () => {
    const { ledger } = await openForTest(open);
    const first = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3'], { feed: 'crm' });
    await settleAs(
      ledger,
      first,
      'w1',
      (await pendingOf(ledger, first)).map((record) => settled(record)),
    );
    const numbers = [...(await ledger.runs.saidOf('crm', ['k1', 'k2', 'k3'])).values()].map(({ number }) => number);
    const bitsOf = (...met: readonly number[]): Uint8Array => {
      const bits = emptyBitmap(Math.max(...numbers));
      for (const index of met) enterBit(bits, numbers[index] ?? 0);
      return bits;
    };
    const none = bitsOf();
    const second = await stagingRun(ledger, 'r2', { feed: 'crm' });
    await ledger.runs.confirm(second.id, { unchanged: none, met: bitsOf(0, 1) });
    expect([...(await ledger.runs.keysOfRun('r2'))]).toEqual([...bitsOf(0, 1)]);
    expect(await ledger.runs.sharedKeys('r1', 'r2')).toEqual({ keys: 3, shared: 2 });
    const third = await stagingRun(ledger, 'r3', { feed: 'crm' });
    await ledger.runs.confirm(third.id, { unchanged: none, met: bitsOf(1, 2) });
    expect(await ledger.runs.sharedKeys('r2', 'r3')).toEqual({ keys: 2, shared: 1 });
    expect(await ledger.runs.sharedKeys('gone', 'r3')).toEqual({ keys: 0, shared: 0 });
    // The rows of a run go with its end, and what its feed knows by it stays.
    await ledger.runs.move('r1', ['applying'], 'done', { atMs: createdAtMs + 60 });
    await ledger.runs.prune('r1');
    expect(await ledger.runs.sharedKeys('r1', 'r2')).toEqual({ keys: 3, shared: 2 });
  });

  test('a run keeps the label that the configuration named, and why its file cannot be read', async () => {
    const { ledger, reopen } = await openForTest(open);
    const refusal = { code: 'sourceRefused', message: 'no', hint: 'rename it', facts: { feed: 'csv' } };
    await ledger.runs.create(newRun('r1', { sourceLabel: 'The CRM', refusal }));
    await ledger.runs.beginStaging('r1', atMs);
    expect(await (await reopen()).runs.get('r1')).toMatchObject({ sourceLabel: 'The CRM', refusal });
  });

  test('a run moves only from the states that were named, and says whether it did', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.runs.create(newRun('r1'));
    const other = await reopen();
    const moves = await Promise.all([ledger, other].map((one) => one.runs.move('r1', ['queued'], 'staging', { atMs })));
    expect(moves.toSorted()).toEqual([false, true]);
    expect(await ledger.runs.move('r1', ['queued', 'applying'], 'failed', { atMs })).toBe(false);
    expect((await ledger.runs.get('r1'))?.state).toBe('staging');
    expect(await ledger.runs.move('unknown', ['queued'], 'staging', { atMs })).toBe(false);
  });

  test('a move replaces the reason where one is given, null included; only a final state has a finish time', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r1'));
    const reason = { code: 'tooManyUpdates', message: 'too many', hint: null, facts: { count: 12, share: 0.4 } };
    const move = async (from: RunState, to: RunState, change: { reason?: typeof reason | null } = {}) => {
      await ledger.runs.move('r1', [from], to, { atMs, ...change });
      return ledger.runs.get('r1');
    };
    expect(await move('queued', 'stopped', { reason })).toMatchObject({ reason, finishedAtMs: null });
    expect(await move('stopped', 'applying')).toMatchObject({ reason, finishedAtMs: null });
    expect(await move('applying', 'done', { reason: null })).toMatchObject({ reason: null, finishedAtMs: atMs });
  });

  test('a run knows since when it is stopped, and how long it was so before', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.runs.create(newRun('r1'));
    const stopped = async () => {
      const run = await (await reopen()).runs.get('r1');
      return [run?.stoppedAtMs, run?.stoppedMs];
    };
    await ledger.runs.move('r1', ['queued'], 'stopped', { atMs: 1_000 });
    expect(await stopped()).toEqual([1_000, 0]);
    await ledger.runs.move('r1', ['stopped'], 'applying', { atMs: 1_500 });
    expect(await stopped()).toEqual([null, 500]);
    await ledger.runs.move('r1', ['applying'], 'stopped', { atMs: 2_000 });
    // The clock was put back.
    await ledger.runs.move('r1', ['stopped'], 'applying', { atMs: 1_000 });
    expect(await stopped()).toEqual([null, 500]);
    await ledger.runs.move('r1', ['applying'], 'done', { atMs: 3_000 });
    expect(await stopped()).toEqual([null, 500]);
  });

  test('an approval passes what was shown, once, and is kept', async () => {
    const { ledger, reopen } = await openForTest(open);
    const shown = {
      code: 'guardDead',
      message: 'm',
      hint: 'h',
      facts: { deadCount: 25, deadBase: 55, deadLimit: 0.05 },
    };
    await stagingRun(ledger, 'r1');
    await ledger.runs.move('r1', ['staging'], 'stopped', { atMs, reason: shown });
    const approval = approvalOf(shown, { reason: 'known rows', atMs });
    expect(approval.figures).toEqual([{ guard: 'dead', count: 25, base: 55, limit: 0.05 }]);
    expect(await ledger.runs.approve('r1', approval)).toBe(true);
    expect(await (await reopen()).runs.get('r1')).toMatchObject({
      state: 'applying',
      reason: null,
      approvals: [approval],
    });
    expect(await ledger.runs.approve('r1', approval)).toBe(false);
  });

  test('an approval of other figures, of a run that was cancelled meanwhile, or of none does nothing', async () => {
    const { ledger } = await openForTest(open);
    const reasonOf = (count: number) => ({ code: 'guardDead', message: 'm', hint: null, facts: { deadCount: count } });
    const approval = approvalOf(reasonOf(25), { reason: null, atMs });
    await stagingRun(ledger, 'r1');
    await ledger.runs.move('r1', ['staging'], 'stopped', { atMs, reason: reasonOf(26) });
    expect(await ledger.runs.approve('r1', approval)).toBe(false);
    expect(await ledger.runs.get('r1')).toMatchObject({ state: 'stopped', approvals: [] });
    await ledger.runs.move('r1', ['stopped'], 'cancelling', { atMs, reason: reasonOf(25) });
    expect(await ledger.runs.approve('r1', approval)).toBe(false);
    expect(await ledger.runs.approve('r2', approval)).toBe(false);
  });

  test('content that was accepted is found with the files accepted since; of its own feed, whole files alone', async () => {
    const { ledger } = await openForTest(open);
    const accept = async (id: string, parts: Partial<NewRun>, state: RunState = 'done') => {
      const { sequence } = await ledger.runs.create(newRun(id, { feed: 'crm', ...parts }));
      await ledger.runs.move(id, ['queued'], state, { atMs });
      return sequence;
    };
    await accept('a1', { sha256: 'A' });
    await accept('other', { sha256: 'A', feed: 'shop' });
    await accept('fix', { sha256: 'F', kind: 'fixFile' });
    await accept('bad', { sha256: 'X' }, 'failed');
    const found = async (sha256: string, before: number) => {
      const same = await ledger.runs.lastAccepted('crm', before, { sha256 });
      return same === null ? null : [same.run.id, same.newerCount];
    };
    expect(await found('A', 1_000)).toEqual(['a1', 0]);
    await accept('b1', { sha256: 'B' }, 'doneWithDead');
    expect(await found('A', 1_000)).toEqual(['a1', 1]);
    const again = await accept('a2', { sha256: 'A' });
    expect(await found('A', again)).toEqual(['a1', 1]);
    expect(await found('A', 1_000)).toEqual(['a2', 0]);
    expect(await found('B', 1_000)).toEqual(['b1', 1]);
    expect(await found('X', 1_000)).toBeNull();
    expect(await found('F', 1_000)).toBeNull();
  });

  test('the mapping that the layout was recognised by is kept', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.runs.create(newRun('r1', { mapping: null }));
    const mapping = mappingSchema.parse({ name: 'crm', key: 'Nr', recognise: [{ headers: ['Nr'] }] });
    await ledger.runs.record('r1', { mapping });
    await ledger.runs.record('r1', { notes: ['x'] });
    expect((await (await reopen()).runs.get('r1'))?.mapping).toEqual(mapping);
  });

  test('shape, notes, options, counts and requests are kept; what is added adds up', async () => {
    const { ledger, reopen } = await openForTest(open);
    const options = { ...noOptions, accept: true, acceptReason: 'new year' };
    await ledger.runs.create(newRun('r1', { options }));
    const shape = { format: 'csv', columns: ['Id', 'Näme', ''], delimiter: ';' } as const;
    await ledger.runs.record('r1', { shape: shape });
    await ledger.runs.record('r1', { notes: ['two blank lines', 'column “x” is not mapped'] });
    await ledger.runs.record('r1', { notes: ['two blank lines', 'assumed windows-1252'] });
    await ledger.runs.record('r1', { counts: { rows: 3, heldFields: 1 } });
    await ledger.runs.record('r1', { counts: { rows: 2, created: 4, warnings: 0 } });
    await ledger.runs.record('r1', { requests: { get: 2, patch: 1 } });
    await ledger.runs.record('r1', { requests: { get: 1, rateLimited: 5 } });
    expect(await (await reopen()).runs.get('r1')).toMatchObject({
      shape,
      notes: ['two blank lines', 'column “x” is not mapped', 'assumed windows-1252'],
      options,
      counts: { ...zeroCounts, rows: 5, heldFields: 1, created: 4 },
      requests: { ...zeroRequests, get: 3, patch: 1, rateLimited: 5 },
    });
  });

  test('reading begun anew throws away what an interrupted reading staged, counted and noted', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const event = { kind: 'warning', line: 2, key: 'k1', code: 'w', field: null, message: 'm' } as const;
    const parts = { dead: [deadRow('k2')], events: [event], counts: { rows: 2, dead: 1 } };
    await ledger.runs.stage(slice(run, { records: [newRecord('k1')], ...parts }));
    await ledger.runs.record('r1', { notes: ['a note'] });
    expect(await ledger.runs.beginStaging('r1', atMs)).toBe(true);
    expect(await ledger.runs.get('r1')).toMatchObject({
      state: 'staging',
      counts: zeroCounts,
      notes: [],
      startedAtMs: createdAtMs + 1,
    });
    expect(await ledger.runs.pendingCount('r1')).toBe(0);
    expect(await ledger.runs.stagedAt('r1', [1])).toEqual([]);
    expect(await ledger.runs.batch('r1', 1)).toBeNull();
    expect(await ledger.runs.deadRows('r1', 0, 10)).toEqual([]);
    expect(await ledger.runs.events('r1', 0, 10)).toEqual([]);
  });

  test.each(['applying', 'stopped', 'cancelling', 'done'] as const)(
    'a run that is %s is not begun anew, and keeps what was staged',
    async (state) => {
      const { ledger } = await openForTest(open);
      const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3']);
      if (state !== 'applying') await ledger.runs.move('r1', ['applying'], state, { atMs });
      const before = await ledger.runs.get('r1');
      expect(await ledger.runs.beginStaging('r1', atMs)).toBe(false);
      expect(await ledger.runs.get('r1')).toEqual(before);
      expect(await ledger.runs.pendingCount('r1')).toBe(3);
      await ledger.runs.move('r1', [state], 'applying', { atMs });
      expect(await pendingOf(ledger, run)).toHaveLength(3);
    },
  );

  test('a run that has ended is listed as unpruned until it is pruned, and what it found unchanged goes when no older run waits and it is not the last one', async () => {
    const { ledger } = await openForTest(open);
    const bits = Uint8Array.of(2);
    for (const id of ['r1', 'r2', 'r3']) {
      await stagingRun(ledger, id);
      await ledger.runs.confirm(id, { unchanged: bits, met: bits });
      await ledger.runs.move(id, ['staging'], 'applying', { atMs });
    }
    const unpruned = async () => (await ledger.runs.list({ unpruned: true, limit: 10 })).map(({ id }) => id);
    const confirmed = async () => (await ledger.runs.confirmedSince('main', 0)).length;
    const end = async (id: string) => {
      await ledger.runs.move(id, ['applying', 'stopped'], 'done', { atMs });
      expect(await unpruned()).toEqual([id]);
      await ledger.runs.prune(id);
      expect(await unpruned()).toEqual([]);
      return confirmed();
    };
    await ledger.runs.move('r2', ['applying'], 'stopped', { atMs });
    expect(await end('r1')).toBe(3);
    // A row of the second one may still be written, and the third one has spoken since.
    expect(await end('r3')).toBe(2);
    // Rows of a fix-file may be older than the last file.
    expect(await end('r2')).toBe(1);
  });

  test('only a finished run is pruned; its counts and dead letters stay', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await ledger.runs.stage(slice(run, { dead: [deadRow('k2')], counts: { rows: 1, dead: 1 } }));
    await expect(ledger.runs.prune('r1')).rejects.toMatchObject({ kind: 'bug' });
    expect(await ledger.runs.pendingCount('r1')).toBe(1);
    await ledger.runs.move('r1', ['applying'], 'doneWithDead', { atMs });
    await ledger.runs.prune('r1');
    expect(await ledger.runs.pendingCount('r1')).toBe(0);
    expect((await ledger.runs.get('r1'))?.counts).toMatchObject({ rows: 2, dead: 1, deadNew: 1 });
    expect((await ledger.counts()).openLetters).toBe(1);
  });
}
