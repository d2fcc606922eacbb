/**
 * Carries out a part of an audit: a few chunks of keys, each recorded in the ledger before the next one is looked up.
 *
 * Imports have priority. An audit sends one request at a time; while a run is being written it checks one chunk and then rests,
 * so that it uses little of the rate. After a crash it resumes at the chunk it had reached.
 *
 * What the service returns is compared exactly: a service that ignores the filter returns unmatched contacts, and then the
 * chunk is not conclusive (`docs/facts.md`, "array encoding"). A key whose read fails while others pass stays unchecked, and the audit
 * continues.
 */

import type { Clock } from '#src/clock.ts';
import { matchByKey } from '#src/contacts/reply.ts';
import { PatchbayError } from '#src/errors.ts';
import type { AuditRecord, AuditRequests, NewFinding } from '#src/ledger/audits.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { keyHash, type Logger } from '#src/log.ts';
import { isAboutOneContact, lookUpChunks, lookUpKeys } from '#src/workspace/look-up.ts';
import {
  type CallOptions,
  keysPerLookUpMax,
  type LookUp,
  type RequestKind,
  type Workspace,
} from '#src/workspace/port.ts';
import { writeAuditFile } from './audit-document.ts';

/** Chunks of one call while no run is being written. */
const chunksAtRest = 10;
/** Between two chunks while a run is being written: at 8 requests per second, one in 16 is the audit's. */
const restMs = 2_000;
/** Log lines about single duplicates of one audit. */
const duplicatesLoggedMax = 100;

/**
 * Does nothing if the audit is not due, or done.
 * @throws as reads do (`workspace/port.ts`): nothing is lost, and the audit resumes where it was; the signal's reason.
 */
export async function carryOutAudit(parts: AuditParts, auditId: string, signal: AbortSignal): Promise<void> {
  const { ledger, clock } = parts;
  // Ends after these chunks, or with the audit; a run that is being written ends it after one.
  for (let chunk = 0; chunk < chunksAtRest; chunk += 1) {
    signal.throwIfAborted();
    const audit = await ledger.audits.get(auditId);
    if (audit === null || audit.state === 'done' || audit.dueAtMs > (await ledger.nowMs(clock))) return;
    if (!(await checkNextChunk(parts, audit, signal))) {
      await endAudit(parts, audit);
      return;
    }
    if ((await ledger.runs.list({ states: ['applying'], limit: 1, oldestFirst: true })).length > 0) {
      await clock.sleep(restMs, signal);
      return;
    }
  }
}

/** @returns whether a key was left to check. */
async function checkNextChunk(parts: AuditParts, audit: AuditRecord, signal: AbortSignal): Promise<boolean> {
  const { audits } = parts.ledger;
  const next = await audits.keysAfter(audit.id, audit.position, keysPerLookUpMax);
  const [keys = []] = lookUpChunks(next.map((one) => one.key));
  const last = next[keys.length - 1];
  if (last === undefined) return false;
  const sent: Record<RequestKind, number> = { get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 };
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

/** The file first, then the ledger: after a crash between the two, the same file is written again. */
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

type FoundContact = LookUp['contacts'][number];

/**
 * Looks up one chunk of keys: at most 20, and 4 KB of query (`lookUpChunks`).
 * @returns what is wrong.
 * @throws as reads do (`workspace/port.ts`); `unreachable` `strangersReturned`.
 */
async function checkKeys(
  { ledger, workspace }: AuditParts,
  keys: readonly string[],
  options: CallOptions,
): Promise<readonly NewFinding[]> {
  const { contacts, failures } = await lookUpKeys(workspace, keys, options);
  const known = await ledger.contacts.get(keys);
  const findings: NewFinding[] = [];
  for (const key of keys) {
    const failure = failures.get(key);
    if (failure !== undefined) {
      findings.push(unchecked(key, failure));
      continue;
    }
    const match = matchByKey(key, contacts);
    if (match.kind === 'conflict') {
      findings.push({ key, kind: 'duplicate', contacts: match.ids.map((id) => describe(contacts, id)), code: null });
    } else if (match.kind === 'none') {
      const boundTo = known.get(key)?.contactId ?? null;
      const finding = boundTo === null ? null : await lookByItsId(workspace, key, boundTo, options);
      if (finding !== null && !(await isDeletedByUs(ledger, key))) findings.push(finding);
    }
  }
  return findings;
}

/** Whether the last write of the key was an undo's that deleted its contact. */
async function isDeletedByUs({ contacts }: AuditParts['ledger'], key: string): Promise<boolean> {
  const [last] = await contacts.journal({ key, newestFirst: true, limit: 1 });
  return last?.kind === 'delete';
}

/** Null if the contact exists although no list shows it yet. */
async function lookByItsId(
  workspace: AuditParts['workspace'],
  key: string,
  contactId: string,
  options: CallOptions,
): Promise<NewFinding | null> {
  try {
    const contact = await workspace.getContact(contactId, options);
    return contact?.externalId === key ? null : { key, kind: 'missing', contacts: [], code: null };
  } catch (error) {
    if (!(error instanceof PatchbayError && (await isAboutOneContact(workspace, error, options)))) throw error;
    return unchecked(key, error);
  }
}

function unchecked(key: string, { code }: PatchbayError): NewFinding {
  return { key, kind: 'unchecked', contacts: [], code };
}

function describe(contacts: readonly FoundContact[], id: string): NewFinding['contacts'][number] {
  const found = contacts.find((contact) => contact.id === id);
  return { id, createdAt: found?.createdAt ?? null, source: found?.source ?? null };
}

export interface AuditParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** The folder that reports go to. */
  readonly reports: string;
}
