/** Audits of the ledger as documents, with what they found. */
import type { AuditRecord } from '#src/ledger/audit-record.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type AuditDocument, auditDocument, findingsShownMax } from './audit-document.ts';

export async function readAudit({ audits }: Pick<Ledger, 'audits'>, audit: AuditRecord): Promise<AuditDocument> {
  return auditDocument(audit, {
    duplicates: await audits.findings(audit.id, 'duplicate', findingsShownMax),
    missing: await audits.findings(audit.id, 'missing', findingsShownMax),
    unchecked: await audits.findings(audit.id, 'unchecked', findingsShownMax),
  });
}
