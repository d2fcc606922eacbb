/**
 * List calls (4.5, section 9). The order of the listing: not shown. The newest first, as people look at calls.
 */
import { deprecatedInListing, timeWindow, wholeWindow } from '../conversations/list-query.ts';
import { checkQuery } from '../http/check-query.ts';
import { flaggingRefusals } from '../http/refusal.ts';
import type { DeprecatedUse } from '../operations/deprecated-use.ts';
import type { Operation, OperationRequest, Reply } from '../operations/operation.ts';
import { newestFirstPage } from '../paging/newest-first-page.ts';
import type { PageTokens } from '../paging/page-token.ts';
import { numberOwnerId } from '../phone-numbers/number-owner.ts';
import { requireNumber } from '../phone-numbers/require-number.ts';
import type { Store } from '../store/open-store.ts';
import { listCallsDescription } from './call-descriptions.ts';
import { callListQuery } from './call-list-query.ts';

export interface CallParts {
  readonly store: Pick<Store, 'calls' | 'phoneNumbers' | 'ownerUserId'>;
  readonly pageTokens: PageTokens;
}

export function callOperations(parts: CallParts): readonly Operation[] {
  return [
    {
      name: 'calls',
      method: 'GET',
      path: '/v1/calls',
      resource: '01',
      takesBody: false,
      description: listCallsDescription,
      run: (request) => {
        const deprecated = deprecatedInListing(request.query);
        return flaggingRefusals(deprecated, () => listCalls(parts, request, deprecated));
      },
    },
  ];
}

function listCalls(
  { store, pageTokens }: CallParts,
  { query, listing }: OperationRequest,
  deprecated: readonly DeprecatedUse[],
): Reply {
  const { calls, phoneNumbers, ownerUserId } = store;
  const sent = checkQuery(callListQuery, query);
  const place = pageTokens.readPlace('calls', sent.pageToken ?? null);
  const phoneNumber = requireNumber(phoneNumbers, sent.phoneNumberId);
  const window = timeWindow(sent, place);
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
  return newestFirstPage({ listing: 'calls', rows: placed, maxResults, deprecated, pageTokens });
}
