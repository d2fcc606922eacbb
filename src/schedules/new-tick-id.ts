/** Names of ticks. */
import { randomBytes } from 'node:crypto';

export function newTickId(): string {
  return `t${randomBytes(6).toString('hex')}`;
}
