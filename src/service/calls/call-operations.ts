/**
 * List calls (4.5, section 9). The order of the listing: not shown. The newest first, as people look at calls.
 */

import { timeWindow, wholeWindow } from '../conversations/list-query.ts';
import { newestFirstPage } from '../conversations/newest-first-page.ts';
import { checkQuery } from '../http/check-query.ts';
import { numberOwnerId } from '../numbers/number-owner.ts';
import { requireNumber } from '../numbers/require-number.ts';
import type { Call, Operation, Reply } from '../operation.ts';
import { decodePlaceToken } from '../page-token.ts';
import type { Store } from '../store/open-store.ts';
import { listCallsDescription } from './call-descriptions.ts';
import { callListQuery } from './call-list-query.ts';

export type CallParts = Pick<Store, 'calls' | 'phoneNumbers' | 'ownerUserId'>;

export function callOperations(parts: CallParts): readonly Operation[] {
  return [
    {
      name: 'calls',
      method: 'GET',
      path: '/v1/calls',
      resource: '01',
      takesBody: false,
      description: listCallsDescription,
      run: (call) => listCalls(parts, call),
    },
  ];
}

function listCalls({ calls, phoneNumbers, ownerUserId }: CallParts, { query, listing }: Call): Reply {
  const sent = checkQuery(callListQuery, query);
  const place = decodePlaceToken('calls', sent.pageToken ?? null);
  const phoneNumber = requireNumber(phoneNumbers, sent.phoneNumberId);
  const { deprecated, ...window } = timeWindow(sent, place);
  const { maxResults } = sent;
  // The check let exactly one through.
  const [participant = ''] = sent.participants;
  const userId = sent.userId ?? numberOwnerId(phoneNumber, ownerUserId);
  const rows = listing.ignoreFilters
    ? calls.page({ conversation: null, ...wholeWindow(place), limit: maxResults + 1 })
    : calls.page({
        conversation: { phoneNumberId: phoneNumber.id, participant, userId },
        ...window,
        limit: maxResults + 1,
      });
  const placed = rows.map((row) => ({ place: row.place, item: row.call }));
  return newestFirstPage({ listing: 'calls', rows: placed, maxResults, deprecated });
}
