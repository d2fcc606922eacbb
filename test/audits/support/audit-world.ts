/**
 * A real service on loopback, a real ledger in a file and the client between them. Runs are settled by hand: what an audit
 * looks at is what the ledger says a run touched and what the service holds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AuditParts } from '#src/audits/carry-out-audit.ts';
import type { AuditRecord } from '#src/ledger/audits.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { createLogger } from '#src/log.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { applyingRun, pendingOf, settleAs, settled } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { person, startTestService, type TestService, testKey } from '#test/service/test-service.ts';
import { type MovedClock, movedClock } from '#test/upsert/support/moved-clock.ts';

export interface AuditWorld {
  readonly parts: AuditParts;
  readonly ledger: Ledger;
  /** The ledger's file. */
  readonly file: string;
  readonly service: TestService;
  /** The service's store. */
  readonly store: string;
  readonly clock: MovedClock;
  readonly logLines: readonly Readonly<Record<string, unknown>>[];
  faults(...specs: readonly string[]): Promise<void>;
  /** A run that created one contact a key, ended and entered for audits. Its audits are due at once. */
  run(id: string, keys: readonly string[]): Promise<RunRecord>;
  auditOf(runId: string, kind?: AuditRecord['kind']): Promise<AuditRecord>;
}

export async function openAuditWorld(): Promise<AuditWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-audits-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, 'service.sqlite');
  const service = await startTestService({ store, control: true });
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  const { ledger, file } = opened;
  const clock = movedClock();
  const logLines: Record<string, unknown>[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void logLines.push(JSON.parse(line)) } });
  const workspace = createHttpWorkspace({
    baseUrl: service.origin,
    readApiKey: () => testKey,
    rateGate: createPauseGate(clock),
    clock,
    // Repeated reads do not wait.
    random: () => 0,
    log,
  });
  onTestFinished(() => workspace.close());
  return {
    parts: { ledger, workspace, clock, log, reports: join(folder, 'reports') },
    ledger,
    file,
    service,
    store,
    clock,
    logLines,
    faults: async (...specs) => {
      const { status } = await service.call('POST', '/__control', { faults: specs });
      if (status !== 200) throw new Error(`the service does not take these faults: ${specs.join(' ')}`);
    },
    run: async (id, keys) => {
      const run = await applyingRun(ledger, id, keys, { rowsPerBatch: 1_000 });
      const ids = new Map<string, string>();
      for (const key of keys) {
        const { status, body } = await service.call('POST', '/v1/contacts', person(key));
        if (status !== 201) throw new Error(`the service does not create ${key}: ${status}`);
        ids.set(key, body.data.id);
      }
      const records = (await pendingOf(ledger, run)).map((record) => {
        const one = settled(record);
        const bound = one.bound === null ? null : { ...one.bound, contactId: ids.get(record.key) ?? '' };
        return { ...one, bound };
      });
      await settleAs(ledger, run, 'w1', records);
      const atMs = clock.nowMs();
      await ledger.audits.enter({ runId: id, atMs, firstDueAtMs: atMs, secondDueAtMs: atMs + 600_000 });
      await ledger.runs.move(id, ['applying'], 'done', { atMs });
      await ledger.runs.prune(id);
      return (await ledger.runs.get(id)) ?? run;
    },
    auditOf: async (runId, kind = 'first') => {
      const found = (await ledger.audits.ofRun(runId)).find((audit) => audit.kind === kind);
      if (found === undefined) throw new Error(`run ${runId} has no such audit`);
      return found;
    },
  };
}
