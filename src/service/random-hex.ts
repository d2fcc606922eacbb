/**
 * Random hex digits, for ids. Asking the system for each of them costs as much as the rest of a create: it is asked for
 * many at once, and no byte is used twice.
 */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(8 * 1024);
let usedCount = pool.byteLength;

/** Two digits for each byte; at most 64 bytes. */
export function randomHex(byteCount: number): string {
  if (usedCount + byteCount > pool.byteLength) {
    randomFillSync(pool);
    usedCount = 0;
  }
  usedCount += byteCount;
  return pool.toString('hex', usedCount - byteCount, usedCount);
}
