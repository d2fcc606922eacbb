/**
 * The workspace service under faults, with a log of what it really did.
 *
 * The log sees every reply as it was meant, before a fault spoils it. A create of a key that a contact has already is
 * answered with 409, and stands in the log as `taken`: in a service without that answer it would be the second contact
 * of that key. So one `taken` is one duplicate, whether its sender ever reads the answer or not.
 */
import { silentLogger } from '#src/log.ts';
import { parseFault } from '#src/service/faults/faults.ts';
import type { ObservedReply } from '#src/service/openapi/openapi-document.ts';
import { startService } from '#src/service/start-service.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';

export interface ServiceWrite {
  /** Of `performance.now()`, in this process. */
  readonly atMs: number;
  readonly kind: 'created' | 'updated' | 'taken';
  /** Null for `taken`: the answer names no key. */
  readonly key: string | null;
}

export interface ListedContact {
  readonly id: string;
  readonly externalId: string | null;
  readonly defaultFields: {
    readonly firstName: string | null;
    readonly company: string | null;
    readonly emails: readonly { readonly value: string }[];
  };
}

export interface FaultyService {
  readonly origin: string;
  readonly key: string;
  /** Grows, in order. */
  readonly writes: readonly ServiceWrite[];
  requestCount(): number;
  /** Puts other faults in force, as for `patchbay serve --fault`. */
  setFaults(faults: readonly string[]): Promise<void>;
  contacts(): Promise<readonly ListedContact[]>;
  close(): Promise<void>;
}

export async function startFaultyService(faults: readonly string[], faultSeed: number): Promise<FaultyService> {
  const key = 'key-for-torture';
  const writes: ServiceWrite[] = [];
  const observe = (reply: ObservedReply): void => {
    const write = writeOf(reply);
    if (write !== null) writes.push(write);
  };
  const service = await startService({
    ...serviceDefaults,
    apiKeys: [key],
    seedPhoneNumbers: 2,
    faults: faults.map(parseFault),
    faultSeed,
    control: true,
    log: silentLogger(),
    replyObserver: () => observe,
  });
  return {
    origin: service.origin,
    key,
    writes,
    requestCount: () => Object.values(service.counts()).reduce((sum, count) => sum + count, 0),
    setFaults: async (texts) => {
      const reply = await fetch(`${service.origin}/__control`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ faults: texts }),
      });
      if (!reply.ok) throw new Error(`the service does not take these faults: ${await reply.text()}`);
    },
    contacts: () => listAll(service.origin, key),
    close: () => service.close(),
  };
}

function writeOf({ method, status, text }: ObservedReply): ServiceWrite | null {
  const atMs = performance.now();
  if (method === 'POST' && status === 409) return { atMs, kind: 'taken', key: null };
  const kind =
    method === 'POST' && status === 201 ? 'created' : method === 'PATCH' && status === 200 ? 'updated' : null;
  if (kind === null || text === null) return null;
  const { data } = JSON.parse(text) as { data: ListedContact };
  return { atMs, kind, key: data.externalId };
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
