/**
 * What a file tells beyond its rows, once they were read: the people whom it lacks, and, where a person asked for it, what people
 * changed in the contacts of those whom it has.
 */
import type { MissingRule } from '#src/contacts/missing.ts';
import type { Policies } from '#src/contacts/policies.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import type { KeysOfFile, RunEvent, StagingLedger } from '#src/ledger/staging.ts';
import type { StageItem } from './compare.ts';
import { addTally, noTally, type StagedTally } from './guards.ts';
import type { StagedRows } from './late-rows.ts';
import { type MissingParts, stageMissing } from './missing-people.ts';
import type { Selection } from './selection.ts';
import { type DriftedItem, repairNotes, type VerifyParts, verifyContacts } from './verify-contacts.ts';

export interface BeyondRows {
  readonly told: Pick<FileShape, 'missing' | 'drift' | 'forgotten'>;
  /** For the guards: what is to be written of it. */
  readonly tally: StagedTally;
  readonly notes: readonly string[];
}

interface Given {
  readonly keys: KeysOfFile;
  readonly missingRule: MissingRule;
  readonly policies: Policies;
  readonly selection: Selection;
}

/** How rows that no file has are staged, and those of the file that were taken for unchanged. */
export interface StageBeyond {
  stageItems(items: readonly StageItem[]): Promise<StagedRows>;
  /** In place of the unchanged rows of their keys. */
  restage(items: readonly DriftedItem[]): Promise<StagedRows>;
  /** Rows whose contacts are gone, by the numbers of their keys, as if they had changed: a whole row tells what to make. */
  makeAgain(numbers: readonly number[]): Promise<StagedRows>;
  write(events: readonly RunEvent[]): Promise<void>;
}

/** Which of the wanted keys are among those that the feed knows and whose bits are set. */
export async function keysAmong(
  { saidOf }: Pick<StagingLedger, 'saidOf'>,
  feed: string,
  bits: Uint8Array,
  wanted: readonly string[],
): Promise<ReadonlySet<string>> {
  if (wanted.length === 0) return new Set();
  const said = [...(await saidOf(feed, wanted)).values()];
  return new Set(said.filter(({ number }) => hasBit(bits, number)).map(({ key }) => key));
}

export async function stageBeyondRows(
  parts: MissingParts & VerifyParts,
  run: RunRecord,
  { keys, missingRule, policies, selection }: Given,
  fold: StageBeyond,
  signal: AbortSignal,
): Promise<BeyondRows> {
  const { missing = null } = keys;
  let told: BeyondRows['told'] = selection.told();
  let tally = noTally;
  const known = await keysAmong(parts.ledger.runs, run.feed, keys.met, selection.keysNotRead());
  const notes: string[] = [...selection.notes(known)];
  if (missing !== null) {
    const act = selection.isAll ? fold.stageItems : null;
    const found = await stageMissing(parts, run, { missing, rule: missingRule }, act, fold.write);
    told = { ...told, missing: found.counts };
    tally = found.tally;
  }
  const { verify, repair } = run.options;
  if (verify || repair) {
    const found = await verifyContacts(
      parts,
      run,
      { keys, policies },
      repair ? fold.restage : null,
      fold.write,
      signal,
    );
    told = { ...told, drift: found.counts };
    tally = addTally(tally, { ...noTally, updates: found.repairs });
    const made = await fold.makeAgain(found.again);
    tally = addTally(tally, made.tally);
    notes.push(...found.notes, ...(repair ? repairNotes(run, found, made.stagedKeys.length) : []));
  }
  return { told, tally, notes };
}
