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

/** How the rows of a run are read, as its record has it. */
type Reading = Pick<RunRecord, 'mapping' | 'options' | 'sourceLabel'>;

/**
 * Enters one run a feed for the open letters chosen; where they were read with several mappings, one a mapping. Safe beside a running import: letters that are being tried again are
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
    for (const { reading, alike } of await byReading(parts, feed, ofFeed, choice)) {
      runs.push(await enter(parts, feed, alike, reading));
    }
  }
  return runs;
}

/** Verbatim means: mapped as the run that met the row did, where it has to be mapped at all. */
async function byReading(
  parts: SubmitParts,
  feed: string,
  letters: readonly DeadLetter[],
  { remap }: RedriveChoice,
): Promise<readonly { readonly reading: Reading; readonly alike: readonly DeadLetter[] }[]> {
  if (remap) {
    const { mapping, ownSource } = await parts.feeds.get(feed);
    const reading = { mapping, sourceLabel: ownSource, options: { ...noOptions, remap } };
    return [{ reading, alike: letters }];
  }
  const readings = new Map<string, Reading>();
  for (const { runId } of letters) {
    if (readings.has(runId)) continue;
    const met = await parts.ledger.runs.get(runId);
    const { defaultCountry, onBlank } = met?.options ?? noOptions;
    const options = { ...noOptions, defaultCountry, onBlank };
    readings.set(runId, { mapping: met?.mapping ?? null, sourceLabel: met?.sourceLabel ?? null, options });
  }
  const plain: Reading = { mapping: null, sourceLabel: null, options: noOptions };
  return [...Map.groupBy(letters, ({ runId }) => JSON.stringify(readings.get(runId))).values()].map((alike) => ({
    reading: readings.get(alike[0]?.runId ?? '') ?? plain,
    alike,
  }));
}

async function enter(
  parts: SubmitParts,
  feed: string,
  letters: readonly DeadLetter[],
  reading: Reading,
): Promise<RunRecord> {
  const { ledger, clock, log, folders } = parts;
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
    ...reading,
    createdAtMs: clock.nowMs(),
  });
  const taken = await ledger.deadLetters.markRedriven(ids, id);
  log.info({ run: id, feed, letters: taken.length }, 'redrive entered');
  return run;
}
