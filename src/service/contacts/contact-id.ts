/**
 * Contact ids: 24 hex digits, in the order of their making (2.1; form: `facts.md`, "ids").
 *
 * Twelve digits are the millisecond, four count inside it, eight are random. A clock set back does not set the ids
 * back. Ordered ids insert twice as fast as random ones (`toolchain.md`, "HTTP").
 */
import { randomHex } from '../random-hex.ts';

const countMax = 0xffff;

/** Answers the next id for an instant in milliseconds since 1970. */
export type NextContactId = (atMs: number) => string;

export function createContactIds(): NextContactId {
  let lastMs = 0;
  let count = 0;
  return (atMs) => {
    if (atMs > lastMs) {
      lastMs = atMs;
      count = 0;
    } else if (count === countMax) {
      // The millisecond is used up: the next one is borrowed.
      lastMs += 1;
      count = 0;
    } else count += 1;
    return hex(lastMs, 12) + hex(count, 4) + randomHex(4);
  };
}

/** Ids of e-mail, phone and custom-field items: 24 hex digits, random (2.2, 2.3). */
export function newItemId(): string {
  return randomHex(12);
}

function hex(value: number, digitCount: number): string {
  return value.toString(16).padStart(digitCount, '0');
}
