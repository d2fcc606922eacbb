/**
 * `held take file|app`: a person decides about fields that wait (`src/contacts/take-held.ts`).
 *
 * The decision is one transaction for each feed. Where the file's values are to be written it enters a run with them, so
 * that a crash leaves either nothing decided or work for the next engine. A run that is cancelled or ends with dead rows
 * takes nothing back: the next import of the row writes what is still to be written.
 */
import { createHash } from 'node:crypto';
import type { HeldSide } from '#src/contacts/take-held.ts';
import { PatchbayError } from '#src/errors.ts';
import type { HeldFilter, HeldRecord } from '#src/ledger/contacts.ts';
import type { ProcessIdentity } from '#src/ledger/process-identity.ts';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { importFolderOf, type SubmitParts } from './enter-run.ts';
import { newRunId } from './run-files.ts';

/** At most so many fields are decided at once: one transaction must not keep other processes from the ledger for long. */
export const heldPerDecisionMax = 20_000;
const fieldsPerPage = 1_000;
/** A key is at work for as long as one request takes. */
const busyWaitMs = 60_000;
const busyLookMs = 100;

export type HeldChoice = Pick<HeldFilter, 'feed' | 'keys' | 'field'>;

export interface HeldTaken {
  readonly taken: readonly HeldRecord[];
  /** Changed since they were shown: nothing was decided about them. */
  readonly moved: readonly HeldRecord[];
  /** One a feed, for the file's values; more where a key was at work at first. */
  readonly runs: readonly RunRecord[];
}

/** All that wait and fit, by feed, key and field; `limit` at most. */
export async function listHeld(
  { ledger }: Pick<SubmitParts, 'ledger'>,
  choice: HeldChoice,
  limit = heldPerDecisionMax,
): Promise<readonly HeldRecord[]> {
  const all: HeldRecord[] = [];
  // Ends with the first short page, or at the limit.
  for (;;) {
    const after = all.at(-1);
    const size = Math.min(fieldsPerPage, limit - all.length);
    const page = await ledger.contacts.held({ ...choice, limit: size, ...(after === undefined ? {} : { after }) });
    all.push(...page);
    if (page.length < size || all.length >= limit) return all;
  }
}

/**
 * Decides about the fields as they were shown.
 * @throws PatchbayError `transient` `keysAtWork` where keys stay at work for a minute; what was decided until then stands.
 */
export async function takeHeld(
  parts: SubmitParts & { readonly identity: ProcessIdentity; readonly rowsPerBatch: number },
  side: HeldSide,
  shown: readonly HeldRecord[],
): Promise<HeldTaken> {
  const { ledger, clock, identity, rowsPerBatch, log } = parts;
  let done: HeldTaken = { taken: [], moved: [], runs: [] };
  const deadlineMs = clock.monotonicMs() + busyWaitMs;
  for (const [feed, ofFeed] of Map.groupBy(shown, (one) => one.feed)) {
    // Ends when no key is at work any more, or with the deadline.
    for (let left: readonly HeldRecord[] = ofFeed; left.length > 0; ) {
      const decided = await ledger.contacts.decideHeld({
        feed,
        shown: left,
        write: side === 'app' ? null : { run: runFor(parts, feed), rowsPerBatch },
        nowMonotonicMs: clock.monotonicMs(),
        bootId: clock.bootId,
        isOwnerDead: identity.isDead,
        atMs: clock.nowMs(),
      });
      const { taken, moved, run } = decided;
      done = {
        taken: [...done.taken, ...taken],
        moved: [...done.moved, ...moved],
        runs: run === null ? done.runs : [...done.runs, run],
      };
      log.info({ feed, side, taken: taken.length, run: run?.id ?? null }, 'held fields decided');
      left = decided.busy;
      if (left.length === 0) break;
      if (clock.monotonicMs() > deadlineMs) throw keysAtWork(left.length);
      await clock.sleep(busyLookMs);
    }
  }
  return done;
}

function runFor(parts: SubmitParts, feed: string): NewRun {
  const createdAtMs = parts.clock.nowMs();
  const id = newRunId(createdAtMs);
  return {
    id,
    feed,
    kind: 'held',
    fileName: 'held fields',
    claimedPath: '',
    importFolder: importFolderOf(parts),
    sha256: createHash('sha256').update(`held ${id}`).digest('hex'),
    bytes: 0,
    options: noOptions,
    mapping: null,
    createdAtMs,
  };
}

function keysAtWork(count: number): PatchbayError {
  const fields = count === 1 ? '1 held field belongs to a contact' : `${count} held fields belong to contacts`;
  return new PatchbayError('transient', 'keysAtWork', `${fields} that a run is writing right now`, {
    hint: 'Nothing was decided about them. Run the same command again when the run has ended.',
  });
}
