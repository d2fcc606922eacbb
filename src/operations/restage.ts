/** `runs restage`: a stopped run is read anew with today's mapping, and its guards are asked again (`docs/rules.md`, "Guards"). */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { findMapping } from '#src/feeds/feeds.ts';
import { plansKeptMax } from '#src/ledger/plans.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { mappingVersion } from '#src/mapping/compile-mapping.ts';
import { type FileReading, readingOfFile } from '#src/runs/choose-feed.ts';
import { removeStoppedNote } from '#src/runs/stop-run.ts';
import { actOf } from './acts.ts';
import { stateWords } from './runs.ts';
import { whyUnreadable } from './stopped-file.ts';

/**
 * Puts the run back into the line of its feed, to be read as its file would be read if it came now: by the mapping that was named for it, as
 * it is now, or by its feed's. Its order among the runs stays. The engine does the rest.
 * @param shown the run as the person saw it.
 * @throws PatchbayError `usage` `notStopped`, `restageWritten`, `restageKind`, `restageElsewhere`, `restageUnreadable`, and what reading
 *   the mapping throws; `guard` `notRestaged` where it was decided about meanwhile.
 */
export async function restageRun(
  home: Pick<Home, 'ledger' | 'clock' | 'log' | 'actor' | 'feeds' | 'host'>,
  shown: RunRecord,
  why: string | null,
): Promise<RunRecord> {
  const { ledger, clock, log } = home;
  await requireRestageable(shown, home.host?.id ?? null);
  const { mapping, sourceLabel = null, options } = await readingNow(home, shown);
  const isMappingNew = mappingVersion(mapping) !== mappingVersion(shown.mapping);
  // A plan of what was staged says nothing of what will be.
  for (const { id } of await ledger.plans.list({ runId: shown.id, limit: plansKeptMax })) await ledger.plans.remove(id);
  const act = await actOf(home, 'restage', why, { stoppedBy: shown.reason?.code ?? null, isMappingNew });
  const reading = { mapping, sourceLabel, options };
  const change = { atMs: clock.nowMs(), reason: null, act, reading };
  if (!(await ledger.runs.move(shown.id, ['stopped'], 'queued', change))) {
    throw new PatchbayError('guard', 'notRestaged', `run ${shown.id} was not read anew: it is not stopped any more`, {
      hint: `Look at it: patchbay runs show ${shown.id}`,
    });
  }
  await removeStoppedNote(shown);
  log.info({ run: shown.id, feed: shown.feed, code: shown.reason?.code }, 'run read anew');
  return (await ledger.runs.get(shown.id)) ?? shown;
}

/** @param here the host that this data folder is, or null. @throws PatchbayError `usage`, as `restageRun` says of the run. */
export async function requireRestageable(run: RunRecord, here: string | null): Promise<void> {
  const { id, state, kind, host, counts, requests } = run;
  if (state !== 'stopped') {
    throw new PatchbayError('usage', 'notStopped', `run ${id} cannot be read anew: it is ${stateWords[state]}`, {
      hint: 'List the stopped runs with: patchbay runs ls --state stopped',
    });
  }
  if (kind !== 'file' && kind !== 'fixFile') {
    throw new PatchbayError('usage', 'restageKind', `run ${id} cannot be read anew: it is not of a file`, {
      hint: `Approve it: patchbay runs approve ${id}. Or end it: patchbay runs cancel ${id}`,
    });
  }
  if (requests.post + requests.patch + requests.delete > 0 || counts.created + counts.updated > 0) {
    throw new PatchbayError('usage', 'restageWritten', `run ${id} cannot be read anew: it has written already`, {
      hint: `Let it go on: patchbay runs approve ${id}. Or end it and import the file again: patchbay runs cancel ${id}`,
    });
  }
  if (host !== here) {
    throw new PatchbayError(
      'usage',
      'restageElsewhere',
      `run ${id} cannot be read anew here: its file is on another host`,
      {
        hint: 'Type the command on that host: patchbay hosts ls',
      },
    );
  }
  // What is staged of a file that is gone is the last copy of it.
  const cause = await whyUnreadable(run);
  if (cause !== null) {
    const message = `run ${id} cannot be read anew, and stays as it is: ${cause.message}`;
    const hint = `Approve it as it was read: patchbay runs approve ${id}. Or end it, and import the file from where it came again: patchbay runs cancel ${id}`;
    throw new PatchbayError('usage', 'restageUnreadable', message, { hint, cause });
  }
}

async function readingNow(
  { ledger, feeds }: Pick<Home, 'ledger' | 'feeds'>,
  { feed, claimedPath, fileName, options }: RunRecord,
): Promise<FileReading> {
  const { mappingNamed } = options;
  const named = mappingNamed === null ? {} : { mapping: await findMapping(mappingNamed), mappingNamed };
  const file = { path: claimedPath, name: fileName };
  // What a plan said of the file, its stop and each contact, was by the mapping and the limits of then.
  const unplanned = { ...options, planId: null };
  return readingOfFile({ ledger, feeds }, file, unplanned, { kind: 'feed', feed: await feeds.get(feed), ...named });
}
