/**
 * What changes of a key mean for its rows: what rests in `contacts`, what flies in `flights`, and what feeds know. Pure: the caller
 * reads the rows, and writes those that differ, in one transaction.
 *
 * A key flies as long as a piece of work holds it, a write of it may land, or its doubts are counted. Then the row of the flight goes,
 * and what it said of ownership becomes the contact's.
 */
import type { Ownership, Said } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { JournalEntry } from '#src/contacts/outcome.ts';
import type { ContactRecord, HeldRecord, MovedSaid, NewJournalRow, SettledSaid } from '#src/ledger/contacts.ts';
import { agreementsIn, type ContactMemory, emptyMemory, packMemory, unpackMemory } from '#src/ledger/packed-memory.ts';
import { jsonOrNull, parseJson } from '#src/ledger/records/columns.ts';
import type { ContactRow, FlightRow, KeyRows, KeyWrites, KnownRow } from '#src/ledger/tables/keys.ts';
import type { ContactChange } from './contact.ts';
import type { LeaseFacts } from './lease.ts';

/** The rows of a key, and its memory where that was unpacked or has changed. */
export interface KeyAtHand extends KeyRows {
  readonly key: string;
  readonly memory: ContactMemory | null;
}

export function atHand(key: string, rows: KeyRows | undefined): KeyAtHand {
  return { ...(rows ?? { contact: null, flight: null, known: [] }), key, memory: null };
}

export function memoryOf({ memory, contact }: KeyAtHand): ContactMemory {
  if (memory !== null) return memory;
  return contact?.document == null ? emptyMemory : unpackMemory(contact.document);
}

export function contactRecord(rows: KeyAtHand): ContactRecord {
  const { contact, flight, key } = rows;
  const memory = memoryOf(rows);
  return {
    key,
    state: flight?.intentRun != null ? 'intent' : (contact?.state ?? (flight === null ? 'none' : 'lookup')),
    contactId: contact?.contactId ?? null,
    seen: memory.seen,
    owned: parseJson<Ownership>(flight?.owned) ?? memory.owned,
    agreed: agreementsIn(memory),
    stamps: memory.stamps,
    saids: memory.saids,
    writtenAtMs: contact?.writtenAtMs ?? null,
    attempts: flight?.attempts ?? 0,
    intentRun: flight?.intentRun ?? null,
    claim: parseJson<Claim>(flight?.claim),
    linkedTo: contact?.linkedTo ?? null,
  };
}

/**
 * What a lease of a row of that feed is decided by.
 * @param confirmed the newest run of the feed that found the key unchanged, where that may count; 0: none.
 */
export function leaseFacts({ flight, known }: KeyAtHand, feed: string, confirmed: number): LeaseFacts {
  return {
    owner: flight?.owner ?? null,
    leaseUntilMs: flight?.leaseUntilMs ?? null,
    horizonAtMs: flight?.horizonAtMs ?? null,
    settledSequence: Math.max(known.find((one) => one.feed === feed)?.spoken ?? 0, confirmed),
    claim: parseJson<Claim>(flight?.claim),
  };
}

export function changed(rows: KeyAtHand, change: ContactChange): KeyAtHand {
  const flight = changedFlight(rows.flight ?? noFlight(rows.key), change);
  const flies = isFlying(flight);
  // What a write on its way will own is the contact's once the service has answered, or nothing is on its way any more.
  const rests = change.contactId !== undefined || !flies;
  const owned = rests ? (change.owned ?? parseJson<Ownership>(rows.flight?.owned)) : null;
  const rested = changedMemory(changedContact(rows, change), change, owned);
  return { ...rested, flight: flies ? { ...flight, owned: rests ? null : flight.owned } : null };
}

const noFlight = (key: string): FlightRow => ({
  ...{ key, owner: null, leaseUntilMs: null, horizonAtMs: null, horizonSpanMs: null },
  ...{ claim: null, intentRun: null, attempts: 0, owned: null },
});

function isFlying({ owner, horizonAtMs, claim, intentRun, attempts }: FlightRow): boolean {
  return owner !== null || horizonAtMs !== null || claim !== null || intentRun !== null || attempts > 0;
}

function changedFlight(
  flight: FlightRow,
  { lease, horizon, claim, intentRun, attempts, owned }: ContactChange,
): FlightRow {
  return {
    ...flight,
    ...(lease === undefined ? {} : { owner: lease?.owner ?? null, leaseUntilMs: lease?.untilMs ?? null }),
    ...(horizon === undefined ? {} : { horizonAtMs: horizon?.atMs ?? null, horizonSpanMs: horizon?.spanMs ?? null }),
    ...(claim === undefined ? {} : { claim: jsonOrNull(claim) }),
    ...(owned === undefined ? {} : { owned: jsonOrNull(owned) }),
    ...(intentRun === undefined ? {} : { intentRun }),
    ...(attempts === undefined ? {} : { attempts }),
  };
}

const newContact = (key: string): ContactRow => ({
  ...{ number: null, key, state: 'lookup', contactId: null, document: null },
  ...{ linkedTo: null, boundRun: null, boundAtMs: null, writtenAtMs: null },
});

function changedContact(rows: KeyAtHand, { state, contactId, linkedTo, bound, writtenAtMs }: ContactChange): KeyAtHand {
  const isNamed = [state, contactId, linkedTo, bound, writtenAtMs].some((part) => part !== undefined);
  if (!isNamed) return rows;
  const before = rows.contact ?? newContact(rows.key);
  const after: ContactRow = {
    ...before,
    // An intent flies; it says nothing of what rests.
    ...(state === undefined || state === 'intent' ? {} : { state: state === 'none' ? 'lookup' : state }),
    ...(contactId === undefined ? {} : { contactId }),
    ...(linkedTo === undefined ? {} : { linkedTo }),
    ...(bound === undefined ? {} : { boundRun: bound.runSequence, boundAtMs: bound.atMs }),
    ...(writtenAtMs === undefined ? {} : { writtenAtMs }),
  };
  return isSameRow(after, before) ? rows : { ...rows, contact: after };
}

function isSameRow(one: ContactRow, other: ContactRow): boolean {
  // Both have the same members.
  for (const name in one) if (one[name as keyof ContactRow] !== other[name as keyof ContactRow]) return false;
  return true;
}

/** @param owned null where it stays what it was. */
function changedMemory(rows: KeyAtHand, { seen, agreed, stamps }: ContactChange, owned: Ownership | null): KeyAtHand {
  const parts = {
    ...(seen === undefined ? {} : { seen }),
    ...(owned === null ? {} : { owned }),
    ...(agreed === undefined ? {} : { agreed }),
    ...(stamps === undefined ? {} : { stamps }),
  };
  if (Object.keys(parts).length === 0) return rows;
  const before = memoryOf(rows);
  if (seen === undefined && isSame({ ...before, ...parts }, before)) return rows;
  return { ...rows, memory: { ...before, ...parts } };
}

/** Both have their members in one order. */
const isSame = <Value>(one: Value, other: Value): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A row of the feed was settled. */
export function withSaid(rows: KeyAtHand, feed: string, sequence: number, settled: SettledSaid): KeyAtHand {
  const { said, rowHash, fingerprint } = settled;
  return put(rows, feed, said, { rowHash, fingerprint, sequence });
}

/** What another feed said has moved. */
export function withMovedSaid(rows: KeyAtHand, { feed, said, looksAgain, sequence }: MovedSaid): KeyAtHand {
  const known = rows.known.find((one) => one.feed === feed);
  return put(rows, feed, said, {
    rowHash: looksAgain ? null : (known?.rowHash ?? null),
    fingerprint: looksAgain ? null : (known?.fingerprint ?? null),
    sequence: sequence ?? known?.sequence ?? 0,
  });
}

function put(
  rows: KeyAtHand,
  feed: string,
  said: Said,
  settled: Pick<KnownRow, 'rowHash' | 'fingerprint' | 'sequence'>,
): KeyAtHand {
  const spoken = Math.max(rows.known.find((one) => one.feed === feed)?.spoken ?? 0, settled.sequence);
  const known = { feed, key: rows.key, tried: null, heldCount: said.held.length, ...settled, spoken };
  return { ...withKnown(saying(rows, feed, said), known), contact: rows.contact ?? newContact(rows.key) };
}

/** A person has decided. `looksAgain`: the row is planned when it comes next, whatever it says. */
export function withDecidedSaid(rows: KeyAtHand, feed: string, said: Said, looksAgain: boolean): KeyAtHand {
  const known = rows.known.find((one) => one.feed === feed);
  const next = saying(rows, feed, said);
  if (known === undefined) return next;
  const hashes = looksAgain ? { rowHash: null, fingerprint: null } : {};
  return withKnown(next, { ...known, ...hashes, heldCount: said.held.length });
}

/** Nothing where the feed knows nothing of the key. */
export function changedKnown(
  rows: KeyAtHand,
  feed: string,
  change: Partial<Pick<KnownRow, 'rowHash' | 'fingerprint' | 'tried'>>,
): KeyAtHand {
  const known = rows.known.find((one) => one.feed === feed);
  return known === undefined ? rows : withKnown(rows, { ...known, ...change });
}

function withKnown(rows: KeyAtHand, known: KnownRow): KeyAtHand {
  return { ...rows, known: [...rows.known.filter(({ feed }) => feed !== known.feed), known] };
}

function saying(rows: KeyAtHand, feed: string, said: Said): KeyAtHand {
  const memory = memoryOf(rows);
  const saids = [...memory.saids.filter((one) => one.feed !== feed), { feed, said }];
  return { ...rows, memory: { ...memory, saids } };
}

export const noWrites: KeyWrites = {
  ...{ contacts: [], flights: [], landed: [], known: [], heldStill: [], held: [], history: [] },
};

/**
 * What is to be written so that the rows of these keys become as they are at hand; `before`: as they were read. Fields that a feed holds no
 * more leave the list of those that wait, whatever ended the hold.
 */
export function writesOf(before: ReadonlyMap<string, KeyRows>, after: Iterable<KeyAtHand>): KeyWrites {
  const contacts: ContactRow[] = [];
  const flights: FlightRow[] = [];
  const landed: string[] = [];
  const known: KnownRow[] = [];
  const heldStill: KeyWrites['heldStill'][number][] = [];
  for (const rows of after) {
    const { key, contact, flight, memory } = rows;
    const was = before.get(key);
    if (memory !== null || (contact !== null && contact !== was?.contact)) {
      const row = contact ?? newContact(key);
      contacts.push(memory === null ? row : { ...row, document: packMemory(memory) });
    }
    if (flight === null && was?.flight != null) landed.push(key);
    if (flight !== null && flight !== was?.flight) flights.push(flight);
    const moved = rows.known.filter((one) => !was?.known.includes(one));
    known.push(...moved);
    for (const { feed } of moved) {
      const wasHeld = was?.known.some((one) => one.feed === feed && one.heldCount > 0) ?? false;
      const fields = memory?.saids.find((one) => one.feed === feed)?.said.held ?? [];
      if (memory !== null && (wasHeld || fields.length > 0)) heldStill.push({ feed, key, fields });
    }
  }
  return { ...noWrites, contacts, flights, landed, known, heldStill };
}

/** Held fields that a row has named. @param runId of the run whose file said the row. */
export function heldOf(
  { feed, runId, atMs }: { readonly feed: string; readonly runId: string; readonly atMs: number },
  { key, line }: { readonly key: string; readonly line: number },
  { held }: SettledSaid,
): KeyWrites['held'] {
  return held.map((one): HeldRecord => ({ runId, line, ...one, feed, key, sinceMs: atMs }));
}

/**
 * A write is entered as that of the run that counts it. One without an answer that another run sent is that run's still while it is at work;
 * after that its row is counted without it, and the run that finds the write counts it. A contact that was made, or given its key, is
 * counted by whichever run finds it.
 * @param atWork of the runs that sent such writes, those whose rows are still to be counted.
 */
export function journalRow(
  { runId, atMs }: { readonly runId: string; readonly atMs: number },
  key: string,
  { runId: sentBy, ...entry }: JournalEntry,
  atWork: ReadonlySet<string>,
): NewJournalRow {
  const isTheirs = sentBy !== null && entry.kind === 'patch' && atWork.has(sentBy);
  return { ...entry, key, runId: isTheirs ? sentBy : runId, atMs };
}
