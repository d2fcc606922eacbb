/**
 * Rules on a person's decision about held fields: which of them it still applies to, how base moves, and what is written
 * (`docs/rules.md`, "Three pictures, one plan"). Pure.
 */
import { createHash } from 'node:crypto';
import type { Said } from '#src/contacts/base.ts';
import { fingerprint } from '#src/contacts/desired.ts';
import { agreedWithout, contactOfTaken, isAsShown, takeApp, takeFile } from '#src/contacts/take-held.ts';
import type { ContactRecord, HeldDecision, HeldRecord } from '#src/ledger/contacts.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { ContactChange } from './contact.ts';
import { isAtWork, type LeaseFacts, newestSequence } from './lease.ts';

/** A key with held fields, and who is at work on it. */
export interface HeldContact {
  readonly contact: ContactRecord;
  readonly lease: LeaseFacts;
}

export type HeldFate = 'taken' | 'moved' | 'busy';

/** @param now the field as it is held now; null where it is held no more. */
export function fateOfHeld(
  decision: HeldDecision,
  held: HeldContact | null,
  shown: HeldRecord,
  now: HeldRecord | null,
): HeldFate {
  // The file's value is written to the contact that it was held for; it never creates one.
  const isWritable = decision.write === null || held?.contact.state === 'bound';
  if (held === null || !isWritable || !isAsShown(now, shown)) return 'moved';
  return isAtWork(decision, held.lease) ? 'busy' : 'taken';
}

/** What a decision changes for one key. */
export interface HeldMove {
  readonly key: string;
  readonly said: Said;
  /** Whether the feed's next row of the key must be planned, whatever it says. */
  readonly looksAgain: boolean;
  readonly contact: ContactChange;
  /** What the run is to write; null where the app's values stay. */
  readonly record: NewStagedRecord | null;
}

/** @param run the run that writes the file's values; null where the app's values stay. */
export function heldMoves(
  feed: string,
  taken: readonly HeldRecord[],
  contacts: ReadonlyMap<string, HeldContact>,
  run: RunRecord | null,
): readonly HeldMove[] {
  return [...Map.groupBy(taken, ({ key }) => key)].flatMap(([key, fields]): HeldMove[] => {
    const held = contacts.get(key);
    const said = held?.contact.saids.find((one) => one.feed === feed)?.said;
    if (held === undefined || said === undefined) return [];
    if (run === null) {
      const agreed = agreedWithout(held.contact.agreed, fields);
      return [{ key, said: takeApp(said, fields), looksAgain: false, contact: { agreed }, record: null }];
    }
    const { said: after, ...contact } = takeFile({ ...held.contact, said }, { feed, sequence: run.sequence }, fields);
    const record = recordOf(run, key, fields, newestSequence(held.lease, feed));
    return [{ key, said: after, looksAgain: true, contact, record }];
  });
}

/** What staging would find out about a run of held fields: it is known, and leaves nothing for a guard to judge. */
export const heldShape: FileShape = { format: 'ndjson', columns: null, delimiter: null };

function recordOf(run: RunRecord, key: string, fields: readonly HeldRecord[], sequence: number): NewStagedRecord {
  const taken = fields.map(({ field, runId, line: saidIn }) => ({ field, runId, line: saidIn }));
  const desired = { ...contactOfTaken(key, fields), taken };
  const line = fields[0]?.line ?? 0;
  const object = Object.fromEntries([['externalId', key], ...fields.map(({ field, ours }) => [field, ours])]);
  return {
    line,
    sequence,
    key,
    // No row of a file has this hash: the next one of the key is looked at.
    rowHash: createHash('sha256').update(`held ${run.id} ${key}`).digest().subarray(0, 16).toString('base64url'),
    fingerprint: fingerprint(desired),
    mappingVersion: 'held',
    desired,
    row: { kind: 'object', line, record: line, object },
  };
}
