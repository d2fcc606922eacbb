/** Follows an audit through the ledger, whichever process works on it. */
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import type { AuditRecord } from '#src/ledger/audit-record.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';

/** Why following ended. */
export type AuditEnd =
  | { readonly kind: 'done'; readonly audit: AuditRecord }
  /** The key is refused: nothing goes on before it works again. */
  | { readonly kind: 'auth'; readonly audit: AuditRecord; readonly pause: Pause }
  /** Nothing moved for the whole patience. */
  | { readonly kind: 'unreachable'; readonly audit: AuditRecord; readonly pause: Pause | null }
  /** Nobody works on the ledger any more: the caller may take over. */
  | { readonly kind: 'engineGone'; readonly audit: AuditRecord };

export interface FollowAuditOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly auditId: string;
  /** How long nothing may move, once the audit is due, before following gives up. */
  readonly patienceMs: number;
  /** Asked about once a second; absent where the caller itself is the engine. */
  readonly isEngineGone?: () => boolean;
  readonly signal: AbortSignal;
}

const pollMs = 100;
const engineCheckMs = 1_000;

/** Ends with the audit, at a refused key, when patience is over, or with an `AbortError`. */
export async function followAudit(options: FollowAuditOptions): Promise<AuditEnd> {
  const { ledger, clock, auditId, patienceMs, isEngineGone, signal } = options;
  let progress = '';
  let movedAtMs = clock.monotonicMs();
  let checkedAtMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const audit = await ledger.audits.get(auditId);
    invariant(audit !== null, 'an audit that is followed stays in the ledger', { audit: auditId });
    if (audit.state === 'done') return { kind: 'done', audit };
    const pause = await ledger.pause();
    if (pause?.code === 'auth') return { kind: 'auth', audit, pause };
    const now = clock.monotonicMs();
    const seen = await progressOf(ledger, clock, audit);
    if (seen !== progress || audit.dueAtMs > clock.nowMs()) {
      progress = seen;
      movedAtMs = now;
    }
    if (now - movedAtMs > patienceMs) return { kind: 'unreachable', audit, pause };
    if (isEngineGone !== undefined && now - checkedAtMs > engineCheckMs) {
      checkedAtMs = now;
      if (isEngineGone()) return { kind: 'engineGone', audit };
    }
    await clock.sleep(pollMs, signal);
  }
}

/** Changes while the audit moves, or the one that is carried out before it. */
async function progressOf(ledger: Ledger, clock: Clock, audit: AuditRecord): Promise<string> {
  const [ahead] = await ledger.audits.nextDue(clock.nowMs(), 1);
  return [audit, ahead].map((one) => `${one?.id} ${one?.position}`).join(', ');
}
