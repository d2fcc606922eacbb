/** The faults of page tokens: a token that never ends, and one that is no text. */
import type { Reply } from '../operations/operation.ts';
import { objectOfBody } from '../operations/ready-body.ts';
import type { Fault } from './fault.ts';

export interface Paging {
  readonly faults: readonly Fault[];
  readonly pageToken: string | null;
  readonly firstPageToken: () => string;
}

/** Changes the next-page token of a listing's reply; any other reply stays as it is. */
export function bendPageToken(paging: Paging, reply: Reply): Reply {
  const body = objectOfBody(reply.body);
  if (body === null || !Array.isArray(body.data)) return reply;
  for (const fault of paging.faults) {
    if (fault.kind === 'nonStringToken') return { ...reply, body: { ...body, nextPageToken: 7 } };
    if (fault.kind === 'repeatToken') {
      const nextPageToken = paging.pageToken ?? body.nextPageToken ?? paging.firstPageToken();
      return { ...reply, body: { ...body, nextPageToken } };
    }
  }
  return reply;
}
