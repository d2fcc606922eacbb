/**
 * List phone numbers (4.4) and get one (`docs/facts.md`, "one number").
 *
 * 4.4, the name of the user filter: not shown. It is `userId`, a text that begins with `US` (`docs/facts.md`).
 */
import { z } from 'zod';
import { checkQuery } from '#src/service/http/check-request.ts';
import { badRequest, Refusal } from '#src/service/http/refusal.ts';
import type { Operation, OperationDescription, OperationRequest, Reply } from '#src/service/operations/operation.ts';
import type { PhoneNumberTable } from '#src/service/store/workspace-tables.ts';
import { type PageTokens, pageReply } from './paging.ts';
import type { PhoneNumber } from './stored-records.ts';
import { e164, text } from './text-schemas.ts';

interface PhoneNumberParts {
  readonly phoneNumbers: PhoneNumberTable;
  /** Null: all at once, without a token. */
  readonly pageNumbers: number | null;
  readonly pageTokens: PageTokens;
}

export function phoneNumberOperations(parts: PhoneNumberParts): readonly Operation[] {
  const shared = { name: 'numbers', method: 'GET', resource: '04', takesBody: false } as const;
  return [
    {
      ...shared,
      path: '/v1/phone-numbers',
      description: listPhoneNumbersDescription(parts.pageNumbers !== null),
      run: (request) => listPhoneNumbers(parts, request),
    },
    {
      ...shared,
      path: '/v1/phone-numbers/:phoneNumberId',
      description: getPhoneNumberDescription,
      run: (request) => getPhoneNumber(parts, request),
    },
  ];
}

function listPhoneNumbers(
  { phoneNumbers, pageNumbers, pageTokens }: PhoneNumberParts,
  request: OperationRequest,
): Reply {
  // 4.6, whether this endpoint is paginated: not shown. Not by default (`docs/facts.md`); a token is then not looked at.
  if (pageNumbers === null) {
    const query = checkQuery(phoneNumberQuerySchema, request.query);
    const userId = userIdOf(request, query.userId);
    const rows = phoneNumbers.page({ userId, afterSeq: 0, limit: -1 });
    return { status: 200, body: { data: rows.map((row) => row.phoneNumber) } };
  }
  const query = checkQuery(pagedPhoneNumberQuerySchema, request.query);
  const userId = userIdOf(request, query.userId);
  const afterSeq = pageTokens.readSeq('phone-numbers', query.pageToken ?? null);
  const rows = phoneNumbers.page({ userId, afterSeq, limit: pageNumbers + 1 });
  const shown = rows.slice(0, pageNumbers);
  const last = shown.at(-1);
  const nextPageToken =
    rows.length > pageNumbers && last !== undefined ? pageTokens.ofSeq('phone-numbers', last.seq) : null;
  // 4.6.2: wrong by declaration. It counts this page.
  return { status: 200, body: { data: shown.map((row) => row.phoneNumber), totalItems: shown.length, nextPageToken } };
}

/** Null: not filtered. */
function userIdOf(request: OperationRequest, sent: string | undefined): string | null {
  return request.listing.ignoreFilters ? null : (sent ?? null);
}

function getPhoneNumber({ phoneNumbers }: PhoneNumberParts, request: OperationRequest): Reply {
  const phoneNumber = phoneNumbers.find(request.id);
  if (phoneNumber === null) throw new Refusal(404, `No phone number has the id ${request.id.slice(0, 100)}.`);
  return { status: 200, body: { data: phoneNumber } };
}

// The phone number that a request names. 4.5, what is answered for one that the workspace does not have: not shown.
// 404 in listings of its calls and messages and on sending from it, as for any id that is well formed and absent.

/** Throws `Refusal` 404. `idOrNumber`: an id that begins with PN, or a number in E.164 format. */
export function requireNumber(
  phoneNumbers: Pick<PhoneNumberTable, 'find' | 'findByNumber'>,
  idOrNumber: string,
): PhoneNumber {
  const found = idOrNumber.startsWith('PN') ? phoneNumbers.find(idOrNumber) : phoneNumbers.findByNumber(idOrNumber);
  if (found === null) throw new Refusal(404, `This workspace has no phone number ${idOrNumber.slice(0, 100)}.`);
  return found;
}

/** A phone number as replies show it, as a schema (2.4; values and nulls: `docs/facts.md`, "Phone numbers"). */
export const userId = text
  .regex(/^US/, { error: 'must begin with US' })
  .meta({ description: 'Identifier of a user.', examples: ['USa1b2c3d4e5'] });

const user = z
  .object({
    id: userId,
    email: text,
    firstName: text.nullable(),
    lastName: text.nullable(),
    role: z.enum(['owner', 'admin', 'member']),
    groupId: text,
  })
  .meta({ id: 'User' });

const restriction = z.enum(['restricted', 'unrestricted']);
const regions = z
  .object({ CA: restriction, Intl: restriction, US: restriction })
  .meta({ id: 'RegionalRestrictions', description: 'Limits on what goes out from the number, by region.' });

export const phoneNumberSchema = z
  .object({
    id: text.regex(/^PN/),
    groupId: text,
    portRequestId: text.nullable(),
    formattedNumber: text.nullable(),
    forward: text.nullable(),
    name: text,
    number: e164,
    portingStatus: text.nullable(),
    symbol: text.nullable(),
    users: z.array(user),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    restrictions: z.object({ calling: regions, messaging: regions }),
  })
  .meta({ id: 'PhoneNumber' });

/** The operations on phone numbers for the public description (4.4). */
const tag = 'Phone numbers';

/** The user filter; its name is a reading: see above. */
const phoneNumberQuerySchema = z.object({
  userId: userId.meta({ description: 'Only the phone numbers of this user.' }).optional(),
});

/** Where the listing is paged. */
const pagedPhoneNumberQuerySchema = phoneNumberQuerySchema.extend({
  pageToken: z
    .string()
    .meta({ description: 'The nextPageToken of the page before. Send the filter with it again.' })
    .optional(),
});

const unrestricted = { CA: 'unrestricted', Intl: 'restricted', US: 'unrestricted' };
const example = {
  id: 'PNa1b2c3d4e5',
  groupId: 'GRa1b2c3d4e5',
  portRequestId: null,
  formattedNumber: '(415) 555-0100',
  forward: null,
  name: 'Front desk',
  number: '+14155550100',
  portingStatus: 'completed',
  symbol: null,
  users: [
    {
      id: 'USa1b2c3d4e5',
      email: 'ada.grove@example.com',
      firstName: 'Ada',
      lastName: 'Grove',
      role: 'owner',
      groupId: 'GRa1b2c3d4e5',
    },
  ],
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:00:00.000Z',
  restrictions: { calling: unrestricted, messaging: unrestricted },
};

/** `paged`: whether the listing is answered by pages. */
function listPhoneNumbersDescription(paged: boolean): OperationDescription {
  const page = { totalItems: 1, nextPageToken: null };
  return {
    operationId: 'listPhoneNumbers',
    tag,
    summary: 'List phone numbers',
    about: `Section 4.4. The phone numbers of the workspace and the users of each${paged ? ', by pages' : ', all at once'}.`,
    pathId: null,
    query: paged ? pagedPhoneNumberQuerySchema : phoneNumberQuerySchema,
    body: null,
    reply: {
      status: 200,
      about: 'The phone numbers.',
      schema: paged ? pageReply(phoneNumberSchema) : z.object({ data: z.array(phoneNumberSchema) }),
      example: { data: [example], ...(paged ? page : {}) },
    },
    refusals: {
      400: `The user identifier does not begin with US${paged ? ', or the page token is none of this listing' : ''}.`,
    },
  };
}

const getPhoneNumberDescription: OperationDescription = {
  operationId: 'getPhoneNumber',
  tag,
  summary: 'Get a phone number',
  about: 'Beyond the interface.',
  pathId: {
    name: 'phoneNumberId',
    schema: z
      .string()
      .regex(/^PN/, { error: 'must begin with PN' })
      .meta({ description: 'Identifier of the phone number.', examples: [example.id] }),
  },
  query: null,
  body: null,
  reply: {
    status: 200,
    about: 'The phone number.',
    schema: z.object({ data: phoneNumberSchema }),
    example: { data: example },
  },
  refusals: { 400: 'The identifier does not begin with PN.', 404: 'No phone number has this identifier.' },
  refusalExamples: [badRequest([{ path: 'phoneNumberId', message: 'must begin with PN', type: 'string' }])],
};
