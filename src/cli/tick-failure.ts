/** The tick that was followed, or why there is none: the same error for every command (`exit.ts`). */
import { PatchbayError } from '#src/errors.ts';
import type { TickRecord } from '#src/ledger/schedule-record.ts';
import type { TickFollowEnd } from '#src/schedules/carry-out-tick.ts';
import { adviceFor } from './advice.ts';

/** @throws PatchbayError why nobody carries it out; what its work threw, where it failed. */
export function endedTick(end: TickFollowEnd, schedule: string): TickRecord {
  switch (end.kind) {
    case 'done':
      if (end.tick.outcome === 'failed') throw tickFailure(end.tick);
      return end.tick;
    case 'forgotten':
      throw new PatchbayError('usage', 'noSuchSchedule', `the schedule ${schedule} was taken out meanwhile`);
    default: {
      const pause = end.kind === 'engineGone' ? null : end.pause;
      const code = pause?.errorCode ?? (end.kind === 'auth' ? 'keyRefused' : 'serviceUnreachable');
      const message = pause?.message ?? 'nothing moved for a long time';
      const hint = adviceFor(code) ?? 'Nothing is lost: the work waits for the next engine.';
      throw new PatchbayError(end.kind === 'auth' ? 'auth' : 'unreachable', code, message, { hint });
    }
  }
}

/** As the error that the work itself threw. */
function tickFailure({ id, schedule, kind, code, message, hint }: TickRecord): PatchbayError {
  const words = message ?? `the schedule ${schedule} could not be carried out`;
  const facts = { facts: { tick: id } };
  return new PatchbayError(
    kind ?? 'unreachable',
    code ?? 'unexpected',
    words,
    hint === null ? facts : { ...facts, hint },
  );
}
