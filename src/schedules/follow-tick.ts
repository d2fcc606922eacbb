/** Follows a tick through the ledger. */
import { type Following, type FollowStop, follow } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { TickRecord } from '#src/ledger/schedule-record.ts';

/** Why following ended. */
export type TickFollowEnd =
  | { readonly kind: 'done'; readonly tick: TickRecord }
  /** Its schedule was dropped from the configuration. */
  | { readonly kind: 'forgotten' }
  | FollowStop;

export interface FollowTickOptions extends Following {
  readonly tickId: string;
}

/** Ends with the tick, or as `follow` does. Work at hand has a limit of its own, and no patience ends it. */
export async function followTick(options: FollowTickOptions): Promise<TickFollowEnd> {
  const { ledger, tickId } = options;
  return follow<TickFollowEnd>(options, async () => {
    const tick = await ledger.schedules.tick(tickId);
    if (tick === null) return { end: { kind: 'forgotten' } };
    if (tick.state === 'ended') return { end: { kind: 'done', tick } };
    // What is taken is entered and waits for the key as a run.
    return {
      progress: (await isMoving(ledger, tick.schedule)) ? null : tick.state,
      needsKey: tick.work === 'snapshot',
    };
  });
}

/** It, or one of its schedule that it waits for. */
async function isMoving({ schedules }: Ledger, name: string): Promise<boolean> {
  return (await schedules.openTicks()).some((tick) => tick.schedule === name && tick.state === 'working');
}
