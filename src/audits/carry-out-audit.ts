/**
 * Carries out a piece of an audit: a few chunks of keys, each entered in the ledger before the next one is looked up.
 *
 * Imports come first. An audit has one request on its way at a time; while a run is being written it looks at one chunk
 * and then rests, so that it takes little of the rate. What a crash interrupts goes on at the chunk where it stood.
 */
import type { AuditRecord, AuditRequests } from '#src/ledger/audit-record.ts';
import { keyHash } from '#src/log.ts';
import { keysPerLookUpMax, lookUpChunks } from '#src/workspace/look-up-chunks.ts';
import type { RequestKind } from '#src/workspace/port.ts';
import { writeAuditFile } from './audit-file.ts';
import { checkKeys } from './check-keys.ts';
import type { AuditParts } from './parts.ts';

/** Chunks of one piece of work while nothing else is to be done. */
const chunksAtRest = 10;
/** Between two chunks while a run is being written: at 8 requests a second, one of 16 is the audit's. */
const restMs = 2_000;
/** Log lines about single duplicates of one audit. */
const duplicatesLoggedMax = 100;

/**
 * Does nothing where the audit is not due, or done.
 * @throws as reads do (`workspace/port.ts`): nothing is lost, the audit goes on where it stood; the signal's reason.
 */
export async function carryOutAudit(parts: AuditParts, auditId: string, signal: AbortSignal): Promise<void> {
  const { ledger, clock } = parts;
  // Ends after so many chunks, or with the audit; a run at work ends it after one.
  for (let chunk = 0; chunk < chunksAtRest; chunk += 1) {
    signal.throwIfAborted();
    const audit = await ledger.audits.get(auditId);
    if (audit === null || audit.state === 'done' || audit.dueAtMs > (await ledger.nowMs(clock))) return;
    if (!(await checkNextChunk(parts, audit, signal))) {
      await endAudit(parts, audit);
      return;
    }
    if ((await ledger.runs.inState(['applying'], 1)).length > 0) {
      await clock.sleep(restMs, signal);
      return;
    }
  }
}

/** @returns whether there was a key left to look at. */
async function checkNextChunk(parts: AuditParts, audit: AuditRecord, signal: AbortSignal): Promise<boolean> {
  const { audits } = parts.ledger;
  const next = await audits.keysAfter(audit.id, audit.position, keysPerLookUpMax);
  const [keys = []] = lookUpChunks(next.map((one) => one.key));
  const last = next[keys.length - 1];
  if (last === undefined) return false;
  const sent: Record<RequestKind, number> = { get: 0, post: 0, patch: 0, retried: 0, rateLimited: 0 };
  const requests = (): AuditRequests => ({ get: sent.get, retried: sent.retried, rateLimited: sent.rateLimited });
  const onRequest = (kind: RequestKind): void => {
    sent[kind] += 1;
  };
  try {
    const findings = await checkKeys(parts, keys, { signal, onRequest });
    const unchecked = findings.filter((one) => one.kind === 'unchecked').length;
    await audits.advance(audit.id, {
      fromPosition: audit.position,
      toPosition: last.position,
      checked: keys.length - unchecked,
      findings,
      requests: requests(),
    });
  } catch (error) {
    await audits.addRequests(audit.id, requests());
    throw error;
  }
  return true;
}

/** The file first, then the ledger: a crash between the two writes the same file again. */
async function endAudit(parts: AuditParts, audit: AuditRecord): Promise<void> {
  const { ledger, clock, log, reports } = parts;
  const finishedAtMs = clock.nowMs();
  await writeAuditFile(ledger, reports, { ...audit, state: 'done', finishedAtMs });
  if (!(await ledger.audits.finish(audit.id, finishedAtMs))) return;
  const { id, runId, kind, checked, duplicates, missing, unchecked, requests } = audit;
  const facts = { audit: id, run: runId, kind, checked, duplicates, missing, unchecked, requests: requests.get };
  log[duplicates > 0 ? 'error' : 'info'](facts, 'audit finished');
  for (const finding of await ledger.audits.findings(id, 'duplicate', duplicatesLoggedMax)) {
    const ids = finding.contacts.map((one) => one.id);
    log.error({ audit: id, run: runId, keyHash: keyHash(finding.key), ids }, 'two contacts with one key');
  }
}
