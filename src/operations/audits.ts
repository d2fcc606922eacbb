/** Audits: ask whether each key that a run touched has exactly one contact, and read what an audit found. */
import type { Home } from '#src/app.ts';
import { type AuditDocument, readAudit } from '#src/audits/audit-document.ts';
import { PatchbayError } from '#src/errors.ts';
import type { AuditRecord } from '#src/ledger/audits.ts';
import type { AuditEnd } from '#src/ledger/follow.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { approveCommand } from '#src/runs/guard-reason.ts';
import { standstillReason } from './standstill.ts';

/**
 * Enters an audit of an ended run; one that waits already is returned. The engine carries it out, not before all writes of
 * the run are visible in lists: the run's first audit knows that time.
 * @throws PatchbayError `usage` `runNotEnded`.
 */
export async function requestAudit(
  { ledger, clock, serviceName }: Pick<Home, 'ledger' | 'clock' | 'serviceName'>,
  run: RunRecord,
): Promise<AuditRecord> {
  if (!isFinal(run.state)) throw runNotEnded(run, serviceName);
  const first = await firstAuditOf({ ledger }, run.id);
  const dueAtMs = Math.max(await ledger.nowMs(clock), first?.dueAtMs ?? 0);
  return ledger.audits.demand({ runId: run.id, atMs: clock.nowMs(), dueAtMs });
}

/** The audit that each run gets by itself; null before the run has ended. */
export async function firstAuditOf({ ledger }: Pick<Home, 'ledger'>, runId: string): Promise<AuditRecord | null> {
  return (await ledger.audits.ofRun(runId)).find(({ kind }) => kind === 'first') ?? null;
}

function runNotEnded(run: RunRecord, serviceName: string): PatchbayError {
  const message = `run ${run.id} is ${run.state}, and only an ended run can be audited`;
  const hint =
    run.state === 'stopped'
      ? `Look at it: patchbay runs show ${run.id}. Or let it continue: ${approveCommand(run.id, serviceName)}`
      : 'Wait until it has ended; patchbay status shows that.';
  return new PatchbayError('usage', 'runNotEnded', message, { hint });
}

/** Newest audits of one run that are returned. */
const auditsOfRunMax = 3;

/** The newest audits of a run that are done; before that its first audit, which waits. */
export async function readAudits(
  { ledger }: Pick<Home, 'ledger'>,
  runId: string,
  values: boolean,
): Promise<readonly AuditDocument[]> {
  const audits = await ledger.audits.ofRun(runId);
  const done = audits.filter(({ state }) => state === 'done').slice(-auditsOfRunMax);
  const chosen = done.length > 0 ? done : audits.slice(0, 1);
  return Promise.all(chosen.map(async (one) => shownAudit(await readAudit(ledger, one), values)));
}

export interface AuditResult {
  readonly document: AuditDocument;
  readonly exitCode: number;
  /** Why it was not carried out; null if it was. */
  readonly reason: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

/** The `audit` member of `import --audit --json`; null where the audit was not carried out. */
export type RunAudit = Pick<AuditDocument, 'checked' | 'duplicates' | 'missing' | 'unchecked' | 'requests'> | null;

export async function readAuditEnd(
  { ledger }: Pick<Home, 'ledger'>,
  end: AuditEnd,
  values: boolean,
): Promise<AuditResult> {
  const document = shownAudit(await readAudit(ledger, end.audit), values);
  switch (end.kind) {
    case 'done':
      return { document, exitCode: document.duplicateCount > 0 ? exitCodes.dead : exitCodes.done, reason: null };
    case 'auth': {
      const hint = 'Set a working key: the next engine continues the audit, and so does the same command.';
      const reason = { code: end.pause.errorCode ?? 'keyRefused', message: end.pause.message, hint };
      return { document, exitCode: exitCodes.auth, reason };
    }
    default: {
      const again = `The next engine continues the audit, and so does: patchbay audit ${end.audit.runId}`;
      return { document, exitCode: exitCodes.unreachable, reason: standstillReason(end, again) };
    }
  }
}

export function runAuditOf({ document, reason }: AuditResult): RunAudit {
  if (reason !== null) return null;
  const { checked, duplicates, missing, unchecked, requests } = document;
  return { checked, duplicates, missing, unchecked, requests };
}

/** For `--no-values`: keys and source labels come from files and contacts; ids do not. */
function shownAudit(document: AuditDocument, values: boolean): AuditDocument {
  if (values) return document;
  return {
    ...document,
    duplicates: document.duplicates.map((one) => ({
      ...one,
      key: '',
      contacts: one.contacts.map((contact) => ({ ...contact, source: null })),
    })),
    missingKeys: [],
    uncheckedKeys: [],
  };
}
