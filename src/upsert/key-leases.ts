/** Leases for keys at work, by compare-and-set in the ledger (`ledger/lease-rule.ts`). */
import { inStep } from '#src/steps.ts';
import type { Chunk } from './chunk.ts';
import type { KeyEvent } from './key-state.ts';
import type { KeyWork } from './key-work.ts';
import { horizonMs } from './parts.ts';

/** A held key is asked for again at most so late, so that a lease given back early is not waited out. */
const heldWaitMaxMs = 2_000;
/** How often a read that grew too old in the line is refreshed before the record is put off. */
const refreshesMax = 3;

/** Answers each key with its event, and fills in what the ledger knows of those that were leased. */
export async function takeLeases(chunk: Chunk, keys: readonly KeyWork[]): Promise<ReadonlyMap<KeyWork, KeyEvent>> {
  const { ledger, clock, limits, identity } = chunk.parts;
  const nowMonotonicMs = clock.monotonicMs();
  const leases = await inStep('lease', () =>
    ledger.contacts.lease({
      keys: keys.map(({ record }) => ({ key: record.key, sequence: record.sequence })),
      owner: chunk.owner,
      leaseMs: limits.leaseMs,
      nowMonotonicMs,
      bootId: clock.bootId,
      horizonMs: horizonMs(limits),
      isOwnerDead: identity.isDead,
    }),
  );
  const said = await ledger.staging.saidOf(
    chunk.run.feed,
    keys.map((key) => key.record.key),
  );
  return new Map(
    keys.map((key): [KeyWork, KeyEvent] => {
      const lease = leases.get(key.record.key);
      switch (lease?.kind) {
        case 'leased':
          key.contact = lease.contact;
          key.base = {
            said: said.get(key.record.key)?.said ?? null,
            seen: lease.contact.seen,
            owned: lease.contact.owned,
          };
          key.leaseUntilMs = nowMonotonicMs + limits.leaseMs;
          return [key, { kind: 'leased', facts: factsOf(key, limits.attemptsMax) }];
        case 'superseded':
          return [key, { kind: 'superseded' }];
        case 'horizon':
          return [key, { kind: 'horizon', waitMs: lease.waitMs }];
        default:
          return [key, { kind: 'held', waitMs: Math.min(lease?.waitMs ?? heldWaitMaxMs, heldWaitMaxMs) }];
      }
    }),
  );
}

function factsOf({ contact, record }: KeyWork, attemptsMax: number): Extract<KeyEvent, { kind: 'leased' }>['facts'] {
  return {
    bound: contact.contactId !== null,
    createsLeft: attemptsMax - contact.attempts,
    triesLeft: attemptsMax - record.attempts,
    refreshesLeft: refreshesMax,
    maySearchAgain: record.attempts === 0,
  };
}
