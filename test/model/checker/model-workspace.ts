/**
 * The workspace port over the service of the model. A write has two effects: the last check together with the request
 * leaving (what lies between those two cannot be closed, and is left out), and its answer being taken.
 *
 * What becomes of a request, its *fate*, is a choice of the schedule.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Contact, CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';
import type { CallOptions, Workspace, WriteResult } from '#src/workspace/port.ts';
import type { KeyEvent } from '../commands/chronicle.ts';
import { afterUpdate, type Picture, pictureOf, pictureOfCreate } from '../commands/picture.ts';
import type { ListLag } from './model-service.ts';
import { realLimits, socketWriteMs } from './seams.ts';
import type { Flight, Stage, Worker } from './stage.ts';
import { type Read, watchCreate, watchUpdate } from './watch-writes.ts';

const readFates = ['readFails'] as const;
const writeFates = ['answerLost', 'neverLands', 'notSent', 'rateLimited', 'landsLate'] as const;
type ReadFate = 'readFails' | 'listLags' | 'listShowsOldContents' | 'listLacksMembers' | null;
type WriteFate = (typeof writeFates)[number] | null;

/** Null where the service refuses. */
type Land = () => Contact | null;

interface Write {
  readonly name: 'POST' | 'PATCH';
  readonly key: string;
  readonly watch: () => void;
  readonly sent: () => Picture;
  readonly land: Land;
  readonly refusedStatus: () => number;
}

const body = (code: string) => ({ code, title: null, message: null, trace: null, paths: [] });
const away = (code: string): PatchbayError => new PatchbayError('unreachable', code, 'the service is away');

export function modelWorkspace(stage: Stage, worker: Worker): Workspace {
  const { service, time } = stage;
  const reads = new Map<string, Read>();
  const note = (key: string, event: KeyEvent): void =>
    void stage.events.set(key, [...(stage.events.get(key) ?? []), event]);
  const took = (key: string, contact: Contact | null, lagMs = 0): void => {
    reads.set(key, { contact, atMs: time.nowMs, lagMs });
    note(key, { kind: 'read', shown: contact === null ? null : pictureOf(contact) });
  };
  /** A contact without an externalId is read for the key that is to be linked to it. */
  const keyLinkedTo = (id: string): string =>
    Object.entries(stage.scenario.links ?? {}).find(([, contactId]) => contactId === id)?.[0] ?? '';
  const read = <Result>(
    options: CallOptions | undefined,
    kinds: readonly NonNullable<ReadFate>[],
    take: (fate: ReadFate) => Result,
  ): Result => {
    send(options);
    options?.onRequest?.('get');
    const fate = stage.chooseFate(kinds);
    if (fate === 'readFails') throw away('serviceUnreachable');
    return take(fate);
  };

  const write = async ({ name, key, watch, sent, land, refusedStatus }: Write, options?: CallOptions) => {
    const left = await stage.effect(
      worker,
      'send',
      () => `${name} ${key}`,
      (): { result: WriteResult; flight: Flight | null } => {
        send(options);
        const fate = fateOf(stage);
        if (fate === 'notSent')
          return { result: { kind: 'notSent', rateLimited: false, error: away('refused') }, flight: null };
        watch();
        options?.onRequest?.(name === 'POST' ? 'post' : 'patch');
        const flight: Flight = { worker, key, sentAtMs: time.nowMs };
        stage.flights.add(flight);
        stage.writeCount += 1;
        const shown = reads.get(key)?.contact ?? null;
        const picture = sent();
        const result = carryOut(stage, key, fate, land, refusedStatus);
        note(key, {
          kind: 'write',
          shown: shown === null ? null : pictureOf(shown),
          sent: picture,
          end: result.kind,
        });
        return { result, flight };
      },
    );
    const { result, flight } = left;
    if (flight === null) return result;
    return await stage.effect(
      worker,
      'answer',
      () => `gets the answer to its ${name}: ${result.kind}`,
      () => {
        stage.flights.delete(flight);
        return result;
      },
    );
  };

  const workspace: Pick<Workspace, 'listByExternalIds' | 'getContact' | 'createContact' | 'updateContact'> = {
    listByExternalIds: (keys, options) =>
      stage.effect(
        worker,
        'read',
        () => `looks up ${keys.join(', ')}`,
        () => {
          const lags = service.lagsOf(keys);
          const readAtMs = time.nowMs - time.bootAtMs;
          return read(options, listFates(stage, keys, lags), (fate) => {
            const lag: ListLag =
              fate === 'listLags' ? 'absence' : fate === 'listShowsOldContents' ? 'contents' : 'none';
            const contacts = service.list(keys, lag);
            for (const key of keys) {
              const own = contacts.filter((contact) => contact.externalId === key);
              if (own.length < 2) took(key, own[0] ?? null, lag === 'contents' ? realLimits.visibilityLagMs : 0);
            }
            return { contacts: fate === 'listLacksMembers' ? contacts.map(withoutLists) : contacts, readAtMs };
          });
        },
      ),
    getContact: (id, options) =>
      stage.effect(
        worker,
        'read',
        () => `reads ${id}`,
        () =>
          read(options, readFates, () => {
            const contact = service.get(id);
            if (contact !== null) took(contact.externalId ?? keyLinkedTo(id), contact);
            return contact;
          }),
      ),
    createContact: (contact: CreateContactBody, options) => {
      const key = contact.externalId ?? '';
      const watch = (): void => watchCreate(stage, worker, key);
      const land = (): Contact | null => service.create(contact);
      const sent = (): Picture => pictureOfCreate(contact);
      return write({ name: 'POST', key, watch, sent, land, refusedStatus: () => 409 }, options);
    },
    updateContact: (id: string, contact: UpdateContactBody, options) => {
      const key = service.get(id)?.externalId ?? contact.externalId ?? id;
      const readOf = (): Read | null => reads.get(key) ?? null;
      const watch = (): void => {
        const now = service.get(id);
        if (now !== null) watchUpdate(stage, worker, { key, read: readOf(), now, body: contact });
      };
      const sent = (): Picture => {
        const shown = readOf()?.contact ?? null;
        return shown === null ? new Map() : afterUpdate(shown, contact, 'merge');
      };
      const land = (): Contact | null => service.update(id, contact);
      const refusedStatus = (): number => (service.get(id) === null ? 404 : 400);
      return write({ name: 'PATCH', key, watch, sent, land, refusedStatus }, options);
    },
  };
  // The core uses no other member: one that it does use stops it with a TypeError.
  return workspace as Workspace;
}

function listFates({ service }: Stage, keys: readonly string[], lags: readonly ListLag[]): NonNullable<ReadFate>[] {
  const hasLists = keys
    .flatMap(service.contactsOf)
    .some(({ defaultFields }) => defaultFields.phoneNumbers.length + defaultFields.emails.length > 0);
  return [
    'readFails',
    ...(lags.includes('absence') ? (['listLags'] as const) : []),
    ...(lags.includes('contents') ? (['listShowsOldContents'] as const) : []),
    ...(hasLists ? (['listLacksMembers'] as const) : []),
  ];
}

/** As the client reads a reply that says nothing of them. */
function withoutLists(contact: Contact): Contact {
  const missing = ['defaultFields.emails', 'defaultFields.phoneNumbers'];
  return { ...contact, ...{ missing }, defaultFields: { ...contact.defaultFields, emails: [], phoneNumbers: [] } };
}

/** The last check. It is one with the request: a check that waits would leave a gap that the model does not know of. */
function send(options: CallOptions | undefined): void {
  if (options?.beforeSend?.() instanceof Promise) throw new Error('the last check must not wait');
}

function fateOf(stage: Stage): WriteFate {
  if (stage.writeCount < stage.scenario.outageWrites) return 'neverLands';
  return stage.chooseFate<NonNullable<WriteFate>>(writeFates);
}

function carryOut(stage: Stage, key: string, fate: WriteFate, land: Land, refusedStatus: () => number): WriteResult {
  const { service, time } = stage;
  const number = stage.writeCount;
  stage.lastWrites.set(key, number);
  switch (fate) {
    case null: {
      const contact = land();
      if (contact !== null) return { kind: 'done', contact };
      const status = refusedStatus();
      return { kind: 'refused', status, body: body(`refused${status}`) };
    }
    case 'answerLost':
      land();
      break;
    case 'landsLate':
      service.landLater(time.nowMs + socketWriteMs + realLimits.latestCommitMs, () => {
        if (stage.lastWrites.get(key) !== number) {
          stage.violate('staleValue', `a write of ${key} lands after a newer one`);
        }
        land();
      });
      break;
    case 'neverLands':
      break;
    case 'rateLimited':
      return { kind: 'notSent', rateLimited: true, error: away('rateLimited') };
    case 'notSent':
      return { kind: 'notSent', rateLimited: false, error: away('refused') };
  }
  stage.doubts.set(key, (stage.doubts.get(key) ?? 0) + 1);
  return { kind: 'doubt', why: 'the connection was reset', status: null };
}
