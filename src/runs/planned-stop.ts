/**
 * A run that carries a kept plan out stops where the plan said so, whatever the limits are by which it is staged: an engine may have others than
 * the command that made the plan (`docs/plans.md`, "Plans"). `--accept`, a limit that was raised for the run, or an approval lets it pass.
 */
import type { Ledger } from '#src/ledger/port.ts';
import { figureFacts, figuresOf, type GuardFigures, guardCode } from '#src/ledger/rules/approval.ts';
import type { RunOptions, RunReason, RunRecord } from '#src/ledger/runs.ts';
import { shellWord } from '#src/shell-words.ts';
import { approveCommand, stoppedBefore } from './guard-reason.ts';

/** What the plan of a run said of its stop, as far as the run's own options do not let it pass. */
export interface PlannedStop {
  readonly planId: string;
  readonly message: string;
  readonly figures: readonly GuardFigures[];
}

/** Null where the run carries no plan out, its plan does not stop, or its options let that pass. */
export async function plannedStop(
  { plans }: Pick<Ledger, 'plans'>,
  { kind, options }: Pick<RunRecord, 'kind' | 'options'>,
): Promise<PlannedStop | null> {
  const { planId, accept } = options;
  // The plan of an undo was shown to who began it.
  if (kind !== 'file' || planId === null || accept) return null;
  const stop = (await plans.get(planId))?.stop ?? null;
  // Contacts without an externalId are looked for anew, and asked about where they are there still.
  const figures = figuresOf(stop?.facts ?? {}).filter(({ guard }) => guard !== 'unlinked');
  if (stop === null || figures.length === 0 || figures.every((one) => isRaised(one, options))) return null;
  return { planId, message: stop.message.replace(stoppedBefore, ''), figures };
}

/** In binary fractions 29 % of 100 is a little less than 29. */
const rounding = 1e-6;

/** Whether a limit of the command, not of the configuration, lets the figure pass. */
function isRaised({ guard, count, base }: GuardFigures, { maxChange, maxDead }: RunOptions): boolean {
  const limit = ['dead', 'losses'].includes(guard) ? maxDead : changeGuards.has(guard) ? maxChange : null;
  return limit !== null && count <= limit * base + rounding;
}

const changeGuards: ReadonlySet<string> = new Set(['updates', 'creates', 'clears']);

/**
 * Why the run stops: for what the plan said, besides what guards say now. What they say, too, is said once, with their figures.
 * @param now null: no guard stops it by today's limits.
 */
export function withPlannedStop(
  now: RunReason | null,
  { planId, message, figures }: PlannedStop,
  { id }: Pick<RunRecord, 'id'>,
  serviceName: string,
): RunReason {
  const known = new Set(figuresOf(now?.facts ?? {}).map(({ guard }) => guard));
  const besides = figures.filter(({ guard }) => !known.has(guard));
  if (now !== null) {
    if (besides.length === 0) return now;
    const words = `${now.message}; its plan ${planId} says: ${message}`;
    return { ...now, message: words, facts: { ...now.facts, ...figureFacts(besides) } };
  }
  const approve = approveCommand(id, serviceName);
  return {
    code: guardCode(figures[0]?.guard ?? 'updates'),
    message: `${stoppedBefore}as its plan ${planId} says: ${message}`,
    facts: figureFacts(figures),
    hint: `Check the file. To refuse it: ${approve.replace('approve', 'cancel')}\nIf this is expected, carry the plan out with --accept: patchbay import --plan ${shellWord(planId)} --accept. Or approve the run: ${approve}`,
  };
}
