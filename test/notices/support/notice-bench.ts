/** A watch over a real ledger, with a clock moved by hand. */
import type { Ledger, Pause } from '#src/ledger/port.ts';
import type { RunState } from '#src/ledger/runs.ts';
import type { ScheduleWork, TickEnd } from '#src/ledger/schedules.ts';
import { createLogger } from '#src/log.ts';
import { startNoticeWatch } from '#src/notices/watch-feeds.ts';
import { deadRow, newRun, slice } from '#test/contracts/support/build.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { type ManualClock, manualClock } from '#test/service/test-service.ts';

export const minute = 60_000;
export const hour = 60 * minute;

export interface NoticeBench {
  readonly ledger: Ledger;
  readonly clock: ManualClock;
  /** Ids of hosts that are away. */
  readonly away: string[];
  /** Feeds that have neither an entry nor a folder any more. */
  readonly gone: Set<string>;
  /** Feeds of which that cannot be seen. */
  readonly unseen: Set<string>;
  /** `level feed troubles message` of each line. */
  readonly lines: readonly string[];
  /** All that was ever logged, as it was written. */
  readonly log: readonly string[];
  /** A schedule that is due in an hour. */
  schedule(name: string, work: ScheduleWork): Promise<void>;
  /** A tick of the schedule that is begun, and ends so; null: it is at work. @returns its id. */
  tick(name: string, outcome: TickEnd['outcome'] | null, user?: string): Promise<string>;
  endTick(id: string, outcome: TickEnd['outcome']): Promise<void>;
  look(): Promise<void>;
  /** A further look, as a new process has it. @param feeds in the configuration by then; without: the same. */
  restart(feeds?: BenchOptions['feeds']): void;
  /** The types of what was entered since the last call, with their feed and data. */
  told(): Promise<readonly Told[]>;
  /** A file of the feed that reaches that state, now. @param offMs how far the clock of its host is off. */
  file(feed: string, state: RunState, id?: string, host?: string, offMs?: number): Promise<string>;
  pause(code: string | null): Promise<void>;
}

export interface Told {
  readonly type: string;
  readonly feed: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface BenchOptions {
  readonly url?: string | null;
  readonly runsSchedules?: boolean;
  readonly feeds?: Readonly<Record<string, { readonly expectEveryMs: number | null }>>;
}

export async function openNoticeBench({
  url = 'https://hooks.example.com/x',
  feeds = {},
  runsSchedules = true,
}: BenchOptions = {}): Promise<NoticeBench> {
  const { ledger } = await openForTest(openTempLedger);
  const clock = manualClock();
  const lines: string[] = [];
  const raw: string[] = [];
  const write = (line: string): void => {
    const { level, feed, troubles, msg } = JSON.parse(line);
    raw.push(line);
    lines.push(`${level} ${feed} ${(troubles ?? []).join('+')} ${msg}`);
  };
  const away: string[] = [];
  const [gone, unseen] = [new Set<string>(), new Set<string>()];
  let configured = feeds;
  const begin = () =>
    startNoticeWatch({
      ledger,
      clock,
      log: createLogger({ level: 'info', stream: { write } }),
      feeds: configured,
      exists: (feed) => (unseen.has(feed) ? null : !gone.has(feed)),
      runsSchedules,
      addressed: (notice) => (url === null ? [] : [notice]),
      notify: { outageAfterMs: minute },
      hostsAway: async () => away,
      hostNameOf: (host) => `name of ${host}`,
      hintOf: ({ hint }) => hint,
    });
  let watch = begin();
  let count = 0;
  const endTick = async (id: string, outcome: TickEnd['outcome']): Promise<void> => {
    const facts = { code: `why-${outcome}`, message: '', runIds: [], takenAtMs: clock.nowMs() };
    await ledger.schedules.end(id, clock.nowMs(), { outcome, ...facts } as TickEnd);
  };
  const toldIds = new Set<string>();
  return {
    ledger,
    clock,
    away,
    gone,
    unseen,
    lines,
    log: raw,
    schedule: async (name, work) => {
      const createdAtMs = clock.nowMs();
      const rule = { kind: 'every', everyMs: hour } as const;
      await ledger.schedules.put({ name, work, rule, dueAtMs: createdAtMs + hour, createdAtMs });
    },
    tick: async (name, outcome, user) => {
      count += 1;
      const id = `tick-${count}`;
      const dueAtMs = clock.nowMs();
      await ledger.schedules.request({ id, schedule: name, trigger: 'request', user: user ?? null, dueAtMs });
      await ledger.schedules.begin(id, dueAtMs);
      if (outcome !== null) await endTick(id, outcome);
      return id;
    },
    endTick,
    look: async () => {
      clock.advance(5_000);
      await watch.look();
    },
    restart: (now) => {
      configured = now ?? configured;
      watch = begin();
    },
    told: async () => {
      const all = (await ledger.deliveries.list({ states: ['waiting'], limit: 1_000 })).toReversed();
      const fresh = all.filter(({ id }) => !toldIds.has(id));
      for (const { id } of fresh) toldIds.add(id);
      return fresh.map(({ type, feed, data }) => ({ type, feed, data }));
    },
    file: async (feed, state, id, host, offMs = 0) => {
      count += 1;
      const runId = id ?? `run-${count}`;
      const atMs = clock.nowMs() + offMs;
      const run = await ledger.runs.create(newRun(runId, { feed, createdAtMs: atMs, host: host ?? null }));
      await ledger.runs.beginStaging(runId, atMs);
      if (state === 'doneWithDead') {
        const dead = [deadRow('Ada Lovelace', { code: 'phoneInvalid' })];
        await ledger.runs.stage(slice(run, { dead, counts: { rows: 1, dead: 1 }, atMs }));
      }
      const reason = { code: `why-${state}`, message: 'Ada Lovelace +14155550101', hint: null, facts: {} };
      await ledger.runs.move(runId, ['staging'], state, { atMs, reason });
      return runId;
    },
    pause: async (code) => {
      const pause: Pause | null =
        code === null ? null : { code: 'unreachable', errorCode: code, message: 'away', sinceMs: clock.nowMs() };
      await ledger.setPause(pause);
    },
  };
}
