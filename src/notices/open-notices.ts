/** Builds what delivers to the webhook. Whoever opens it closes it. */

import type { Clock } from '#src/clock.ts';
import { type DeliverParts, deliver } from './deliver.ts';
import { createWebhookClient, type PostLimits } from './post-webhook.ts';

export interface Notices {
  /** One try: see `deliver`. */
  deliver(deliveryId: string, signal: AbortSignal): Promise<void>;
  /** Breaks off what is under way: it is sent again by the next engine. */
  close(): Promise<void>;
}

export type NoticesOptions = Omit<DeliverParts, 'client' | 'underWay' | 'told' | 'clock'> & {
  readonly clock: Clock;
  readonly limits?: PostLimits;
};

export function openNotices({ limits, ...options }: NoticesOptions): Notices {
  const client = createWebhookClient(options.clock, limits);
  const parts: DeliverParts = { ...options, client, underWay: new Set(), told: new Set() };
  return { deliver: (deliveryId, signal) => deliver(parts, deliveryId, signal), close: () => client.close() };
}
