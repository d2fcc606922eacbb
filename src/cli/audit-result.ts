/** What an audit came to, for `audit RUN`, `import --audit` and `runs show`: document and exit code. */
import type { Home } from '#src/app.ts';
import { type AuditDocument, readAudit } from '#src/audits/audit-document.ts';
import type { AuditEnd } from '#src/audits/follow-audit.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { adviceFor } from './advice.ts';

export interface AuditResult {
  readonly document: AuditDocument;
  readonly exitCode: number;
  /** Why it was not carried out to its end. */
  readonly reason: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

/** `import --json` with `--audit`: the part that tells of the audit; null where it was not carried out. */
export type RunAudit = Pick<AuditDocument, 'checked' | 'duplicates' | 'missing' | 'unchecked' | 'requests'> | null;

export async function auditResultOf(home: Pick<Home, 'ledger'>, end: AuditEnd, values: boolean): Promise<AuditResult> {
  const known = await readAudit(home.ledger, end.audit);
  const document = shownAudit(known, values);
  switch (end.kind) {
    case 'done':
      return { document, exitCode: document.duplicateCount > 0 ? exitCodes.dead : exitCodes.done, reason: null };
    case 'auth':
      return {
        document,
        exitCode: exitCodes.auth,
        reason: {
          code: end.pause.errorCode ?? 'keyRefused',
          message: end.pause.message,
          hint: 'Set a working key: the next engine goes on with the audit, and so does the same command.',
        },
      };
    default: {
      const pause = end.kind === 'unreachable' ? end.pause : null;
      const code = pause?.errorCode ?? 'serviceUnreachable';
      const hint = `The next engine goes on with the audit, and so does: patchbay audit ${end.audit.runId}`;
      const advice = code === 'serviceUnreachable' ? null : adviceFor(code);
      return {
        document,
        exitCode: exitCodes.unreachable,
        reason: { code, message: pause?.message ?? 'nothing moved for a long time', hint: advice ?? hint },
      };
    }
  }
}

export function runAuditOf({ document, reason }: AuditResult): RunAudit {
  if (reason !== null) return null;
  const { checked, duplicates, missing, unchecked, requests } = document;
  return { checked, duplicates, missing, unchecked, requests };
}

/** `--no-values`: keys and source labels come from files and contacts; ids do not. */
export function shownAudit(document: AuditDocument, values: boolean): AuditDocument {
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
