/** Follows an audit through the ledger. */
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import type { AuditRecord } from '#src/ledger/audits.ts';
import { type Following, type FollowStop, follow } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';

/** Why following ended, and the audit as the last look saw it. */
export type AuditEnd = ({ readonly kind: 'done' } | FollowStop) & { readonly audit: AuditRecord };

export interface FollowAuditOptions extends Following {
  readonly auditId: string;
}

/** Ends with the audit, or as `follow` does; patience begins when the audit is due. */
export async function followAudit(options: FollowAuditOptions): Promise<AuditEnd> {
  const { ledger, clock, auditId } = options;
  const seen: { audit: AuditRecord | null } = { audit: null };
  const end = await follow<{ readonly kind: 'done' }>(options, async () => {
    const audit = await ledger.audits.get(auditId);
    invariant(audit !== null, 'an audit that is followed stays in the ledger', { audit: auditId });
    seen.audit = audit;
    if (audit.state === 'done') return { end: { kind: 'done' } };
    const waits = audit.dueAtMs > (await ledger.nowMs(clock));
    return { progress: waits ? null : await progressOf(ledger, clock, audit), needsKey: true };
  });
  invariant(seen.audit !== null, 'following ends after a look', { audit: auditId });
  return { ...end, audit: seen.audit };
}

/** Changes while the audit progresses, or the one that is carried out before it. */
async function progressOf(ledger: Ledger, clock: Clock, audit: AuditRecord): Promise<string> {
  const [ahead] = await ledger.audits.nextDue(await ledger.nowMs(clock), 1);
  return [audit, ahead].map((one) => `${one?.id} ${one?.position}`).join(', ');
}
