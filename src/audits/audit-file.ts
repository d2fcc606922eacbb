/**
 * The file of a run's audits, beside its report: `<run>.audit.json`. A file of its own, so that an audit that ends ten
 * minutes or a year later rewrites no report.
 */
import { join } from 'node:path';
import type { AuditRecord } from '#src/ledger/audit-record.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { readAudit } from './read-audit.ts';

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
