/** A workspace service in the test's own process, whose faults change while a command works. */
import { Readable } from 'node:stream';
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { parseFault } from '#src/service/faults/faults.ts';
import type { ObserveReply } from '#src/service/openapi/openapi-document.ts';
import { startService } from '#src/service/start-service.ts';
import { createReplyCheck } from './reply-check.ts';
import { until } from './until.ts';

/** Requests that write a contact. */
export type WriteMethod = 'POST' | 'PATCH' | 'DELETE';

export interface JourneyService {
  readonly origin: string;
  readonly key: string;
  /** POSTs that arrived, refused ones too. */
  createCount(): number;
  writeCount(): number;
  /** Requests of that kind that were carried out or refused, people's edits too. */
  answered(method: WriteMethod): number;
  /** Calls back once, when that many more have been carried out or refused, and before the last of them is answered. */
  beforeAnswer(method: WriteMethod, further: number, act: () => void): void;
  /** Resolves when that many POSTs have arrived. */
  creates(count: number): Promise<void>;
  /** Puts other faults in force. */
  setFaults(faults: readonly string[]): Promise<void>;
  /** The keys of all contacts, sorted; a key that two contacts have stands there twice. */
  keys(): Promise<readonly string[]>;
  /** The first names by key. */
  firstNames(): Promise<ReadonlyMap<string, string>>;
  /** The default fields by key. */
  people(): Promise<ReadonlyMap<string, ListedContact['defaultFields']>>;
  /** What a person does in the app: these fields get these values. */
  edit(key: string, fields: Partial<ListedContact['defaultFields']>): Promise<void>;
  /** Throws where a reply was not as the public description says. */
  close(): Promise<void>;
}

/** @param workspace the path of a workspace file; without one the service holds no contacts. */
export async function startJourneyService(
  faults: readonly string[],
  key: string,
  workspace?: string,
): Promise<JourneyService> {
  const check = createReplyCheck();
  const writes = watchWrites();
  const service = await startService({
    replyObserver: (document) => {
      const observe = check.observer(document);
      return (reply) => {
        observe(reply);
        writes.observe(reply);
      };
    },
    port: 0,
    apiKeys: [key],
    store: ':memory:',
    ...(workspace === undefined ? {} : { load: { file: workspace, stdin: () => Readable.from([]) } }),
    seedContacts: 0,
    seedPhoneNumbers: 2,
    // What people do in the app is played by updates that name what they change. The other reading is the sandbox's.
    patchMode: 'merge',
    requestsPerSecond: null,
    pageNumbers: null,
    faults: faults.map(parseFault),
    faultSeed: 7,
    control: true,
    clock: systemClock(),
    log: silentLogger(),
  });
  const createCount = (): number => service.counts().create ?? 0;
  const contacts = (): Promise<readonly ListedContact[]> => listAll(service.origin, key);
  return {
    origin: service.origin,
    key,
    createCount,
    answered: writes.answered,
    beforeAnswer: writes.beforeAnswer,
    writeCount: () => createCount() + (service.counts().update ?? 0),
    creates: async (count) => {
      await until(`${count} creates at the service`, () => createCount() >= count);
    },
    setFaults: async (texts) => {
      const reply = await fetch(`${service.origin}/__control`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ faults: texts }),
      });
      if (!reply.ok) throw new Error(`the service does not take these faults: ${await reply.text()}`);
    },
    keys: async () => (await contacts()).map((one) => one.externalId).sort(),
    firstNames: async () => new Map((await contacts()).map((one) => [one.externalId, one.defaultFields.firstName])),
    people: async () => new Map((await contacts()).map((one) => [one.externalId, one.defaultFields])),
    edit: async (externalId, defaultFields) => {
      const contact = (await contacts()).find((one) => one.externalId === externalId);
      const reply = await fetch(`${service.origin}/v1/contacts/${contact?.id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', authorization: key },
        body: JSON.stringify({ defaultFields }),
      });
      if (!reply.ok) throw new Error(`the service does not take the edit: ${await reply.text()}`);
    },
    close: async () => {
      await service.close();
      check.requireFit();
    },
  };
}

function watchWrites(): Pick<JourneyService, 'answered' | 'beforeAnswer'> & { readonly observe: ObserveReply } {
  const counts = new Map<string | null, number>();
  const waiting = new Map<string, () => void>();
  return {
    answered: (method) => counts.get(method) ?? 0,
    beforeAnswer: (method, further, act) => {
      waiting.set(`${method} ${(counts.get(method) ?? 0) + further}`, act);
    },
    observe: ({ method, path }) => {
      if (path === null || !path.startsWith('/v1/contacts')) return;
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      const name = `${method} ${count}`;
      waiting.get(name)?.();
      waiting.delete(name);
    },
  };
}

interface ListedContact {
  readonly id: string;
  readonly externalId: string;
  readonly defaultFields: {
    readonly firstName: string;
    readonly company: string | null;
    readonly role: string | null;
    readonly phoneNumbers: readonly { readonly id?: string; readonly name: string; readonly value: string }[];
  };
}

/** Ends with the first page that names no next one. */
async function listAll(origin: string, key: string): Promise<readonly ListedContact[]> {
  const all: ListedContact[] = [];
  for (let token: string | null = null; ; ) {
    const page = token === null ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const reply = await fetch(`${origin}/v1/contacts?maxResults=50${page}`, { headers: { authorization: key } });
    const { data, nextPageToken } = (await reply.json()) as { data: ListedContact[]; nextPageToken: string | null };
    all.push(...data);
    if (typeof nextPageToken !== 'string') return all;
    token = nextPageToken;
  }
}
