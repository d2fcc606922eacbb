/**
 * Approvals: a person lets a run go on that guards have stopped (`docs/rules.md`, "Guards"). Pure.
 *
 * Invariant: an approval passes what was shown and nothing else: the guards that stopped the run, up to the figures in its
 * reason. A guard that says no later, or to more, stops the run again.
 */
import { createHash } from 'node:crypto';
import type { Facts } from '#src/errors.ts';

/** What one guard counted when it said no. */
export interface GuardFigures {
  readonly guard: string;
  readonly count: number;
  readonly base: number;
  /** A fraction of the base, or a count, as the guard has it. */
  readonly limit: number;
}

export interface Approval {
  /** Of the reason that was shown. */
  readonly checksum: string;
  readonly figures: readonly GuardFigures[];
  /** Why, in the person's own words. */
  readonly reason: string | null;
  readonly atMs: number;
  /** What becomes of contacts that are there already, where the person was asked. */
  readonly choice?: LinkChoice;
  /** The plan that was shown: rows whose plan is another one by then are skipped. */
  readonly plan?: { readonly id: string; readonly checksum: string };
}

/**
 * What becomes of contacts to be made that are there already, without an externalId: `adopt` links them, `createAnyway`
 * makes them again.
 */
export type LinkChoice = 'adopt' | 'createAnyway';

/** What of a run's reason an approval is about. */
interface Shown {
  readonly code: string;
  readonly facts: Facts;
}

/** The stable code of a stop. */
export function guardCode(guard: string): string {
  return `guard${guard.replace(/^./, (letter) => letter.toUpperCase())}`;
}

/** For display: `1 row`, `2 rows`. @param noun one with a regular plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** For display: `58.3%`. */
export function percent(fraction: number): string {
  return `${Math.round(fraction * 1_000) / 10}%`;
}

/** Figures as the facts of a reason or of an error. */
export function figureFacts(figures: readonly GuardFigures[]): Facts {
  return Object.fromEntries(
    figures.flatMap(({ guard, count, base, limit }) => [
      [`${guard}Count`, count],
      [`${guard}Base`, base],
      [`${guard}Limit`, limit],
    ]),
  );
}

/** The figures that `figureFacts` wrote; none in the reasons of older versions that had them in another form. */
export function figuresOf(facts: Facts): readonly GuardFigures[] {
  return Object.keys(facts).flatMap((name) => {
    const guard = /^(\w+)Count$/.exec(name)?.[1];
    const [count, base, limit] = [facts[name], facts[`${guard}Base`], facts[`${guard}Limit`]];
    const isFigure = typeof count === 'number' && typeof base === 'number' && typeof limit === 'number';
    return guard !== undefined && isFigure ? [{ guard, count, base, limit }] : [];
  });
}

/** Identifies what a run is stopped by, so that an approval applies to what was shown and nothing else. */
export function checksumOf({ code, facts }: Shown): string {
  const sorted = Object.entries(facts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([code, sorted]))
    .digest('hex')
    .slice(0, 16);
}

export function approvalOf(shown: Shown, said: Omit<Approval, 'checksum' | 'figures'>): Approval {
  return { checksum: checksumOf(shown), figures: figuresOf(shown.facts), ...said };
}

/** The greatest share of its base that was approved of a guard's count; null where the guard was never approved. */
export function approvedShare(approvals: readonly Approval[], guard: string): number | null {
  const approved = approvals.flatMap(({ figures }) => figures).filter((one) => one.guard === guard);
  if (approved.length === 0) return null;
  return Math.max(...approved.map(({ count, base }) => count / Math.max(1, base)));
}
