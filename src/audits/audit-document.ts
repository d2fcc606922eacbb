/**
 * An audit as scripts read it: `audit RUN --json`, `runs show`, and the file `<run>.audit.json` beside the report. It is a
 * separate file, so that an audit that ends ten minutes or a year later rewrites no report.
 */

import { join } from 'node:path';
import { isoInstant } from '#src/clock.ts';
import type { AuditFinding, AuditKind, AuditRecord, AuditScope } from '#src/ledger/audits.ts';
import type { KeyHistoryEntry } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { writeWholeFile } from '#src/whole-file.ts';

/** Findings of one kind that a document lists; the counts are complete. */
const findingsShownMax = 1_000;

/** One contact of a duplicate, and what the ledger knows of it. */
export interface DuplicateContact {
  readonly id: string;
  readonly createdAt: string | null;
  readonly source: string | null;
  /** The run that bound the key to this contact, and when; null for a contact that the ledger did not bind. */
  readonly bound: { readonly run: string | null; readonly at: string | null } | null;
}

export interface DuplicateDocument {
  readonly key: string;
  readonly contacts: readonly DuplicateContact[];
  /** Oldest first; empty where the key was never in doubt. */
  readonly history: readonly KeyEventDocument[];
}

interface KeyEventDocument {
  readonly at: string;
  readonly run: string | null;
  readonly kind: KeyHistoryEntry['kind'];
  readonly contact: string | null;
  readonly detail: string | null;
}

export interface AuditDocument {
  readonly audit: string;
  readonly run: string;
  readonly kind: AuditKind;
  readonly scope: AuditScope;
  readonly state: AuditRecord['state'];
  readonly dueAt: string;
  readonly finishedAt: string | null;
  readonly keys: number;
  readonly checked: number;
  readonly duplicates: readonly DuplicateDocument[];
  readonly duplicateCount: number;
  readonly missing: number;
  readonly missingKeys: readonly string[];
  readonly unchecked: number;
  readonly uncheckedKeys: readonly string[];
  /** Sent for the audit; none of them is counted with the run. */
  readonly requests: number;
}

interface Findings {
  readonly duplicates: readonly AuditFinding[];
  readonly missing: readonly AuditFinding[];
  readonly unchecked: readonly AuditFinding[];
}

function auditDocument(audit: AuditRecord, findings: Findings): AuditDocument {
  return {
    audit: audit.id,
    run: audit.runId,
    kind: audit.kind,
    scope: audit.scope,
    state: audit.state,
    dueAt: isoInstant(audit.dueAtMs),
    finishedAt: audit.finishedAtMs === null ? null : isoInstant(audit.finishedAtMs),
    keys: audit.keyCount,
    checked: audit.checked,
    duplicates: findings.duplicates.map(duplicateDocument),
    duplicateCount: audit.duplicates,
    missing: audit.missing,
    missingKeys: findings.missing.map((one) => one.key),
    unchecked: audit.unchecked,
    uncheckedKeys: findings.unchecked.map((one) => one.key),
    requests: audit.requests.get,
  };
}

function duplicateDocument(finding: AuditFinding): DuplicateDocument {
  const { key, contacts, boundTo, boundRun, boundAtMs, history } = finding;
  const bound = { run: boundRun, at: boundAtMs === null ? null : isoInstant(boundAtMs) };
  return {
    key,
    contacts: contacts.map(({ id, createdAt, source }) => ({
      id,
      createdAt,
      source,
      bound: id === boundTo ? bound : null,
    })),
    history: history.map(({ atMs, runId, kind, contactId, detail }) => ({
      at: isoInstant(atMs),
      run: runId,
      kind,
      contact: contactId,
      detail,
    })),
  };
}

export async function readAudit({ audits }: Pick<Ledger, 'audits'>, audit: AuditRecord): Promise<AuditDocument> {
  return auditDocument(audit, {
    duplicates: await audits.findings(audit.id, 'duplicate', findingsShownMax),
    missing: await audits.findings(audit.id, 'missing', findingsShownMax),
    unchecked: await audits.findings(audit.id, 'unchecked', findingsShownMax),
  });
}

/** Audits of one run in its file: the newest. */
const auditsMax = 20;

export function auditFilePath(reports: string, runId: string): string {
  return join(reports, `${runId}.audit.json`);
}

/**
 * Writes all audits of the run that are done, and the one that is about to be; the file appears complete or not at all.
 * @throws the system's errors.
 */
export async function writeAuditFile(
  ledger: Pick<Ledger, 'audits'>,
  reports: string,
  ending: AuditRecord,
): Promise<void> {
  const ofRun = (await ledger.audits.ofRun(ending.runId)).map((one) => (one.id === ending.id ? ending : one));
  const done = ofRun.filter((one) => one.state === 'done').slice(-auditsMax);
  const audits = await Promise.all(done.map((one) => readAudit(ledger, one)));
  const text = `${JSON.stringify({ run: ending.runId, audits }, null, 1)}\n`;
  await writeWholeFile(auditFilePath(reports, ending.runId), text);
}
