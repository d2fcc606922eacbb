/**
 * List messages and send one (4.5, sections 7 and 9). The order of the listing: not shown. The newest first, as with
 * calls. Section 4, status of success: not shown. 202 for send (`facts.md`).
 */
import type { Clock } from '#src/clock.ts';
import { createActivityIds } from '../conversations/activity-id.ts';
import { timeWindow, wholeWindow } from '../conversations/list-query.ts';
import { newestFirstPage } from '../conversations/newest-first-page.ts';
import { checkQuery } from '../http/check-query.ts';
import { checkShape } from '../http/check-shape.ts';
import { requireNumber } from '../numbers/require-number.ts';
import type { Call, Operation, Reply } from '../operation.ts';
import { decodePlaceToken } from '../page-token.ts';
import type { Store } from '../store/open-store.ts';
import { checkSending } from './check-sending.ts';
import { listMessagesDescription, sendMessageDescription } from './message-descriptions.ts';
import { messageListQuery } from './message-list-query.ts';
import { newMessage } from './new-message.ts';
import { sendBodySchema } from './send-body.ts';

export interface MessageParts {
  readonly store: Pick<Store, 'messages' | 'phoneNumbers' | 'ownerUserId' | 'write'>;
  readonly internationalMessaging: boolean;
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
      run: (call) => listMessages(parts, call),
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

function listMessages({ store }: MessageParts, { query, listing }: Call): Reply {
  const sent = checkQuery(messageListQuery, query);
  const place = decodePlaceToken('messages', sent.pageToken ?? null);
  const phoneNumber = requireNumber(store.phoneNumbers, sent.phoneNumberId);
  const { deprecated, ...window } = timeWindow(sent, place);
  const { maxResults, participants, userId = null } = sent;
  const rows = listing.ignoreFilters
    ? store.messages.page({ conversation: null, ...wholeWindow(place), limit: maxResults + 1 })
    : store.messages.page({
        conversation: { phoneNumberId: phoneNumber.id, participants, userId },
        ...window,
        limit: maxResults + 1,
      });
  const placed = rows.map((row) => ({ place: row.place, item: row.message }));
  return newestFirstPage({ listing: 'messages', rows: placed, maxResults, deprecated });
}

function sendMessage({ store, internationalMessaging, clock }: MessageParts): Operation['run'] {
  const nextId = createActivityIds();
  return async (call) => {
    const body = checkShape(sendBodySchema, call.body());
    const { phoneNumber, userId, deprecated } = checkSending(body, { ...store, internationalMessaging });
    const message = await store.write(() => {
      const nowMs = clock.nowMs();
      const made = newMessage(body, { id: nextId(nowMs), createdMs: nowMs, phoneNumber, userId });
      store.messages.insert(made);
      return made;
    });
    return { status: 202, body: { data: message }, deprecated };
  };
}
