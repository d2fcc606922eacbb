/** Ids of deliveries: the receiver sees them as `webhook-id`, people type them into `dead retry`. */
import { randomBytes } from 'node:crypto';

/** `n` and 24 hex digits. The ids of dead letters begin with `d`. */
export function newDeliveryId(): string {
  return `n${randomBytes(12).toString('hex')}`;
}
