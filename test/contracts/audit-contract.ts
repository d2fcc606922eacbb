/** Audits: what a run touched outlives its staged rows, is looked at in pieces, and is forgotten in time. */
import { expect, test } from 'vitest';
import { type AuditRecord, type NewFinding, zeroAuditRequests } from '#src/ledger/audits.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import {
  applyingRun,
  createdAtMs,
  deadRow,
  ended,
  horizonAt,
  lease,
  newRecord,
  nobodyOwns,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
  wellEnd,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const endMs = createdAtMs + 1_000;
const firstDueAtMs = endMs + 10;
const secondDueAtMs = firstDueAtMs + 600;
const entry = (runId: string) => ({ runId, atMs: endMs, firstDueAtMs, secondDueAtMs });
const duplicate = (key: string): NewFinding => ({
  key,
  kind: 'duplicate',
  contacts: [
    { id: `id-of-${key}`, createdAt: '2026-11-21T12:00:00.000Z', source: 'crm' },
    { id: 'another', createdAt: null, source: null },
  ],
  code: null,
});
const missing = (key: string): NewFinding => ({ key, kind: 'missing', contacts: [], code: null });

async function record(ledger: Ledger, run: RunRecord, key: string): Promise<StagedRecord> {
  const found = (await pendingOf(ledger, run)).find((one) => one.key === key);
  if (found === undefined) throw new Error(`no staged record ${key}`);
  return found;
}

/** A run whose rows were all created, entered for audits and finished. */
async function finishedRun(ledger: Ledger, id: string, keys: readonly string[], atMs = endMs): Promise<RunRecord> {
  const run = await applyingRun(ledger, id, keys);
  await settleAs(
    ledger,
    run,
    'w1',
    (await pendingOf(ledger, run)).map((one) => settled(one)),
  );
  await ledger.audits.enter({ ...entry(id), atMs });
  await ledger.runs.move(id, ['applying'], 'done', { atMs });
  await ledger.runs.prune(id);
  return run;
}

async function keysOf(ledger: Ledger, audit: AuditRecord | undefined): Promise<readonly string[]> {
  return (await ledger.audits.keysAfter(audit?.id ?? '', 0, 1_000)).map((one) => one.key);
}

async function advance(ledger: Ledger, audit: AuditRecord, findings: readonly NewFinding[]): Promise<boolean> {
  const keys = await ledger.audits.keysAfter(audit.id, audit.position, 1_000);
  return ledger.audits.advance(audit.id, {
    fromPosition: audit.position,
    toPosition: keys.at(-1)?.position ?? audit.position,
    checked: keys.length,
    findings,
    requests: { get: 1, retried: 0, rateLimited: 0 },
  });
}

async function endedAudit(ledger: Ledger, audit: AuditRecord, findings: readonly NewFinding[] = []): Promise<void> {
  await advance(ledger, audit, findings);
  await ledger.audits.finish(audit.id, endMs + 50);
}

export function auditContract(open: OpenLedger): void {
  test('a run’s touched keys outlive its staged rows, in the order of the file', async () => {
    const { ledger, reopen } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['b', 'a', 'c']);
    const other = await reopen();
    const [first, ...others] = await other.audits.ofRun('r1');
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      runId: 'r1',
      kind: 'first',
      scope: 'touched',
      state: 'waiting',
      enteredAtMs: endMs,
      dueAtMs: firstDueAtMs,
      keyCount: 3,
      position: 0,
      requests: zeroAuditRequests,
    });
    expect(await keysOf(other, first)).toEqual(['b', 'a', 'c']);
  });

  test('touched is what was looked up: not what died on reading, was superseded, gone or a duplicate row', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const problem = { code: 'duplicateKey', line: 30, field: null, value: null, message: 'differs', hint: '' };
    const keys = ['created', 'updated', 'same', 'refused', 'twice', 'superseded', 'gone', 'patched'];
    await ledger.runs.stage(
      slice(run, {
        records: keys.map((key, index) => newRecord(key, { line: index + 2, sequence: run.sequence })),
        dead: [deadRow('never-sent', { line: 20 })],
        counts: { rows: 9 },
      }),
    );
    await ledger.runs.stage(
      slice(run, {
        withdrawnRows: [{ position: keys.indexOf('twice') + 1, end: { kind: 'dead', problem } }],
      }),
    );
    await ledger.runs.move('r1', ['staging'], 'applying', { atMs: createdAtMs + 20 });
    const at = (key: string) => record(ledger, run, key);
    // An update was sent and its answer lost; then a newer run took the row over.
    const patched = await at('patched');
    await lease(ledger, 'w1', ['patched']);
    const contacts = [{ key: 'patched', owned: nobodyOwns, position: patched.position, claim: null, resolved: null }];
    await ledger.contacts.claimItems({
      contacts,
      owner: 'w1',
      runId: 'r1',
      atMs: 1_000,
      horizon: horizonAt(9_000),
    });
    await settleAs(ledger, run, 'w1', [
      settled(await at('created')),
      settled(await at('updated'), { end: wellEnd('updated') }),
      settled(await at('same'), { end: wellEnd('unchanged') }),
      ended(await at('refused'), { outcome: 'dead', dead: deadRow('refused', { class: 'refused', code: 'refused' }) }),
      ended(await at('superseded'), { outcome: 'skipped', reason: 'superseded' }),
      ended(await at('gone'), { outcome: 'skipped', reason: 'gone' }),
      ended(patched, { outcome: 'skipped', reason: 'superseded' }),
    ]);
    await ledger.audits.enter(entry('r1'));
    const [first] = await ledger.audits.ofRun('r1');
    expect(await keysOf(ledger, first)).toEqual(['created', 'updated', 'same', 'refused', 'patched']);
  });

  test('of a cancelled run it is what was sent, and what a worker still holds', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['done', 'intended', 'held', 'waiting']);
    await settleAs(ledger, run, 'w1', [settled(await record(ledger, run, 'done'))]);
    await lease(ledger, 'w2', ['intended', 'held'], { sequence: run.sequence });
    await ledger.contacts.intend({
      contacts: [{ key: 'intended', owned: nobodyOwns, claim: null }],
      owner: 'w2',
      runId: 'r1',
      horizon: horizonAt(5_000),
    });
    await ledger.runs.move('r1', ['applying'], 'cancelling', { atMs: endMs });
    await ledger.runs.skipPending('r1', 'cancelled', endMs);
    await ledger.audits.enter(entry('r1'));
    const [first, second] = await ledger.audits.ofRun('r1');
    expect(await keysOf(ledger, first)).toEqual(['done', 'intended', 'held']);
    expect(second).toMatchObject({ kind: 'second', keyCount: 2, dueAtMs: secondDueAtMs });
    expect(await keysOf(ledger, second)).toEqual(['intended', 'held']);
  });

  test('entering twice is entering once', async () => {
    const { ledger, reopen } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1', 'k2']);
    const before = await ledger.audits.ofRun('r1');
    await (await reopen()).audits.enter({ ...entry('r1'), firstDueAtMs: firstDueAtMs + 99 });
    expect(await ledger.audits.ofRun('r1')).toEqual(before);
    expect(await keysOf(ledger, before[0])).toEqual(['k1', 'k2']);
  });

  test('a run that touched nothing has an audit that is done', async () => {
    const { ledger } = await openForTest(open);
    await applyingRun(ledger, 'r1', []);
    await ledger.audits.enter(entry('r1'));
    expect(await ledger.audits.ofRun('r1')).toMatchObject([
      { kind: 'first', state: 'done', keyCount: 0, finishedAtMs: endMs },
    ]);
    expect((await ledger.counts()).waitingAudits).toBe(0);
  });

  test('audits of runs that have not ended are not due; then those asked for come first, the others by their time', async () => {
    const { ledger } = await openForTest(open);
    const due = async (atMs: number) =>
      (await ledger.audits.nextDue(atMs, 10)).map(({ runId, kind }) => `${runId} ${kind}`);
    await applyingRun(ledger, 'r0', []);
    const at = await applyingRun(ledger, 'r1', ['k1']);
    await settleAs(
      ledger,
      at,
      'w1',
      (await pendingOf(ledger, at)).map((one) => settled(one)),
    );
    await ledger.audits.enter(entry('r1'));
    expect(await due(firstDueAtMs)).toEqual([]);
    await ledger.runs.move('r1', ['applying'], 'done', { atMs: endMs });
    await finishedRun(ledger, 'r2', ['k2']);
    expect(await due(firstDueAtMs - 1)).toEqual([]);
    expect(await due(firstDueAtMs)).toEqual(['r1 first', 'r2 first']);
    await ledger.audits.demand({ runId: 'r2', atMs: endMs, dueAtMs: firstDueAtMs });
    expect(await due(firstDueAtMs)).toEqual(['r2 demand', 'r1 first', 'r2 first']);
    expect((await ledger.counts()).waitingAudits).toBe(3);
  });

  test('a step counts once, whoever comes second', async () => {
    const { ledger, reopen } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1', 'k2', 'k3']);
    const [audit] = await ledger.audits.ofRun('r1');
    if (audit === undefined) throw new Error('no audit');
    expect(await advance(ledger, audit, [duplicate('k2'), missing('k3')])).toBe(true);
    expect(await advance(await reopen(), audit, [duplicate('k2')])).toBe(false);
    expect(await ledger.audits.get(audit.id)).toMatchObject({
      position: 3,
      checked: 3,
      duplicates: 1,
      missing: 1,
      unchecked: 0,
      requests: { get: 2 },
    });
    expect(await ledger.audits.findings(audit.id, 'duplicate', 10)).toMatchObject([{ key: 'k2' }]);
    await ledger.audits.addRequests(audit.id, { get: 1, retried: 2, rateLimited: 3 });
    expect((await ledger.audits.get(audit.id))?.requests).toEqual({ get: 3, retried: 2, rateLimited: 3 });
  });

  test('a finding says what the ledger knew of the key', async () => {
    const { ledger } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1']);
    const [audit] = await ledger.audits.ofRun('r1');
    if (audit === undefined) throw new Error('no audit');
    await advance(ledger, audit, [duplicate('k1')]);
    const [finding] = await ledger.audits.findings(audit.id, 'duplicate', 10);
    expect(finding).toMatchObject({ ...duplicate('k1'), boundTo: 'id-of-k1', history: [] });
  });

  test('an audit is finished once, and stands until a later one of its run finds nothing', async () => {
    const { ledger } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1']);
    const [first] = await ledger.audits.ofRun('r1');
    if (first === undefined) throw new Error('no audit');
    await advance(ledger, first, [duplicate('k1')]);
    expect(await ledger.audits.standing(10)).toEqual([]);
    expect(await ledger.audits.finish(first.id, endMs + 50)).toBe(true);
    expect(await ledger.audits.finish(first.id, endMs + 60)).toBe(false);
    expect(await ledger.audits.get(first.id)).toMatchObject({ state: 'done', finishedAtMs: endMs + 50 });
    expect(await ledger.audits.standing(10)).toMatchObject([{ runId: 'r1', duplicates: 1 }]);
    const again = await ledger.audits.demand({ runId: 'r1', atMs: endMs + 60, dueAtMs: 0 });
    await endedAudit(ledger, again);
    expect(await ledger.audits.standing(10)).toEqual([]);
  });

  test('an audit that is asked for while one waits is that one', async () => {
    const { ledger, reopen } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1', 'k2']);
    const asked = await ledger.audits.demand({ runId: 'r1', atMs: endMs, dueAtMs: endMs });
    expect(asked).toMatchObject({ kind: 'demand', scope: 'touched', keyCount: 2, state: 'waiting' });
    expect(await (await reopen()).audits.demand({ runId: 'r1', atMs: endMs + 5, dueAtMs: endMs })).toEqual(asked);
    await endedAudit(ledger, asked);
    expect((await ledger.audits.demand({ runId: 'r1', atMs: endMs + 5, dueAtMs: endMs })).id).not.toBe(asked.id);
  });

  test('keys and findings are forgotten in time, not those that an audit still waits for; counts stay', async () => {
    const { ledger } = await openForTest(open);
    await finishedRun(ledger, 'r1', ['k1']);
    await finishedRun(ledger, 'r2', ['k2']);
    const [first] = await ledger.audits.ofRun('r1');
    if (first === undefined) throw new Error('no audit');
    await endedAudit(ledger, first, [duplicate('k1')]);
    await ledger.forget(endMs, 0);
    expect(await keysOf(ledger, first)).toEqual(['k1']);
    await ledger.forget(endMs + 100, 0);
    expect(await keysOf(ledger, first)).toEqual([]);
    expect(await ledger.audits.findings(first.id, 'duplicate', 10)).toEqual([]);
    expect(await ledger.audits.get(first.id)).toMatchObject({ keyCount: 1, duplicates: 1 });
    expect(await keysOf(ledger, (await ledger.audits.ofRun('r2'))[0])).toEqual(['k2']);
  });

  test('of a run whose keys were forgotten those are looked at that it settled last, and those it bound', async () => {
    const { ledger } = await openForTest(open);
    await finishedRun(ledger, 'r0', ['written-later']);
    await finishedRun(ledger, 'r1', ['b', 'a', 'written-later']);
    const [first] = await ledger.audits.ofRun('r1');
    if (first === undefined) throw new Error('no audit');
    await endedAudit(ledger, first);
    await ledger.forget(endMs + 100, 0);
    await finishedRun(ledger, 'r2', ['b', 'written-later'], endMs + 200);
    const asked = await ledger.audits.demand({ runId: 'r1', atMs: endMs + 300, dueAtMs: 0 });
    expect(asked).toMatchObject({ scope: 'settled', keyCount: 2 });
    expect((await keysOf(ledger, asked)).toSorted()).toEqual(['a', 'b']);
    await endedAudit(ledger, asked);
    const again = await ledger.audits.demand({ runId: 'r1', atMs: endMs + 400, dueAtMs: 0 });
    expect(again).toMatchObject({ scope: 'settled', keyCount: 2 });
  });
}
