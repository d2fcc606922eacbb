/**
 * Watches every create that leaves a worker, for what would make a second contact in a service that does not mind.
 *
 * The service of the tests refuses a taken externalId with 409. So each 409 is a duplicate that was prevented by luck; and
 * so is a create that leaves while an earlier one of that key may still land. A contact that a person has just made is no
 * duplicate of ours: lists may not have shown it yet, and 409 is how one learns of it (`docs/rules.md`, "One contact per key", 4).
 */
import type { Clock } from '#src/clock.ts';
import type { UpsertLimits } from '#src/upsert/chunk.ts';
import type { Workspace, WriteResult } from '#src/workspace/port.ts';

export interface CreateWatch {
  /** The workspace of one worker, watched. */
  watched(workspace: Workspace): Workspace;
  /** A person made the contact. */
  madeByHand(key: string): void;
  /** A person deleted the contact: its key may be created anew. */
  deleted(key: string): void;
  /** One sentence each; empty as long as all is well. */
  readonly breaches: readonly string[];
}

interface Sent {
  readonly atMs: number;
  /** Null while it is on its way. */
  end: WriteResult['kind'] | null;
}

type Limits = Pick<UpsertLimits, 'latestCommitMs' | 'visibilityLagMs' | 'startGuardMs'>;

export function watchCreates(clock: Clock, limits: Limits): CreateWatch {
  const { latestCommitMs, visibilityLagMs, startGuardMs } = limits;
  const madeAtMs = new Map<string, number>();
  /** The look-up was made at most a start guard before the create left. */
  const mayBeUnseen = (key: string): boolean =>
    clock.monotonicMs() - (madeAtMs.get(key) ?? Number.NEGATIVE_INFINITY) <= visibilityLagMs + startGuardMs;
  const sent = new Map<string, Sent[]>();
  const breaches: string[] = [];
  const leaves = (key: string): Sent => {
    const earlier = sent.get(key) ?? [];
    const atMs = clock.monotonicMs();
    for (const one of earlier) {
      const agoMs = atMs - one.atMs;
      if ((one.end === null || one.end === 'doubt') && agoMs < latestCommitMs)
        breaches.push(`${key}: a create leaves ${agoMs} ms after one that may still land`);
    }
    const now = { atMs, end: null };
    sent.set(key, [...earlier, now]);
    return now;
  };
  return {
    breaches,
    madeByHand: (key) => void madeAtMs.set(key, clock.monotonicMs()),
    deleted: (key) => void sent.delete(key),
    watched: (workspace) => ({
      ...workspace,
      createContact: async (body, options = {}) => {
        const key = body.externalId ?? '';
        const attempts: Sent[] = [];
        const beforeSend = async (): Promise<void> => {
          await options.beforeSend?.();
          attempts.push(leaves(key));
        };
        try {
          const result = await workspace.createContact(body, { ...options, beforeSend });
          for (const one of attempts) one.end = result.kind;
          if (result.kind === 'refused' && result.status === 409 && !mayBeUnseen(key))
            breaches.push(`${key}: a create leaves although the contact is there (409)`);
          return result;
        } catch (error) {
          for (const one of attempts) one.end = 'notSent';
          throw error;
        }
      },
    }),
  };
}
