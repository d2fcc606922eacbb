/**
 * Guards while a run is applied (`docs/rules.md`, "Guards"): a ledger that does not know what it should know, and a service
 * that accepts nothing. Both mean that something is wrong beyond single rows, and the run stops before it does harm. Once
 * approved, a guard passes up to the share that was shown, to the end of the run; an approval of the staged file does not
 * count here.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import {
  approvedShare,
  counted,
  figureFacts,
  type GuardFigures,
  guardCode,
  percent,
} from '#src/ledger/rules/approval.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { originOf, type RunCounts, type RunRecord } from '#src/ledger/runs.ts';

export interface ApplyingLimits {
  /** Contacts found that the ledger does not know, as a fraction of the keys looked up. */
  readonly adoptionsMax: number;
  readonly adoptionsFloor: number;
  /** This many writes, all refused with one code and none accepted, stop the run. */
  readonly refusalsMax: number;
}

interface GuardParts {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly limits: {
    readonly applyingOf: (feed: string) => ApplyingLimits;
    readonly adoptOf: (feed: string) => boolean;
  };
}

/** An approved share is reached again exactly: floating-point rounding must not exceed it. */
const rounding = 1e-6;

export type LookUpCount = Pick<RunCounts, 'lookedUp' | 'foundUnknown'>;

/**
 * Counts what the look-up of a chunk found, and checks whether the run may continue.
 * @throws PatchbayError `guard` `guardAdoptions`. Keys that have not ended are subtracted again: they are looked up once more
 *   when the run is approved, and the share is then the one that was shown.
 */
export async function watchAdoptions(
  { ledger, limits }: GuardParts,
  { id }: RunRecord,
  { all, unended }: { readonly all: LookUpCount; readonly unended: LookUpCount },
): Promise<void> {
  await ledger.runs.record(id, { counts: all });
  if (all.foundUnknown === 0) return;
  const run = await ledger.runs.get(id);
  const stop = run === null ? null : adoptionStop(limits, run);
  if (stop === null) return;
  await ledger.runs.record(id, { counts: { lookedUp: -unended.lookedUp, foundUnknown: -unended.foundUnknown } });
  throw stop;
}

/** Why the run stops, or would stop, at what it has looked up so far; null where it goes on. */
export function adoptionStop(limits: GuardParts['limits'], run: Parameters<typeof tooManyUnknown>[0]) {
  return limits.adoptOf(run.feed) ? null : tooManyUnknown(run, limits.applyingOf(run.feed));
}

/** Only `--adopt` is about unknown contacts; `--accept` is about the file. */
function tooManyUnknown(
  {
    feed,
    kind,
    counts,
    options,
    approvals,
  }: Pick<RunRecord, 'feed' | 'kind' | 'options' | 'approvals'> & { readonly counts: LookUpCount },
  limits: ApplyingLimits,
): PatchbayError | null {
  const { foundUnknown, lookedUp } = counts;
  const limit = Math.max(limits.adoptionsMax, approvedShare(approvals, 'adoptions') ?? 0);
  // A person has looked at dead letters before trying them again.
  const isExempt = kind === 'redrive' || options.adopt;
  if (isExempt || foundUnknown < Math.max(1, limits.adoptionsFloor) || foundUnknown <= limit * lookedUp + rounding)
    return null;
  const message = `${foundUnknown} of ${counted(lookedUp, 'key')} looked up ${foundUnknown === 1 ? 'belongs' : 'belong'} to existing contacts that this data folder does not know (${percent(foundUnknown / lookedUp)}; the limit guards.adoptionsMax is ${percent(limits.adoptionsMax)}): their empty fields would be filled and items added; fields that differ would wait for a person`;
  const cure = adoptAdvice(feed, originOf({ kind, options }) === 'command');
  const hint = `Was the data folder lost, or is this another one? If the file is to win over the values of these contacts, ${cure}.`;
  const figures = { guard: 'adoptions', count: foundUnknown, base: lookedUp, limit: limits.adoptionsMax };
  return stop(figures, message, hint);
}

/** A file that comes by itself is not imported again, and the next one would stop alike. No setting is about `main` alone. */
function adoptAdvice(feed: string, isImport: boolean): string {
  if (isImport) return 'import again with --adopt';
  return feed === mainFeed
    ? 'cancel this run, and import its file by a command, with --adopt'
    : `set feeds.${feed}.adopt to true, restart Patchbay where it runs, and approve this run then`;
}

/**
 * Checks whether the service accepts anything of the run.
 * @returns the number of writes that may be tried until the next check: no more than are missing to the limit.
 * @throws PatchbayError `guard` `guardRefusals`.
 */
export async function watchRefusals(
  { ledger, limits }: GuardParts,
  { id, feed, counts, approvals }: RunRecord,
): Promise<number> {
  const { refusalsMax } = limits.applyingOf(feed);
  if (counts.created + counts.updated > 0 || approvedShare(approvals, 'refusals') !== null)
    return Number.POSITIVE_INFINITY;
  const refused = counts.dead === 0 ? [] : (await ledger.runs.deadByCode(id)).filter((one) => one.class === 'refused');
  const [only] = refused;
  if (only === undefined) return refusalsMax;
  if (refused.length > 1) return Number.POSITIVE_INFINITY;
  if (only.count < refusalsMax) return refusalsMax - only.count;
  const message = `${only.count === 1 ? 'the first write was' : `the first ${only.count} writes were all`} refused with ${only.code}, and none was accepted (the limit guards.refusalsMax is ${refusalsMax})`;
  const hint = [
    `See what was refused: patchbay dead ls --code ${only.code}`,
    `Fix the cause, then try again with: patchbay dead retry --code ${only.code}`,
  ].join('\n');
  throw stop({ guard: 'refusals', count: only.count, base: only.count, limit: refusalsMax }, message, hint);
}

function stop(figures: GuardFigures, message: string, hint: string): PatchbayError {
  return new PatchbayError('guard', guardCode(figures.guard), `stopped: ${message}`, {
    hint,
    facts: figureFacts([figures]),
  });
}
