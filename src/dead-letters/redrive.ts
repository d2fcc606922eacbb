/**
 * Redrive: dead letters are tried again, as a run of their own (`rules.md`, "Dead letters").
 *
 * A letter keeps its identity and its history. Its rows carry the sequence of the run that met them, so that a newer
 * file is never overwritten by an older row.
 */
import { createHash } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import type { LetterChoice } from '#src/ledger/dead-letter.ts';
import { noOptions } from '#src/ledger/run-options.ts';
import type { NewRun, RunRecord } from '#src/ledger/run-record.ts';
import { newRunId } from '#src/runs/run-id.ts';
import type { SubmitParts } from '#src/runs/submit-run.ts';

export interface RedriveChoice extends LetterChoice {
  /** Map the source cells anew with today's mapping, also where a mapped record is there. */
  readonly remap: boolean;
}

/** How the rows of a run are read, as its record has it. */
type Reading = Pick<RunRecord, 'mapping' | 'options' | 'sourceLabel'>;

/**
 * Enters one run a feed for the open letters chosen; where they were read with several mappings, one a mapping. Safe beside a
 * running import: letters that are being tried again are not taken twice.
 * @throws PatchbayError `usage` `noDeadLetters` where no open letter fits.
 */
export async function redrive(parts: SubmitParts, { remap, ...choice }: RedriveChoice): Promise<readonly RunRecord[]> {
  const { ledger } = parts;
  const open = await ledger.deadLetters.openByRun(choice);
  const runs: RunRecord[] = [];
  for (const [feed, ofFeed] of Map.groupBy(open, (one) => one.feed)) {
    const metBy = ofFeed.map(({ runId }) => runId);
    for (const alike of await byReading(parts, feed, metBy, remap)) {
      const run = await ledger.deadLetters.enterRedrive(newRedrive(parts, feed, alike.reading), {
        ...choice,
        metBy: alike.metBy,
      });
      // Another redrive took them meanwhile.
      if (run === null) continue;
      parts.log.info({ run: run.id, feed, from: run.fileName }, 'redrive entered');
      runs.push(run);
    }
  }
  if (runs.length > 0) return runs;
  throw new PatchbayError('usage', 'noDeadLetters', 'no open dead letter fits this choice', {
    hint: 'See what is open with: patchbay dead ls',
  });
}

interface ReadAlike {
  readonly reading: Reading;
  /** The runs that met the letters. */
  readonly metBy: readonly string[];
}

/** Verbatim means: mapped as the run that met the row did, where it has to be mapped at all. */
async function byReading(
  parts: SubmitParts,
  feed: string,
  metBy: readonly string[],
  remap: boolean,
): Promise<readonly ReadAlike[]> {
  if (remap) {
    const { mapping, ownSource } = await parts.feeds.get(feed);
    return [{ reading: { mapping, sourceLabel: ownSource, options: { ...noOptions, remap } }, metBy }];
  }
  const found: { readonly runId: string; readonly reading: Reading }[] = [];
  for (const runId of metBy) found.push({ runId, reading: await readingOfRun(parts, runId) });
  return [...Map.groupBy(found, ({ reading }) => JSON.stringify(reading)).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ reading: first.reading, metBy: [first, ...others].map(({ runId }) => runId) }],
  );
}

async function readingOfRun({ ledger }: SubmitParts, runId: string): Promise<Reading> {
  const met = await ledger.runs.get(runId);
  if (met === null) return { mapping: null, sourceLabel: null, options: noOptions };
  const { defaultCountry, onBlank } = met.options;
  return { mapping: met.mapping, sourceLabel: met.sourceLabel, options: { ...noOptions, defaultCountry, onBlank } };
}

function newRedrive(
  { clock, folders }: SubmitParts,
  feed: string,
  reading: Reading,
): Omit<NewRun, 'kind' | 'fileName'> {
  const createdAtMs = clock.nowMs();
  const id = newRunId(createdAtMs);
  return {
    id,
    feed,
    claimedPath: '',
    importFolder: folders.importFolders[0] ?? '',
    // No content is like it.
    sha256: createHash('sha256').update(id).digest('hex'),
    bytes: 0,
    ...reading,
    createdAtMs,
  };
}
