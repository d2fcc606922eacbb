/**
 * The workspace over HTTP: the parts put together, and the paths of the interface.
 *
 * Terms: the *exchanger* owns the connections, *send* passes slot, key and gate, *read* retries, *write* never does.
 * Whoever makes a workspace closes it.
 */
import { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import {
  type Contact,
  contactEnvelope,
  contactListEnvelope,
  customFieldDefinitionsEnvelope,
} from '#src/wire/contact.ts';
import manifest from '../../package.json' with { type: 'json' };
import { createApiKey } from './api-key.ts';
import type { Breakers } from './breaker.ts';
import { createExchanger } from './exchange.ts';
import { connectionsMax, lookUpPagesMax, type WorkspaceTimeouts, workspaceTimeouts } from './limits.ts';
import { lookUpQuery } from './look-up-chunks.ts';
import { parseOrigin } from './origin.ts';
import { walkPages } from './page-walker.ts';
import { listPhoneNumberIds, listPhoneNumberPages } from './phone-number-pages.ts';
import type { CallOptions, LookUp, RequestKind, Workspace } from './port.ts';
import type { RateGate } from './rate-gate.ts';
import { createRead, type Read } from './read.ts';
import { createSend } from './send.ts';
import { createSlots } from './slots.ts';
import { createWrite } from './write.ts';

export interface HttpWorkspaceOptions {
  /** The service's origin, without `/v1`. */
  readonly baseUrl: string;
  /** Called for the first request, and again after a 401, at most once per 5 s. */
  readonly readApiKey: () => string | Promise<string>;
  /** The gate of this key, shared by all who use the key. */
  readonly rateGate: RateGate;
  /** Told how each request ended. */
  readonly breakers?: Breakers;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly timeouts?: Partial<WorkspaceTimeouts>;
}

/** Throws `usage` `baseUrlInvalid`. Opens no connection before the first request. */
export function createHttpWorkspace(options: HttpWorkspaceOptions): Workspace {
  const { readApiKey, rateGate, clock, random, log } = options;
  const origin = parseOrigin(options.baseUrl);
  const exchanger = createExchanger(origin, clock, { ...workspaceTimeouts, ...options.timeouts });
  const apiKey = createApiKey({ readApiKey, clock, log });
  const counts: Record<RequestKind, number> = { get: 0, post: 0, patch: 0, retried: 0, rateLimited: 0 };
  const send = createSend({
    exchanger,
    slots: createSlots(connectionsMax),
    apiKey,
    rateGate,
    breakers: options.breakers ?? null,
    clock,
    random,
    log,
    userAgent: `patchbay/${manifest.version}`,
    count: (kind) => {
      counts[kind] += 1;
    },
  });
  const read = createRead({ send, apiKey, origin, clock, random, log });
  const write = createWrite({ send, apiKey, origin });

  return {
    origin,
    listByExternalIds: (keys, callOptions) => listByExternalIds(read, keys, callOptions),
    async getContact(id, callOptions) {
      const request = { operation: 'read a contact', path: contactPath(id), schema: contactEnvelope } as const;
      const { value } = await read({ ...request, notFound: 'absent' }, callOptions);
      return value?.data ?? null;
    },
    createContact: (body, callOptions) =>
      write({ method: 'POST', operation: 'create a contact', path: '/v1/contacts', body }, callOptions),
    // Asynchronous, so that a bad id rejects as everything else does.
    async updateContact(id, body, callOptions) {
      return write({ method: 'PATCH', operation: 'update a contact', path: contactPath(id), body }, callOptions);
    },
    async listCustomFields() {
      const operation = 'list the custom fields';
      const path = '/v1/contact-custom-fields';
      const { value } = await read({ operation, path, schema: customFieldDefinitionsEnvelope, notFound: 'absent' });
      return value?.data ?? null;
    },
    listPhoneNumberPages: (pageOptions) => listPhoneNumberPages(read, pageOptions),
    listPhoneNumberIds: () => listPhoneNumberIds(read),
    counts: () => ({ ...counts }),
    close: () => exchanger.close(),
  };
}

/** As the envelope of `wire`, with the token as it came: the page walker judges it. */
const lookUpPage = z.object({ data: contactListEnvelope.shape.data, nextPageToken: z.unknown().optional() });

async function listByExternalIds(read: Read, keys: readonly string[], options?: CallOptions): Promise<LookUp> {
  let firstReadAtMs: number | null = null;
  const pages = walkPages(
    async (token) => {
      const path = `/v1/contacts?${lookUpQuery(keys, token)}`;
      const request = { operation: 'look up contacts', path, schema: lookUpPage, notFound: 'odd' } as const;
      const { value, readAtMs } = await read(request, options);
      invariant(value !== null, 'a look-up that answers 404 throws');
      firstReadAtMs ??= readAtMs;
      return { data: value.data, nextPageToken: value.nextPageToken };
    },
    { pagesMax: lookUpPagesMax },
  );
  const contacts: Contact[] = [];
  for await (const page of pages) contacts.push(...page);
  invariant(firstReadAtMs !== null, 'a walk reads one page at least');
  return { contacts, readAtMs: firstReadAtMs };
}

/** The id as one path segment. A dot segment would be resolved away into another path. */
function contactPath(id: string): string {
  invariant(id !== '' && id !== '.' && id !== '..' && id.isWellFormed(), 'a contact id is one path segment');
  return `/v1/contacts/${encodeURIComponent(id)}`;
}
