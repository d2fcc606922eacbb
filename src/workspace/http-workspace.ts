/**
 * The workspace over HTTP: builds the client, and maps each call of `port.ts` to a path of the interface.
 *
 * The *exchanger* owns the connections, *send* passes slot, key and rate gate, *read* retries, *write* never does. The
 * caller closes the workspace.
 */
import { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { invariant, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { RateGate } from '#src/rate/rate-gate.ts';
import {
  type Contact,
  contactEnvelope,
  contactListEnvelope,
  customFieldDefinitionsEnvelope,
  isContactId,
} from '#src/wire/contact.ts';
import { type PhoneNumber, phoneNumberListEnvelope } from '#src/wire/phone-number.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Breakers } from './classify.ts';
import { createExchanger } from './exchange.ts';
import { lookUpQuery, pageSize } from './look-up.ts';
import {
  type CallOptions,
  connectionsMax,
  contactPagesMax,
  type LookUp,
  lookUpPagesMax,
  type PhoneNumberOptions,
  phoneNumberPagesMax,
  phoneNumbersReplyBytesMax,
  type RequestKind,
  type Workspace,
  type WorkspaceTimeouts,
  workspaceTimeouts,
} from './port.ts';
import { createRead, createWrites, type Read } from './requests.ts';
import { createApiKey, createSend, createSlots } from './send.ts';

export interface HttpWorkspaceOptions {
  /** The service's origin, without `/v1`. */
  readonly baseUrl: string;
  /** Called for the first request, and again after a 401, at most every 5 s. */
  readonly readApiKey: () => string | Promise<string>;
  /** The gate of this key. */
  readonly rateGate: RateGate;
  /** Count how each request ended. */
  readonly breakers?: Breakers;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly timeouts?: Partial<WorkspaceTimeouts>;
  /** Cuts all reads whose callers gave no signal of their own: the process stops. */
  readonly stopping?: AbortSignal;
}

/** Throws `usage` `baseUrlInvalid`. Opens no connection before the first request. */
export function createHttpWorkspace(options: HttpWorkspaceOptions): Workspace {
  const { readApiKey, rateGate, clock, random, log } = options;
  const origin = parseOrigin(options.baseUrl);
  const exchanger = createExchanger(origin, clock, { ...workspaceTimeouts, ...options.timeouts });
  const apiKey = createApiKey({ readApiKey, clock, log });
  const counts: Record<RequestKind, number> = { get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 };
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
  const { stopping } = options;
  const readUntilCut = createRead({ send, apiKey, origin, clock, random, log });
  const read: Read = (request, callOptions) =>
    readUntilCut(request, stopping === undefined ? callOptions : { signal: stopping, ...callOptions });
  const { write, remove } = createWrites(send, apiKey, origin);

  return {
    origin,
    listByExternalIds: (keys, callOptions) => listByExternalIds(read, keys, callOptions),
    listContactPages: (callOptions) => listContactPages(read, callOptions),
    async getContact(id, callOptions) {
      const request = { operation: 'read a contact', path: contactPath(id), schema: contactEnvelope } as const;
      const { value } = await read({ ...request, notFound: 'absent' }, callOptions);
      return value?.data ?? null;
    },
    createContact: (body, callOptions) =>
      write({ method: 'POST', operation: 'create a contact', path: '/v1/contacts', body }, callOptions),
    // Asynchronous, so that a bad id rejects like every other error.
    async updateContact(id, body, callOptions) {
      return write({ method: 'PATCH', operation: 'update a contact', path: contactPath(id), body }, callOptions);
    },
    async deleteContact(id, callOptions) {
      return remove({ operation: 'delete a contact', path: contactPath(id) }, callOptions);
    },
    async listCustomFields(callOptions) {
      const operation = 'list the custom fields';
      const path = '/v1/contact-custom-fields';
      const schema = customFieldDefinitionsEnvelope;
      const { value } = await read({ operation, path, schema, notFound: 'absent' }, callOptions);
      return value?.data ?? null;
    },
    listPhoneNumberPages: (pageOptions) => listPhoneNumberPages(read, pageOptions),
    listPhoneNumberIds: (callOptions) => listPhoneNumberIds(read, callOptions),
    counts: () => ({ ...counts }),
    close: exchanger.close,
  };
}

/** As the envelope of `wire`, but with the token unchecked: `walkPages` checks it. */
const lookUpPage = z.object({ data: contactListEnvelope.shape.data, nextPageToken: z.unknown().optional() });

async function listByExternalIds(read: Read, keys: readonly string[], options?: CallOptions): Promise<LookUp> {
  let firstReadAtMs: number | null = null;
  const pages = walkPages(
    async (token) => {
      const path = `/v1/contacts?${lookUpQuery(keys, token)}`;
      const request = { operation: 'look up contacts', path, schema: lookUpPage, notFound: 'odd' } as const;
      const { value, readAtMs } = await read(request, options);
      invariant(value !== null, 'a look-up answered with 404 throws');
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

/** Without a filter: all contacts (`docs/facts.md`, "List contacts"). */
async function* listContactPages(read: Read, options?: CallOptions): AsyncGenerator<readonly Contact[], void, void> {
  yield* walkPages(
    async (token) => {
      const page = token === null ? '' : `&pageToken=${encodeURIComponent(token)}`;
      const request = { operation: 'list the contacts', path: `/v1/contacts?${pageSize}${page}`, schema: lookUpPage };
      const { value } = await read({ ...request, notFound: 'odd' }, options);
      invariant(value !== null, 'a list answered with 404 throws');
      return { data: value.data, nextPageToken: value.nextPageToken };
    },
    { pagesMax: contactPagesMax },
  );
}

/** The id is encoded as one path segment. @throws PatchbayError `rejected` `contactIdOdd` for one that is none. */
function contactPath(id: string): string {
  if (!isContactId(id)) {
    throw new PatchbayError('rejected', 'contactIdOdd', `no contact can be read by the id ${JSON.stringify(id)}`, {
      hint: 'Check the contact in the workspace.',
    });
  }
  return `/v1/contacts/${encodeURIComponent(id)}`;
}

/**
 * The configured address of the service, as `https://host` or `http://host:port`. The message never repeats what may be
 * credentials.
 * @throws PatchbayError `usage` `baseUrlInvalid` for a path, a query, a fragment, credentials or another protocol.
 */
export function parseOrigin(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) {
    const shown = baseUrl.includes('@') ? '' : ` ${JSON.stringify(baseUrl)}`;
    throw invalid(`The service's address${shown} is not a URL.`, 'Use https://host, without /v1.');
  }
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') {
    throw invalid("The service's address contains credentials.", 'Pass the API key separately, as PATCHBAY_API_KEY.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalid(`The service's address begins with ${url.protocol}//.`, 'Use https or http.');
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw invalid(
      `The service's address ${url.origin} has a path, a query or a fragment.`,
      `Use ${url.origin} alone, without /v1.`,
    );
  }
  return url.origin;
}

function invalid(message: string, hint: string): PatchbayError {
  return new PatchbayError('usage', 'baseUrlInvalid', message, { hint });
}

const noListCode = 'noPhoneNumberList';

/**
 * The phone numbers of the workspace (`docs/interface.md`, 4.4; paging and the filter's name: `docs/facts.md`). On the first page 404
 * means that there is no such list; on a later page it is an unexpected reply. Throws as `port.ts` says.
 */
async function* listPhoneNumberPages(
  read: Read,
  { userId = null, ...cut }: PhoneNumberOptions = {},
): AsyncGenerator<readonly PhoneNumber[], void, void> {
  yield* walkPages(
    async (token) => {
      const { value } = await read(
        {
          operation: 'list the phone numbers',
          path: pathOf(userId, token),
          schema: phoneNumberListEnvelope,
          notFound: token === null ? 'absent' : 'odd',
          replyBytesMax: phoneNumbersReplyBytesMax,
        },
        cut,
      );
      if (value === null) throw noList(userId);
      return { data: value.data, nextPageToken: value.nextPageToken };
    },
    { pagesMax: phoneNumberPagesMax },
  );
}

async function listPhoneNumberIds(read: Read, options: CallOptions = {}): Promise<readonly string[] | null> {
  const ids = new Set<string>();
  try {
    for await (const page of listPhoneNumberPages(read, options)) {
      for (const number of page) ids.add(number.id);
    }
  } catch (error) {
    if (error instanceof PatchbayError && error.code === noListCode) return null;
    throw error;
  }
  return [...ids];
}

/** The filter is repeated on every page: the service requires it together with the token. */
function pathOf(userId: string | null, token: string | null): string {
  const query = [
    ...(userId === null ? [] : [`userId=${encodeURIComponent(userId)}`]),
    ...(token === null ? [] : [`pageToken=${encodeURIComponent(token)}`]),
  ];
  return `/v1/phone-numbers${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function noList(userId: string | null): PatchbayError {
  const what = userId === null ? 'no list of phone numbers' : `no list of phone numbers for the user ${userId}`;
  return new PatchbayError('unreachable', noListCode, `The service has ${what} (404).`, {
    facts: { status: 404, user: userId },
    hint:
      userId === null
        ? 'Check that the address is the origin of the service and that the key may read phone numbers.'
        : 'Check the id of the user: it begins with US. To find it, run: patchbay numbers ls --json',
  });
}

interface Page<Data> {
  readonly data: Data;
  /** As received: null or absent on the last page, otherwise a string. */
  readonly nextPageToken: unknown;
}

interface WalkLimits {
  readonly pagesMax: number;
}

/**
 * Yields the data of each page until the token is null or absent (`docs/interface.md`, 4.6; `docs/facts.md`). An incomplete list is
 * never taken for a complete one: the walk reaches the real end or throws. `totalItems` is documented as unreliable and is
 * not read.
 * @throws PatchbayError `unreachable`: `pageTokenNotText`, `pageTokenRepeated` (the walk would go in a circle), `tooManyPages`.
 */
export async function* walkPages<Data>(
  fetchPage: (token: string | null) => Promise<Page<Data>>,
  limits: WalkLimits,
): AsyncGenerator<Data, void, void> {
  const followed = new Set<string>();
  let token: string | null = null;
  // Ends at the last page, or after `pagesMax` pages.
  for (let pageCount = 1; pageCount <= limits.pagesMax; pageCount += 1) {
    const page: Page<Data> = await fetchPage(token);
    const next = page.nextPageToken ?? null;
    if (next !== null && typeof next !== 'string') {
      const facts = { page: pageCount, type: typeof next };
      throw oddPage('pageTokenNotText', `the page token after page ${pageCount} is not a string`, facts);
    }
    if (next !== null && followed.has(next)) {
      throw oddPage('pageTokenRepeated', `the page token after page ${pageCount} was returned before`, {
        page: pageCount,
      });
    }
    yield page.data;
    if (next === null) return;
    followed.add(next);
    token = next;
  }
  throw oddPage('tooManyPages', `the list has more than ${limits.pagesMax} pages`, { pagesMax: limits.pagesMax });
}

function oddPage(code: string, message: string, facts: Record<string, string | number>): PatchbayError {
  return new PatchbayError('unreachable', code, `The service paginates unexpectedly: ${message}.`, { facts });
}
