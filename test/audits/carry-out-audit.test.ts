/** The audit: exactly one contact each (`docs/rules.md`, "One contact per key", step 7). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { carryOutAudit } from '#src/audits/carry-out-audit.ts';
import { PatchbayError } from '#src/errors.ts';
import { noWrites } from '#src/ledger/rules/key-rows.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import { keyHash } from '#src/log.ts';
import { applyingRun } from '#test/contracts/support/build.ts';
import { addTwin } from '#test/support/twin.ts';
import { type AuditWorld, openAuditWorld } from './support/audit-world.ts';

const keys = (count: number) => Array.from({ length: count }, (_, index) => `k-${index + 1}`);
const signal = new AbortController().signal;

async function carriedOut(world: AuditWorld, runId: string) {
  const audit = await world.auditOf(runId);
  // Ends: each turn looks at ten chunks at least.
  for (let turn = 0; turn < 20; turn += 1) await carryOutAudit(world.parts, audit.id, signal);
  return world.auditOf(runId);
}

const listCount = (world: AuditWorld) => world.service.counts().list ?? 0;

describe('an audit', () => {
  it('looks at every key that the run touched, 20 keys a request, and counts its requests apart from the run’s', async () => {
    const world = await openAuditWorld();
    const run = await world.run('r1', keys(45));
    const audit = await carriedOut(world, 'r1');
    expect(audit).toMatchObject({ state: 'done', keyCount: 45, checked: 45, duplicates: 0, missing: 0, unchecked: 0 });
    expect(audit.requests).toEqual({ get: 3, retried: 0, rateLimited: 0 });
    expect(listCount(world)).toBe(3);
    expect((await world.ledger.runs.get('r1'))?.requests).toEqual(run.requests);
    expect(world.logLines).toMatchObject([{ level: 'info', run: 'r1', checked: 45, msg: 'audit finished' }]);
  });

  it('names two contacts with one key, with both ids and what the ledger knows of the key', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(25));
    const [id, twinId] = addTwin(world.store, 'k-23');
    const db = openDatabase(world.file);
    const told = { key: 'k-23', runId: 'r1', contactId: null };
    const history = [
      { ...told, atMs: 1_000, kind: 'doubt', detail: 'ECONNRESET' },
      { ...told, atMs: 2_000, kind: 'adopted', contactId: id, detail: null },
    ] as const;
    await sqliteStore(createConnection(db)).transact((tables) => tables.keys.write({ ...noWrites, history }));
    db.close();

    const audit = await carriedOut(world, 'r1');
    expect(audit).toMatchObject({ state: 'done', checked: 25, duplicates: 1, missing: 0 });
    const [finding] = await world.ledger.audits.findings(audit.id, 'duplicate', 10);
    expect(finding).toMatchObject({ key: 'k-23', boundTo: id, code: null });
    expect(finding?.contacts.map((one) => one.id).toSorted()).toEqual([id, twinId].toSorted());
    expect(finding?.contacts[0]?.createdAt).toMatch(/^2\d{3}-/);
    expect(finding?.history).toEqual(history);
    const errors = world.logLines.filter((line) => line.level === 'error');
    expect(errors).toHaveLength(2);
    expect(errors[1]).toMatchObject({ run: 'r1', keyHash: keyHash('k-23'), msg: 'two contacts with one key' });
    expect(JSON.stringify(world.logLines)).not.toContain('k-23');
  });

  it('leaves a file beside the report that tells the same', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(3));
    const ids = addTwin(world.store, 'k-2');
    await carriedOut(world, 'r1');
    expect(readdirSync(world.parts.reports)).toEqual(['r1.audit.json']);
    const document = JSON.parse(readFileSync(join(world.parts.reports, 'r1.audit.json'), 'utf8'));
    expect(document).toMatchObject({
      run: 'r1',
      audits: [{ kind: 'first', state: 'done', keys: 3, checked: 3, duplicateCount: 1, missing: 0, requests: 1 }],
    });
    const [duplicate] = document.audits[0].duplicates;
    expect(duplicate.key).toBe('k-2');
    expect(duplicate.contacts.map((one: { id: string }) => one.id).toSorted()).toEqual([...ids].toSorted());
    expect(duplicate.contacts.filter((one: { bound: unknown }) => one.bound !== null)).toHaveLength(1);
  });

  it('tells of a contact that is gone as missing, not as a duplicate', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(3));
    const { body } = await world.service.call('GET', '/v1/contacts?externalIds=k-2&maxResults=50');
    await world.service.call('DELETE', `/v1/contacts/${body.data[0].id}`);
    const audit = await carriedOut(world, 'r1');
    expect(audit).toMatchObject({ state: 'done', checked: 3, duplicates: 0, missing: 1 });
    expect(await world.ledger.audits.findings(audit.id, 'missing', 10)).toMatchObject([{ key: 'k-2' }]);
  });

  it('does not take a contact for missing that lists show late', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(2));
    await world.faults('list:listLag=60s');
    expect(await carriedOut(world, 'r1')).toMatchObject({
      state: 'done',
      checked: 2,
      missing: 0,
      requests: { get: 3 },
    });
  });

  it.each([
    ['list', keys(3).map((key) => ({ key, code: 'requestRefused' }))],
    ['get', [{ key: 'k-2', code: 'serviceFailing' }]],
  ] as const)(
    'leaves a key unchecked where its own read fails (%s), and looks at the others',
    async (which, expected) => {
      const world = await openAuditWorld();
      await world.run('r1', keys(3));
      const { workspace } = world.parts;
      const known = await world.ledger.contacts.get(['k-2']);
      await world.faults('list:listLag=60m');
      const failing = {
        ...workspace,
        listByExternalIds: async (wanted, options) => {
          if (which === 'list' && wanted.some((key) => key.startsWith('k-')))
            throw new PatchbayError('rejected', 'requestRefused', 'refused');
          return workspace.listByExternalIds(wanted, options);
        },
        getContact: async (id, options) => {
          if (which === 'get' && id === known.get('k-2')?.contactId)
            throw new PatchbayError('unreachable', 'serviceFailing', 'it fails');
          return workspace.getContact(id, options);
        },
      } satisfies typeof workspace;
      const audit = await carriedOut({ ...world, parts: { ...world.parts, workspace: failing } }, 'r1');
      const unchecked = expected.length;
      expect(audit).toMatchObject({ state: 'done', checked: 3 - unchecked, duplicates: 0, missing: 0, unchecked });
      expect(await world.ledger.audits.findings(audit.id, 'unchecked', 10)).toMatchObject(expected);
    },
  );

  it('is not begun before it is due, and not twice', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(2));
    const asked = await world.ledger.audits.demand({
      runId: 'r1',
      atMs: world.clock.nowMs(),
      dueAtMs: (await world.ledger.nowMs(world.clock)) + 60_000,
    });
    await carryOutAudit(world.parts, asked.id, signal);
    expect(listCount(world)).toBe(0);
    world.clock.advance(60_000);
    await carryOutAudit(world.parts, asked.id, signal);
    await carryOutAudit(world.parts, asked.id, signal);
    expect(listCount(world)).toBe(1);
    expect(await world.ledger.audits.get(asked.id)).toMatchObject({ state: 'done', checked: 2 });
  });
});

describe('an audit that is cut off', () => {
  it('goes on at the chunk where it stood', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(50));
    const cut = new AbortController();
    const { workspace } = world.parts;
    let looks = 0;
    const parts = {
      ...world.parts,
      workspace: {
        ...workspace,
        listByExternalIds: ((wanted, options) => {
          looks += 1;
          if (looks === 2) cut.abort();
          return workspace.listByExternalIds(wanted, options);
        }) satisfies typeof workspace.listByExternalIds,
      },
    };
    const audit = await world.auditOf('r1');
    await expect(carryOutAudit(parts, audit.id, cut.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(await world.auditOf('r1')).toMatchObject({ state: 'waiting', position: 20, checked: 20 });
    expect(await carriedOut(world, 'r1')).toMatchObject({ state: 'done', checked: 50, duplicates: 0 });
    expect(listCount(world)).toBe(3);
  });

  it('loses nothing when the service fails: the error goes up, and the audit waits where it was', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(3));
    await world.faults('list:status=503');
    const audit = await world.auditOf('r1');
    await expect(carryOutAudit(world.parts, audit.id, signal)).rejects.toMatchObject({ kind: 'unreachable' });
    const waiting = await world.auditOf('r1');
    expect(waiting).toMatchObject({ state: 'waiting', position: 0, checked: 0, missing: 0, unchecked: 0 });
    expect(waiting.requests.get).toBeGreaterThan(1);
    await world.faults();
    expect(await carriedOut(world, 'r1')).toMatchObject({ state: 'done', checked: 3 });
  });

  it('takes nothing from a service that answers with strangers', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(25));
    await world.service.call('POST', '/v1/contacts', { externalId: 'somebody', defaultFields: { firstName: 'Ada' } });
    await world.run('r2', ['only']);
    const { body } = await world.service.call('GET', '/v1/contacts?externalIds=only&maxResults=50');
    await world.service.call('DELETE', `/v1/contacts/${body.data[0].id}`);
    await world.faults('list:strangers');
    const audit = await world.auditOf('r2');
    await expect(carryOutAudit(world.parts, audit.id, signal)).rejects.toMatchObject({ code: 'strangersReturned' });
    expect(await world.auditOf('r2')).toMatchObject({ state: 'waiting', missing: 0 });
  });
});

describe('an audit beside an import', () => {
  it('looks at one chunk, then rests before it ends its turn', async () => {
    const world = await openAuditWorld();
    await world.run('r1', keys(50));
    await applyingRun(world.ledger, 'r2', ['other'], { feed: 'crm' });
    const slept: number[] = [];
    const clock = { ...world.clock, sleep: async (ms: number) => void slept.push(ms) };
    const audit = await world.auditOf('r1');
    await carryOutAudit({ ...world.parts, clock }, audit.id, signal);
    expect(await world.auditOf('r1')).toMatchObject({ state: 'waiting', checked: 20 });
    expect(slept).toEqual([2_000]);
    expect(listCount(world)).toBe(1);
  });
});
