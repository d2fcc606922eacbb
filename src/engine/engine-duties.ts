/** What the engine does at its sweeps: the list. */
import type { Home } from '#src/app.ts';
import type { NoticeWatch } from '#src/notices/watch-feeds.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import type { Duty } from './duties.ts';
import type { Health } from './health.ts';
import type { QueueSide } from './open-queue.ts';
import type { ServiceSide } from './open-service.ts';
import type { ScheduleSide } from './schedule-side.ts';

/** The view of the dead letters is for people: it may be a little late. */
const viewEverySweeps = 6;
/** Once an hour. */
const expireEverySweeps = 720;
/** A probe waits for the rate gate too, and that one for its Redis; the next sweep asks again. */
const probeMsMax = 60_000;

export interface DutyParts {
  readonly health: Health;
  readonly queue: QueueSide;
  readonly service: ServiceSide;
  readonly schedules: ScheduleSide;
  readonly noticeWatch: NoticeWatch;
}

/** In the order in which they are done: what is due is entered before the dispatcher looks for it. */
export function engineDuties(home: Home, parts: DutyParts): readonly Duty[] {
  const { health, queue, service, schedules, noticeWatch } = parts;
  const { dispatcher, view, limitBatches } = queue;
  const always = (carryOut: Duty['carryOut']): Duty => ({ everySweeps: 1, carryOut });
  return [
    always(() => health.look()),
    always(() => limitBatches()),
    always(() => schedules.look()),
    always(() => dispatcher.sweep()),
    always(async (signal) => {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(probeMsMax)]);
      if (await service.watch.probe(inTime)) dispatcher.wake();
    }),
    always(async () => {
      await noticeWatch.look();
      dispatcher.wake();
    }),
    { everySweeps: viewEverySweeps, carryOut: () => view.refresh() },
    { everySweeps: expireEverySweeps, carryOut: () => expire(home, service) },
  ];
}

async function expire({ config, ledger, clock }: Home, { batches }: ServiceSide): Promise<void> {
  const { keepFiles } = config.data;
  await expireFiles(batches.runs, keepFiles);
  await ledger.deadLetters.forget(clock.nowMs() - keepFiles);
  await ledger.audits.forget(clock.nowMs() - keepFiles);
  await ledger.deliveries.forget(clock.nowMs() - keepFiles);
  await ledger.takes.forget(clock.nowMs(), keepFiles);
}
