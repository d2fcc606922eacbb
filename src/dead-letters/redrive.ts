/**
 * Redrive: dead letters are tried again, as a run of their own (`rules.md`, "Dead letters").
 *
 * A letter keeps its identity and its history. Its rows carry the sequence of the run that met them, so that a newer
 * file is never overwritten by an older row.
 */
import { createHash } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import type { DeadLetter, DeadLetterFilter } from '#src/ledger/dead-letter.ts';
import { noOptions } from '#src/ledger/run-options.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { newRunId } from '#src/runs/run-id.ts';
import type { SubmitParts } from '#src/runs/submit-run.ts';

/** At most so many letters are taken by one redrive. */
export const lettersPerRedriveMax = 100_000;

export interface RedriveChoice {
  readonly ids?: readonly string[];
  readonly code?: string;
  readonly runId?: string;
  /** Map the source cells anew with today's mapping, also where a mapped record is there. */
  readonly remap: boolean;
}

/**
 * Enters one run a feed for the open letters chosen. Safe beside a running import: letters that are being tried again are
 * not taken twice.
 * @throws PatchbayError `usage` `noDeadLetters` where no open letter fits.
 */
export async function redrive(parts: SubmitParts, choice: RedriveChoice): Promise<readonly RunRecord[]> {
  const { ledger } = parts;
  const filter: DeadLetterFilter = {
    ...(choice.ids === undefined ? {} : { ids: choice.ids }),
    ...(choice.code === undefined ? {} : { code: choice.code }),
    ...(choice.runId === undefined ? {} : { runId: choice.runId }),
    states: ['open'],
    limit: lettersPerRedriveMax,
  };
  const letters = await ledger.deadLetters.list(filter);
  if (letters.length === 0) {
    throw new PatchbayError('usage', 'noDeadLetters', 'no open dead letter fits this choice', {
      hint: 'See what is open with: patchbay dead ls',
    });
  }
  const runs: RunRecord[] = [];
  for (const [feed, ofFeed] of Map.groupBy(letters, (letter) => letter.feed)) {
    runs.push(await enter(parts, feed, ofFeed, choice));
  }
  return runs;
}

async function enter(
  parts: SubmitParts,
  feed: string,
  letters: readonly DeadLetter[],
  choice: RedriveChoice,
): Promise<RunRecord> {
  const { ledger, clock, log, folders, mapping } = parts;
  const id = newRunId(clock.nowMs());
  const ids = letters.map((letter) => letter.id);
  const run = await ledger.runs.create({
    id,
    feed,
    kind: 'redrive',
    fileName: letters.length === 1 ? `dead letter ${ids[0]}` : `${letters.length} dead letters`,
    claimedPath: '',
    importFolder: folders.importFolders[0] ?? '',
    sha256: createHash('sha256')
      .update(`${id} ${ids.join(' ')}`)
      .digest('hex'),
    bytes: 0,
    options: { ...noOptions, remap: choice.remap },
    mapping: choice.remap ? mapping : null,
    createdAtMs: clock.nowMs(),
  });
  const taken = await ledger.deadLetters.markRedriven(ids, id);
  log.info({ run: id, feed, letters: taken.length }, 'redrive entered');
  return run;
}
