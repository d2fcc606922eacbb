/** What the first page shows, gathered from the ledger, and its JSON twin. */
import { isoInstant } from '#src/clock.ts';
import { letterDocument } from '#src/dead-letters/letter-document.ts';
import type { DeadLetterGroup } from '#src/ledger/letters.ts';
import type { Pause } from '#src/ledger/port.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import type { DashboardParts, Readiness } from './parts.ts';
import { askReadiness } from './readiness.ts';
import { type RunView, viewRun } from './run-view.ts';

const limits = { runsAtWorkMax: 50, stoppedRunsMax: 50, lastRunsMax: 20, groupsMax: 50 } as const;

export interface Overview {
  readonly pause: Pause | null;
  readonly readiness: Readiness;
  /** Oldest first: the order in which they go on. */
  readonly atWork: readonly RunView[];
  /** Stopped by a guard: they wait for a person. */
  readonly stopped: readonly RunView[];
  /** Newest first, whatever their state. */
  readonly last: readonly RunView[];
  readonly openLetterCount: number;
  readonly groups: readonly DeadLetterGroup[];
}

/** Throws what the ledger throws. */
export async function readOverview(parts: DashboardParts): Promise<Overview> {
  const { ledger } = parts;
  const view = viewRun.bind(null, parts);
  const { runsAtWorkMax, stoppedRunsMax, lastRunsMax, groupsMax } = limits;
  return {
    pause: await ledger.pause(),
    readiness: await askReadiness(parts),
    atWork: (await ledger.runs.inState(activeRunStates, runsAtWorkMax)).map(view),
    stopped: (await ledger.runs.list({ states: ['stopped'], limit: stoppedRunsMax })).map(view),
    last: (await ledger.runs.list({ limit: lastRunsMax })).map(view),
    openLetterCount: await ledger.deadLetters.countOpen(),
    groups: await ledger.deadLetters.groups(groupsMax),
  };
}

/** Reasons besides the pause, which is told apart. */
export function troublesOf({ pause, readiness }: Overview): readonly string[] {
  return readiness.reasons.filter((reason) => reason !== pause?.message);
}

function pauseJson({ code, scope = 'all', message, sinceMs }: Pause): object {
  return { code, scope, message, since: isoInstant(sinceMs) };
}

/** `{service, queue, paused, runs, deadLetters}`; runs are those of the page's "Last runs". */
export function overviewJson(parts: DashboardParts, overview: Overview): object {
  const { pause, readiness, last, openLetterCount, groups } = overview;
  return {
    version: parts.version,
    service: parts.serviceName,
    serviceOrigin: parts.serviceOrigin,
    queue: parts.queueDescription,
    importFolders: parts.importFolders,
    paused: pause === null ? null : pauseJson(pause),
    ready: readiness.ready,
    troubles: troublesOf(overview),
    runs: last.map(({ summary }) => summary),
    deadLetters: {
      open: openLetterCount,
      groups: groups.map(({ class: reasonClass, code, field, count, example }) => ({
        class: reasonClass,
        code,
        field,
        count,
        hint: example.hint,
        example: letterDocument(example),
      })),
    },
  };
}
