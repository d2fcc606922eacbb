/** What the file of a run's feed said last of its held fields: a read may show that the app has come to hold it (`take-held.ts`). */
import type { ContactRecord, HeldRecord } from '#src/ledger/contacts.ts';
import type { Chunk } from './chunk.ts';

/** By key; of most there is none. */
export type WaitingFields = ReadonlyMap<string, readonly HeldRecord[]>;

/** @param contacts those of one chunk. The ledger is asked only where fields of them are held for the feed. */
export async function waitingIn(
  { run, parts }: Pick<Chunk, 'run' | 'parts'>,
  contacts: readonly ContactRecord[],
): Promise<WaitingFields> {
  const { feed } = run;
  const isHeld = ({ saids }: ContactRecord): boolean =>
    saids.some((one) => one.feed === feed && one.said.held.length > 0);
  const keys = contacts.filter(isHeld).map(({ key }) => key);
  if (keys.length === 0) return new Map();
  // A contact has few fields.
  const held = await parts.ledger.contacts.held({ feed, keys, limit: Number.MAX_SAFE_INTEGER });
  return Map.groupBy(held, ({ key }) => key);
}
