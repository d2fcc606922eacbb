/**
 * The record of each key over the tables of any database (`docs/rules.md`, "One contact per key"): what is known of all keys of a
 * request is read with a few statements, the pure rules decide for each key, and what has changed is written, in one transaction.
 */

import {
  type ContactLedger,
  detailCharactersMax,
  type KeyHistoryEntry,
  type LeaseRequest,
  type LeaseResult,
} from '#src/ledger/contacts.ts';
import {
  type ContactChange,
  type ContactFacts,
  claimed,
  doubted,
  intended,
  released,
  unclaimed,
  withdrawn,
} from '#src/ledger/rules/contact.ts';
import {
  atHand,
  changed,
  contactRecord,
  journalRow,
  type KeyAtHand,
  leaseFacts,
  memoryOf,
  noWrites,
  withMovedSaid,
  writesOf,
} from '#src/ledger/rules/key-rows.ts';
import { decideLease, newestSequence } from '#src/ledger/rules/lease.ts';
import { countsItsRows } from '#src/ledger/runs.ts';
import { keysSeenWith } from '#src/ledger/seen-values.ts';
import type { KeyRows } from '#src/ledger/tables/keys.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { zeroLedLengths } from '#src/ledger/zero-led.ts';
import { confirmedSince } from './confirmed.ts';
import { decideHeld } from './decide-held.ts';
import { sendersAtWork } from './settle.ts';

export function contactsOver(store: Store): ContactLedger {
  return {
    get: async (keys) => {
      const rows = await store.reads.keys.read(keys, []);
      return new Map([...rows].map(([key, one]) => [key, contactRecord(atHand(key, one))]));
    },

    lease: (request) =>
      store.transact(async (tables) => {
        const { before, confirmed } = await rowsToLease(tables, request);
        const answers = new Map<string, LeaseResult>();
        const after: KeyAtHand[] = [];
        for (const { key, sequence } of request.keys) {
          const rows = atHand(key, before.get(key));
          const { change, ...decision } = decideLease(
            request,
            sequence,
            leaseFacts(rows, request.feed, confirmed.get(key) ?? 0),
          );
          if (change !== null) after.push(changed(rows, change));
          const isLeased = decision.kind === 'leased';
          answers.set(key, isLeased ? { kind: 'leased', contact: contactRecord(rows) } : decision);
        }
        await tables.keys.write(writesOf(before, after));
        return answers;
      }),

    superseded: async (request) => {
      const { before, confirmed } = await rowsToLease(store.reads, request);
      const isSuperseded = ({ key, sequence }: (typeof request.keys)[number]): boolean => {
        const facts = leaseFacts(atHand(key, before.get(key)), request.feed, confirmed.get(key) ?? 0);
        return newestSequence(facts, request.feed) > sequence;
      };
      return new Set(request.keys.filter(isSuperseded).map(({ key }) => key));
    },

    intend: (request) =>
      store.transact(async (tables) => {
        const state = (await tables.runs.place(request.runId))?.state;
        if (state !== undefined && !countsItsRows(state)) return [];
        const intents = await change(tables, request.contacts, (one, facts) => intended(request, one, facts));
        return intents.map(({ key }) => key);
      }, 'durable'),

    claimItems: (request) =>
      store.transact(async (tables) => {
        const { contacts, runId } = request;
        const linked = new Map(await tables.keys.linked(contacts.flatMap(({ linkTo }) => linkTo ?? [])));
        const refused: string[] = [];
        const rebound: KeyHistoryEntry[] = [];
        const run = await tables.runs.place(runId);
        const at = run === null ? null : { runSequence: run.sequence, atMs: request.atMs };
        const entered = await change(
          tables,
          contacts,
          (one, facts) => {
            const isLinkTaken = one.linkTo !== undefined && (linked.get(one.linkTo) ?? one.key) !== one.key;
            if (isLinkTaken) refused.push(one.key);
            const claim = claimed(request, one, facts === null ? null : { ...facts, isLinkTaken }, at);
            if (claim !== null && one.linkTo !== undefined) linked.set(one.linkTo, one.key);
            const contactId = claim?.contactId ?? facts?.contactId ?? null;
            if (contactId !== (facts?.contactId ?? null))
              rebound.push({ key: one.key, atMs: request.atMs, runId, kind: 'bound', contactId, detail: null });
            return claim;
          },
          (rows, { resolved }) => (resolved?.saids ?? []).reduce(withMovedSaid, rows),
          [...new Set(contacts.flatMap(({ resolved }) => (resolved?.saids ?? []).map(({ feed }) => feed)))],
        );
        if (rebound.length > 0) await tables.keys.write({ ...noWrites, history: rebound });
        if (run !== null) {
          await tables.runs.changeRows(
            run.sequence,
            entered.map(({ position }) => ({ position, sent: true })),
          );
          // Here and not with the answer, which may be lost.
          if (rebound.length > 0) await tables.runs.changeRun(run.sequence, {}, { adopted: rebound.length });
        }
        const found = entered.flatMap(({ key, resolved }) =>
          resolved?.journal == null ? [] : [{ key, entry: resolved.journal }],
        );
        const atWork = await sendersAtWork(
          tables,
          runId,
          found.map(({ entry }) => entry),
        );
        await tables.keys.addJournal(found.map(({ key, entry }) => journalRow(request, key, entry, atWork)));
        return refused;
      }, 'durable'),

    unclaimItems: async (owner, contacts) => {
      await store.transact((tables) => change(tables, contacts, (one, facts) => unclaimed(owner, one, facts)));
    },

    withdrawIntents: async (owner, contacts) => {
      await store.transact((tables) => change(tables, contacts, (one, facts) => withdrawn(owner, one, facts)));
    },

    noteDoubt: async (owner, doubt) => {
      await store.transact(async (tables) => {
        const { key, runId, atMs, why, burn } = doubt;
        const noted = await change(tables, [doubt], (_, facts) => doubted(owner, burn, facts));
        const event = {
          key,
          atMs,
          runId,
          kind: 'doubt',
          contactId: null,
          detail: why.slice(0, detailCharactersMax),
        } as const;
        if (noted.length > 0) await tables.keys.write({ ...noWrites, history: [event] });
      });
    },

    release: async (owner, keys) => {
      const held = await store.reads.keys.inFlight({ owner, keys });
      // Settling has ended most of them.
      if (held.length === 0) return;
      await store.transact((tables) =>
        change(
          tables,
          held.map(({ key }) => ({ key })),
          (_, facts) => (facts?.owner === owner ? released : null),
        ),
      );
    },

    held: (filter) => store.reads.keys.held(filter),
    heldCount: (filter) => store.reads.keys.heldCount(filter),
    decideHeld: (decision) => store.transact((tables) => decideHeld(tables, decision), 'durable'),

    alikeKeys: async (folded, limit) =>
      (await store.reads.keys.someContacts(limit, { folded })).map((contact) => ({
        key: contact.key,
        number: contact.number,
        seen: memoryOf(atHand(contact.key, { contact, flight: null, known: [] })).seen,
      })),
    keysSeenWith: (text) => keysSeenWith(store.reads.keys, text),
    zeroLedLengths: (prefix, limit) => zeroLedLengths(store.reads.keys, prefix, limit),

    journal: (filter) => store.reads.keys.journalPage(filter),
    history: (key) => store.reads.keys.history([key]),

    sampleBound: async (limit) =>
      (await store.reads.keys.someContacts(limit, 'bound')).map(({ key, contactId }) => ({
        key,
        contactId: contactId ?? '',
      })),
  };
}

/** What decides about the leases of keys: their rows, and the newest run that found each unchanged. */
async function rowsToLease(
  tables: Pick<Tables, 'keys' | 'runs'>,
  { feed, keys }: Pick<LeaseRequest, 'feed' | 'keys'>,
): Promise<{ readonly before: ReadonlyMap<string, KeyRows>; readonly confirmed: ReadonlyMap<string, number> }> {
  const before = await tables.keys.read(
    keys.map(({ key }) => key),
    [feed],
  );
  const asked = keys.map(({ key, sequence }) => ({ key, number: before.get(key)?.contact?.number ?? null, sequence }));
  return { before, confirmed: await confirmedSince(tables, feed, asked) };
}

/**
 * Changes each key as the rule says; of several entries of one key each sees what the one before has changed.
 * @param besides what else is changed with it. @param feeds whose knowledge that needs. @returns the entries that changed anything.
 */
async function change<Entry extends { readonly key: string }>(
  tables: Tables,
  entries: readonly Entry[],
  rule: (entry: Entry, facts: ContactFacts | null) => ContactChange | null,
  besides: (rows: KeyAtHand, entry: Entry) => KeyAtHand = (rows) => rows,
  feeds: readonly string[] = [],
): Promise<readonly Entry[]> {
  const before = await tables.keys.read(
    entries.map(({ key }) => key),
    feeds,
  );
  const after = new Map<string, KeyAtHand>();
  const changedEntries = entries.filter((entry) => {
    const rows = after.get(entry.key) ?? atHand(entry.key, before.get(entry.key));
    const changes = rule(entry, contactFacts(rows));
    if (changes === null) return false;
    after.set(entry.key, besides(changed(rows, changes), entry));
    return true;
  });
  await tables.keys.write(writesOf(before, after.values()));
  return changedEntries;
}

function contactFacts({ contact, flight }: KeyRows): ContactFacts | null {
  if (contact === null && flight === null) return null;
  const state = flight?.intentRun != null ? 'intent' : (contact?.state ?? 'lookup');
  const { owner = null, attempts = 0 } = flight ?? {};
  const { contactId = null, linkedTo = null } = contact ?? {};
  return { state, contactId, linkedTo, owner, attempts };
}
