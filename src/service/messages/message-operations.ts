/**
 * List messages and send one (4.5, sections 7 and 9). The order of the listing: not shown. The newest first, as with
 * calls. Section 4, status of success: not shown. 202 for send (`facts.md`).
 */
import type { Clock } from '#src/clock.ts';
import { createActivityIds } from '../conversations/activity-id.ts';
import { deprecatedInListing, timeWindow, wholeWindow } from '../conversations/list-query.ts';
import { checkQuery } from '../http/check-query.ts';
import { checkShape } from '../http/check-shape.ts';
import { flaggingRefusals } from '../http/refusal.ts';
import type { DeprecatedUse } from '../operations/deprecated-use.ts';
import type { Operation, OperationRequest, Reply } from '../operations/operation.ts';
import { newestFirstPage } from '../paging/newest-first-page.ts';
import type { PageTokens } from '../paging/page-token.ts';
import { requireNumber } from '../phone-numbers/require-number.ts';
import type { Store } from '../store/open-store.ts';
import { checkSending } from './check-sending.ts';
import { listMessagesDescription, sendMessageDescription } from './message-descriptions.ts';
import { messageListQuery } from './message-list-query.ts';
import { newMessage } from './new-message.ts';
import { deprecatedInSending, sendBodySchema } from './send-body.ts';

export interface MessageParts {
  readonly store: Pick<Store, 'messages' | 'phoneNumbers' | 'ownerUserId' | 'write'>;
  readonly internationalMessaging: boolean;
  readonly pageTokens: PageTokens;
  readonly clock: Clock;
}

export function messageOperations(parts: MessageParts): readonly Operation[] {
  const shared = { path: '/v1/messages', resource: '02' } as const;
  return [
    {
      ...shared,
      name: 'messages',
      method: 'GET',
      takesBody: false,
      description: listMessagesDescription,
      run: (request) => {
        const deprecated = deprecatedInListing(request.query);
        return flaggingRefusals(deprecated, () => listMessages(parts, request, deprecated));
      },
    },
    {
      ...shared,
      name: 'send',
      method: 'POST',
      takesBody: true,
      description: sendMessageDescription,
      run: sendMessage(parts),
    },
  ];
}

function listMessages(
  { store, pageTokens }: MessageParts,
  { query, listing }: OperationRequest,
  deprecated: readonly DeprecatedUse[],
): Reply {
  const sent = checkQuery(messageListQuery, query);
  const place = pageTokens.readPlace('messages', sent.pageToken ?? null);
  const phoneNumber = requireNumber(store.phoneNumbers, sent.phoneNumberId);
  const window = timeWindow(sent, place);
  const { maxResults, participants, userId = null } = sent;
  const rows = listing.ignoreFilters
    ? store.messages.page({ conversation: null, ...wholeWindow(place), limit: maxResults + 1 })
    : store.messages.page({
        conversation: { phoneNumberId: phoneNumber.id, participants, userId },
        ...window,
        limit: maxResults + 1,
      });
  const placed = rows.map((row) => ({ place: row.place, item: row.message }));
  return newestFirstPage({ listing: 'messages', rows: placed, maxResults, deprecated, pageTokens });
}

function sendMessage({ store, internationalMessaging, clock }: MessageParts): Operation['run'] {
  const nextId = createActivityIds();
  return async (request) => {
    const sent = request.body();
    const deprecated = deprecatedInSending(sent);
    const { body, phoneNumber, userId } = flaggingRefusals(deprecated, () => {
      const body = checkShape(sendBodySchema, sent);
      return { body, ...checkSending(body, { ...store, internationalMessaging }) };
    });
    const message = await store.write(() => {
      const nowMs = clock.nowMs();
      const made = newMessage(body, { id: nextId(nowMs), createdMs: nowMs, phoneNumber, userId });
      store.messages.insert(made);
      return made;
    });
    return { status: 202, body: { data: message }, deprecated };
  };
}
