/** Names in the queue. They carry the ledger's id, so that two ledgers on one Redis never share a job. */
import { createHash } from 'node:crypto';

export function queueName(ledgerId: string, job: string): string {
  return `patchbay-${ledgerId}-${job}`;
}

/**
 * A job's id is a hash of what it is about: BullMQ takes an existing id for a silent no-op, so that the same job is
 * never there twice, and refuses pure numbers and colons.
 */
export function jobId(...parts: readonly (string | number)[]): string {
  return `j${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}
