/**
 * List phone numbers (4.4) and get one (`facts.md`, "one number").
 *
 * 4.4, the name of the user filter: not shown. It is `userId`, a text that begins with `US` (`facts.md`).
 */
import { checkQuery } from '../http/check-query.ts';
import { Refusal } from '../http/refusal.ts';
import type { Operation, OperationRequest, Reply } from '../operations/operation.ts';
import type { PageTokens } from '../paging/page-token.ts';
import type { PhoneNumberTable } from '../store/phone-number-table.ts';
import {
  getPhoneNumberDescription,
  listPhoneNumbersDescription,
  pagedPhoneNumberQuerySchema,
  phoneNumberQuerySchema,
} from './phone-number-descriptions.ts';

export interface PhoneNumberParts {
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
      path: '/v1/phone-numbers/:id',
      description: getPhoneNumberDescription,
      run: (request) => getPhoneNumber(parts, request),
    },
  ];
}

function listPhoneNumbers(
  { phoneNumbers, pageNumbers, pageTokens }: PhoneNumberParts,
  request: OperationRequest,
): Reply {
  // 4.6, whether this endpoint is paginated: not shown. Not by default (`facts.md`); a token is then not looked at.
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
