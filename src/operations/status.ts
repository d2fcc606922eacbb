/** The state of a data folder: what runs, what waits, and what needs a person. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { isEngineRunning, liveWorkers } from '#src/ledger/engine-presence.ts';
import type { Pause } from '#src/ledger/port.ts';
import { activeRunStates, finalRunStates } from '#src/ledger/runs.ts';
import { bytesOf } from '#src/ledger/sqlite/check.ts';
import { listRuns } from './runs.ts';

/** What a process can see of its surroundings. */
export interface Surroundings {
  /** Null where the file system does not say. */
  readonly diskFreeBytes: number | null;
  /** Null for the embedded queue: only its engine can use it. */
  readonly queueAnswers: boolean | null;
  /** Sentences; empty where all is well. */
  readonly troubles: readonly string[];
}

const runsShownMax = 20;
const auditsShownMax = 20;

export type Status = Awaited<ReturnType<typeof readStatus>>;

/** `status --json`. */
export async function readStatus(home: Home, { diskFreeBytes, queueAnswers, troubles }: Surroundings) {
  const { ledger, folders, clock, identity } = home;
  const pause = await ledger.pause();
  const active = await listRuns(home, { states: activeRunStates, limit: runsShownMax });
  const stopped = await listRuns(home, { states: ['stopped'], limit: runsShownMax });
  const [last] = await listRuns(home, { states: finalRunStates, limit: 1 });
  const counts = await ledger.counts();
  const conditions = await ledger.deliveries.conditions();
  return {
    service: home.serviceName,
    data: folders.root,
    importFolder: folders.importFolders.at(-1) ?? null,
    // A ledger that is known to be damaged is not opened: opening it throws.
    ledger: { file: folders.ledgerFile, bytes: bytesOf(folders.ledgerFile), state: 'noDamageKnown' },
    engine: isEngineRunning(home) ? 'running' : 'not running',
    workers: liveWorkers((await ledger.registrations()).workers, await ledger.nowMs(clock), identity.isDead).length,
    paused: pause === null ? null : pauseDocument(pause),
    surroundings: { diskFreeBytes, queueAnswers, troubles },
    active: active.map(({ summary }) => summary),
    stopped: stopped.map(({ summary }) => summary),
    last: last?.summary ?? null,
    feeds: conditions
      .filter(({ troubles }) => troubles.length > 0)
      .map(({ feed, troubles, sinceMs }) => ({ feed, troubles, since: isoInstant(sinceMs) })),
    heldFields: await ledger.contacts.heldCount({}),
    deadLetters: counts.openLetters,
    notices: {
      waiting: counts.waitingDeliveries,
      dead: counts.deadDeliveries,
    },
    audits: {
      waiting: counts.waitingAudits,
      duplicates: (await ledger.audits.standing(auditsShownMax)).map(({ runId, duplicates }) => ({
        run: runId,
        keys: duplicates,
      })),
    },
  };
}

/** `scope`: `all`, or `writes` alone. */
export function pauseDocument({ code, scope = 'all', message, sinceMs }: Pause) {
  return { code, scope, message, since: isoInstant(sinceMs) };
}
