/**
 * The chronicle of a story: what every key's rows, readers, writers and people did, in the order it happened. It is taken
 * down outside the product, at the wire; the rules are then played over it (`replay.ts`). What the wire cannot show is a
 * claim whose write was never sent: each read is noted with the claim that the ledger has.
 *
 * Two things are judged at once, since they need no rule about values: a PATCH that means something else to a service
 * that merges than to one that replaces, and one that was planned from a picture that was not true.
 */
import type { Clock } from '#src/clock.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { CallOptions, Workspace, WriteResult } from '#src/workspace/port.ts';
import { type Feed, keys } from './commands.ts';
import type { Row } from './model.ts';
import { afterUpdate, fieldsOf, type Picture, pictureOf, pictureOfCreate, there, valueIn } from './picture.ts';

/** `shown`: what the worker had read last of that key; null for no contact. */
export type KeyEvent =
  | { readonly kind: 'row'; readonly row: Row }
  /** `claim`: what the ledger had when the worker read; absent if there was none. */
  | { readonly kind: 'read'; readonly shown: Picture | null; readonly claim?: EnteredClaim }
  | {
      readonly kind: 'write';
      readonly shown: Picture | null;
      readonly sent: Picture;
      readonly end: WriteResult['kind'];
    }
  | { readonly kind: 'edit'; readonly from: Picture; readonly to: Picture }
  /** People deleted the contact, and what takes its place starts anew. */
  | { readonly kind: 'gone' }
  | ({ readonly kind: 'undone' } & Undone<Picture>)
  /** From now on the feed is away, or there again. Nothing is at work. */
  | { readonly kind: 'feed'; readonly feed: Feed; readonly isAway: boolean }
  | { readonly kind: 'rest'; readonly runId: string };

/** A claim as entered, whether its write was sent or not. */
export interface EnteredClaim {
  readonly runId: string | null;
  /** Of the fields that it changes, empty values included. Null for no contact. */
  readonly from: Picture | null;
  readonly to: Picture;
}

/** What an undo made of a contact. No row stands behind it. Null for no contact. */
export interface Undone<Seen> {
  readonly from: Seen | null;
  readonly to: Seen | null;
  /** As it was before the run that is undone, and as that run left it. */
  readonly before: Seen | null;
  readonly left: Seen | null;
  /** Of the undo: its feed, and its place among the rows. */
  readonly feed: Feed;
  readonly sequence: number;
}

export interface Chronicle {
  /** In order. */
  of(key: string): readonly KeyEvent[];
  note(key: string, event: KeyEvent): void;
  /** The runs that came to rest, for every key. */
  rested(runId: string): void;
  /** A feed that goes or comes, for every key. */
  moved(feed: Feed, isAway: boolean): void;
  /** The workspace of one process, taken down. */
  watched(workspace: Workspace): Workspace;
  /** A person's edit: no write of that key is on its way meanwhile. */
  edited(key: string, edit: () => Promise<void>): Promise<void>;
  /** An undo is at work: what it reads and writes belongs to no row, and is told as a whole afterwards (`undone`). */
  atUndo(isAtWork: boolean): void;
  /** Lists show contacts as they were so long ago. */
  staleLists(ms: number): void;
  readonly breaches: readonly string[];
}

export interface ChronicleParts {
  readonly clock: Clock;
  readonly readAgeMaxMs: number;
  /** The contact of a key as the service holds it at this moment, whatever faults there are. Null for none, or for two. */
  readonly truth: (key: string) => Promise<Contact | null>;
  /** What the ledger has at this moment. */
  readonly claimOf: (key: string) => Promise<Claim | null>;
}

function entered({ kind, runId, fields, items = [] }: Claim): EnteredClaim {
  const changes = [
    ...fields.map(({ field, from, to }) => ({ field, from: String(from ?? ''), to: String(to ?? '') })),
    ...items.map(({ field, from, to }) => ({ field, from: from === null ? '' : there, to: to === null ? '' : there })),
  ].filter(({ from, to }) => from !== to);
  const from = new Map(changes.map((one) => [one.field, one.from]));
  return {
    runId: runId ?? null,
    from: kind === 'create' ? null : from,
    to: new Map(changes.map((one) => [one.field, one.to])),
  };
}

interface Read {
  readonly contact: Contact | null;
  readonly atMs: number;
  /** How old what it showed may be. */
  readonly lagMs: number;
}

interface Version {
  readonly atMs: number;
  readonly contact: Contact | null;
  readonly by: 'people' | 'patchbay';
}

export function takeChronicle({ clock, readAgeMaxMs, truth, claimOf }: ChronicleParts): Chronicle {
  const events = new Map<string, KeyEvent[]>();
  const versions = new Map<string, Version[]>();
  const breaches: string[] = [];
  const turns = new Map<string, Promise<unknown>>();
  let staleMs = 0;
  let isAtUndo = false;

  const note = (key: string, event: KeyEvent): void => void events.set(key, [...(events.get(key) ?? []), event]);
  const noteOfRow: typeof note = (key, event) => (isAtUndo ? undefined : note(key, event));
  /** One after the other for each key. */
  const inTurn = <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
    turns.set(
      key,
      turn.catch(() => undefined),
    );
    return turn;
  };
  const remember = async (key: string, by: Version['by']): Promise<Contact | null> => {
    const contact = await truth(key);
    versions.set(key, [...(versions.get(key) ?? []), { atMs: clock.monotonicMs(), contact, by }]);
    return contact;
  };
  /** A contact of a list as it was a while ago, where it was there then. */
  const asOfThen = (contact: Contact): Contact => {
    const thenMs = clock.monotonicMs() - staleMs;
    const old = (versions.get(contact.externalId ?? '') ?? []).findLast((one) => one.atMs <= thenMs);
    return old?.contact?.id === contact.id ? old.contact : contact;
  };

  /** What a write meant to leave as it is must be so, but for what people did since shortly before it was read. */
  const judgePicture = (key: string, read: Read, before: Contact | null): void => {
    if (read.contact === null || before === null) return;
    const edited = (versions.get(key) ?? []).some((one) => one.by === 'people' && one.atMs >= read.atMs - read.lagMs);
    if (edited) return;
    const shown = pictureOf(read.contact);
    const now = pictureOf(before);
    for (const field of fieldsOf(shown, now)) {
      if (valueIn(shown, field) === valueIn(now, field)) continue;
      breaches.push(
        `${key}: a PATCH was planned from ${field} = "${valueIn(shown, field)}", which Patchbay had made "${valueIn(now, field)}"`,
      );
    }
  };

  /** When the last request of a call leaves: before that it may have waited long for its turn, and shows nothing older. */
  const timeOf = (options: CallOptions = {}): { readonly leftAtMs: () => number; readonly timed: CallOptions } => {
    let atMs = clock.monotonicMs();
    const beforeSend = async (): Promise<void> => {
      await options.beforeSend?.();
      atMs = clock.monotonicMs();
    };
    return { leftAtMs: () => atMs, timed: { ...options, beforeSend } };
  };

  const watched = (workspace: Workspace): Workspace => {
    const reads = new Map<string, Read>();
    const took = (key: string, read: Read, claim: Claim | null): void => {
      reads.set(key, read);
      const shown = read.contact === null ? null : pictureOf(read.contact);
      noteOfRow(key, { kind: 'read', shown, ...(claim === null ? {} : { claim: entered(claim) }) });
    };
    const keyOfId = (id: string): string | null => {
      for (const [key, known] of versions) if (known.some(({ contact }) => contact?.id === id)) return key;
      for (const [key, read] of reads) if (read.contact?.id === id) return key;
      return null;
    };
    /** `sent` is asked for when the request leaves. */
    const write = async (
      key: string,
      options: CallOptions,
      sent: (read: Read | null) => Picture,
      send: (options: CallOptions) => Promise<WriteResult>,
    ): Promise<WriteResult> =>
      inTurn(key, async () => {
        let hasLeft = false;
        const read = reads.get(key) ?? null;
        const before = (versions.get(key) ?? []).at(-1)?.contact ?? null;
        const beforeSend = async (): Promise<void> => {
          await options.beforeSend?.();
          hasLeft = true;
          const ageMs = read === null ? 0 : clock.monotonicMs() - read.atMs;
          if (read?.contact && ageMs > readAgeMaxMs) breaches.push(`${key}: a PATCH leaves ${ageMs} ms after its read`);
        };
        const result = await send({ ...options, beforeSend });
        if (!hasLeft) return result;
        if (read?.contact) judgePicture(key, read, before);
        const shown = read === null || read.contact === null ? null : pictureOf(read.contact);
        noteOfRow(key, { kind: 'write', shown, sent: sent(read), end: result.kind });
        await remember(key, 'patchbay');
        return result;
      });
    return {
      ...workspace,
      listByExternalIds: async (keys, options) => {
        const { leftAtMs, timed } = timeOf(options);
        // Asked for before, so that the read is noted at once: who reads has the lease, and no one else moves the claim.
        const claims = new Map<string, Claim | null>();
        for (const key of keys) claims.set(key, await claimOf(key));
        const found = await workspace.listByExternalIds(keys, timed);
        const atMs = leftAtMs();
        const contacts = staleMs === 0 ? found.contacts : found.contacts.map(asOfThen);
        for (const key of keys) {
          const own = contacts.filter((contact) => contact.externalId === key);
          if (own.length < 2) took(key, { contact: own[0] ?? null, atMs, lagMs: staleMs }, claims.get(key) ?? null);
        }
        return { ...found, contacts };
      },
      getContact: async (id, options) => {
        const { leftAtMs, timed } = timeOf(options);
        const known = keyOfId(id);
        const claim = known === null ? null : await claimOf(known);
        const contact = await workspace.getContact(id, timed);
        const atMs = leftAtMs();
        const key = contact?.externalId ?? keyOfId(id);
        if (key !== null) took(key, { contact, atMs, lagMs: 0 }, key === known ? claim : null);
        return contact;
      },
      createContact: (body, options = {}) =>
        write(
          body.externalId ?? '',
          options,
          () => pictureOfCreate(body),
          (checked) => workspace.createContact(body, checked),
        ),
      updateContact: (id, body, options = {}) => {
        const key = keyOfId(id);
        if (key === null) {
          breaches.push(`a PATCH of ${id}, which nobody has read`);
          return workspace.updateContact(id, body, options);
        }
        const sent = (read: Read | null): Picture => {
          if (read === null || read.contact === null) {
            breaches.push(`${key}: a PATCH without a read`);
            return new Map();
          }
          const [merged, replaced] = [
            afterUpdate(read.contact, body, 'merge'),
            afterUpdate(read.contact, body, 'replace'),
          ];
          for (const field of fieldsOf(merged, replaced)) {
            if (valueIn(merged, field) === valueIn(replaced, field)) continue;
            breaches.push(
              `${key}: a PATCH makes ${field} "${valueIn(merged, field)}" where it merges and "${valueIn(replaced, field)}" where it replaces`,
            );
          }
          return merged;
        };
        return write(key, options, sent, (checked) => workspace.updateContact(id, body, checked));
      },
    };
  };

  return {
    breaches,
    of: (key) => events.get(key) ?? [],
    note,
    rested: (runId) => {
      for (const key of events.keys()) note(key, { kind: 'rest', runId });
    },
    moved: (feed, isAway) => {
      for (const key of keys) note(key, { kind: 'feed', feed, isAway });
    },
    watched,
    edited: (key, edit) =>
      inTurn(key, async () => {
        const from = await truth(key);
        await edit();
        const to = await remember(key, 'people');
        const picture = (contact: Contact | null): Picture => (contact === null ? new Map() : pictureOf(contact));
        note(key, { kind: 'edit', from: picture(from), to: picture(to) });
      }),
    atUndo: (isAtWork) => {
      isAtUndo = isAtWork;
    },
    staleLists: (ms) => {
      staleMs = ms;
    },
  };
}
