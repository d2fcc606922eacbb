/**
 * The workspace port over the service of the model. A write has two effects: the last check together with the request
 * leaving (what lies between those two cannot be closed, and is left out), and its answer being taken.
 *
 * What becomes of a write, its *fate*, is a choice of the schedule.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Contact, CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';
import type { CallOptions, Workspace, WriteResult } from '#src/workspace/port.ts';
import { realLimits, socketWriteMs } from './seams.ts';
import type { Flight, Stage, Worker } from './stage.ts';
import { watchCreate, watchUpdate } from './watch-writes.ts';

const readFates = ['readFails'] as const;
const listFates = ['readFails', 'listLags'] as const;
const writeFates = ['answerLost', 'neverLands', 'notSent', 'rateLimited', 'landsLate'] as const;
type ReadFate = (typeof listFates)[number] | null;
type WriteFate = (typeof writeFates)[number] | null;

/** Null where the service refuses. */
type Land = (sentAtMs: number) => Contact | null;

const body = (code: string) => ({ code, title: null, message: null, trace: null, paths: [] });
const away = (code: string): PatchbayError => new PatchbayError('unreachable', code, 'the service is away');

export function modelWorkspace(stage: Stage, worker: Worker): Workspace {
  const { service, time } = stage;
  const read = <Result>(
    options: CallOptions | undefined,
    kinds: typeof readFates | typeof listFates,
    take: (fate: ReadFate) => Result,
  ): Result => {
    send(options);
    options?.onRequest?.('get');
    const fate = stage.chooseFate<NonNullable<ReadFate>>(kinds);
    if (fate === 'readFails') throw away('serviceUnreachable');
    return take(fate);
  };

  const write = async (
    name: string,
    key: string,
    options: CallOptions | undefined,
    watch: () => void,
    land: Land,
    refusedStatus: number,
  ): Promise<WriteResult> => {
    const sent = await stage.effect(
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
        return { result: carryOut(stage, key, fate, land, refusedStatus), flight };
      },
    );
    const { result, flight } = sent;
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
          const kinds = service.mayLag(keys) ? listFates : readFates;
          const readAtMs = time.nowMs - time.bootAtMs;
          return read(options, kinds, (fate) => ({ contacts: service.list(keys, fate === 'listLags'), readAtMs }));
        },
      ),
    getContact: (id, options) =>
      stage.effect(
        worker,
        'read',
        () => `reads ${id}`,
        () => read(options, readFates, () => service.get(id)),
      ),
    createContact: (contact: CreateContactBody, options) => {
      const key = contact.externalId ?? '';
      const land = () => service.create(contact);
      return write('POST', key, options, () => watchCreate(stage, worker, key), land, 409);
    },
    updateContact: (id: string, contact: UpdateContactBody, options) => {
      const key = service.get(id)?.externalId ?? id;
      const land = (sentAtMs: number) => service.update(id, contact, sentAtMs);
      return write('PATCH', key, options, () => watchUpdate(stage, worker, key), land, 404);
    },
  };
  // The core uses no other member: one that it does use stops it with a TypeError.
  return workspace as Workspace;
}

/** The last check. It is one with the request: a check that waits would leave a gap that the model does not know of. */
function send(options: CallOptions | undefined): void {
  if (options?.beforeSend?.() instanceof Promise) throw new Error('the last check must not wait');
}

function fateOf(stage: Stage): WriteFate {
  if (stage.writeCount < stage.scenario.outageWrites) return 'neverLands';
  return stage.chooseFate<NonNullable<WriteFate>>(writeFates);
}

function carryOut(stage: Stage, key: string, fate: WriteFate, land: Land, refusedStatus: number): WriteResult {
  const { service, time } = stage;
  const sentAtMs = time.nowMs;
  switch (fate) {
    case null: {
      const contact = land(sentAtMs);
      if (contact !== null) return { kind: 'done', contact };
      return { kind: 'refused', status: refusedStatus, body: body(`refused${refusedStatus}`) };
    }
    case 'answerLost':
      land(sentAtMs);
      break;
    case 'landsLate':
      service.landLater(sentAtMs + socketWriteMs + realLimits.latestCommitMs, () => void land(sentAtMs));
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
