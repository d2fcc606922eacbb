/** Leases for keys at work, by compare-and-set in the ledger (`ledger/lease-rule.ts`). */
import type { Base } from '#src/contacts/base.ts';
import type { ContactRecord } from '#src/ledger/contact-record.ts';
import { mainFeed } from '#src/ledger/main-feed.ts';
import { inStep } from '#src/steps.ts';
import type { Chunk } from './chunk.ts';
import type { KeyEvent } from './key-state.ts';
import type { KeyWork } from './key-work.ts';
import { horizonMs, type UpsertLimits } from './parts.ts';

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
      feed: chunk.run.feed,
      keys: keys.map(({ record }) => ({ key: record.key, sequence: record.sequence })),
      owner: chunk.owner,
      leaseMs: limits.leaseMs,
      nowMonotonicMs,
      bootId: clock.bootId,
      horizonMs: horizonMs(limits),
      isOwnerDead: identity.isDead,
    }),
  );
  return new Map(
    keys.map((key): [KeyWork, KeyEvent] => {
      const lease = leases.get(key.record.key);
      switch (lease?.kind) {
        case 'leased':
          key.contact = lease.contact;
          key.base = baseOf(chunk, lease.contact);
          key.leaseUntilMs = nowMonotonicMs + limits.leaseMs;
          return [key, { kind: 'leased', facts: factsOf(key, limits, nowMonotonicMs) }];
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

function baseOf({ run, parts }: Chunk, { saids, agreed, stamps, seen, owned }: ContactRecord): Base {
  // `main` gives its items up once a named feed names them.
  const owns = (feed: string) => (feed === mainFeed ? run.feed === mainFeed : parts.limits.ownsItems(feed));
  return {
    said: saids.find(({ feed }) => feed === run.feed)?.said ?? null,
    others: saids.filter(({ feed }) => feed !== run.feed).map(({ feed, said }) => ({ feed, said, owns: owns(feed) })),
    agreed,
    stamps,
    seen,
    owned,
  };
}

type Facts = Extract<KeyEvent, { kind: 'leased' }>['facts'];

function factsOf({ contact, record }: KeyWork, { attemptsMax, visibilityLagMs }: UpsertLimits, nowMs: number): Facts {
  const { writtenAtMs } = contact;
  return {
    bound: contact.contactId !== null,
    mayLag: writtenAtMs !== null && nowMs - writtenAtMs < visibilityLagMs,
    createsLeft: attemptsMax - contact.attempts,
    triesLeft: attemptsMax - record.attempts,
    refreshesLeft: refreshesMax,
    maySearchAgain: record.attempts === 0,
  };
}
