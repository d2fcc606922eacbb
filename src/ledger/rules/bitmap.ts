/**
 * Bitmaps over the keys of a ledger: one bit for each key, by the number of its contact; eight numbers a byte, the lowest bit first.
 * Pure. A bitmap ends anywhere behind its last bit.
 */

/** For numbers up to `numberMax`. */
export function emptyBitmap(numberMax: number): Uint8Array {
  return new Uint8Array((numberMax >>> 3) + 1);
}

/** A number beyond its end is not entered. */
export function enterBit(bits: Uint8Array, number: number): void {
  const byte = bits[number >>> 3];
  if (byte !== undefined) bits[number >>> 3] = byte | (1 << (number & 7));
}

export function hasBit(bits: Uint8Array, number: number): boolean {
  return ((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

const bitsOfByte = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

export function countBits(bits: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bits.length; index += 1) count += bitsOfByte[bits[index] ?? 0] ?? 0;
  return count;
}

/** How many numbers are in both. */
export function countShared(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  let count = 0;
  for (let index = 0; index < length; index += 1) count += bitsOfByte[(one[index] ?? 0) & (other[index] ?? 0)] ?? 0;
  return count;
}

/** What is in one of them. */
export function union(one: Uint8Array, other: Uint8Array): Uint8Array {
  const [long, short] = one.length < other.length ? [other, one] : [one, other];
  const bits = Uint8Array.from(long);
  for (const [index, byte] of short.entries()) bits[index] = (bits[index] ?? 0) | byte;
  return bits;
}

/** What is in the first and not in the other. */
export function without(bits: Uint8Array, other: Uint8Array): Uint8Array {
  return bits.map((byte, index) => byte & ~(other[index] ?? 0));
}

/** The numbers that are in it, lowest first, at most `sliceMax` at a time. Ends behind the last bit. */
export function* numbersIn(bits: Uint8Array, sliceMax: number): Generator<readonly number[]> {
  let numbers: number[] = [];
  for (let index = 0; index < bits.length; index += 1) {
    const byte = bits[index] ?? 0;
    for (let bit = 0; byte >> bit > 0; bit += 1) {
      if ((byte & (1 << bit)) === 0) continue;
      numbers.push(index * 8 + bit);
      if (numbers.length < sliceMax) continue;
      yield numbers;
      numbers = [];
    }
  }
  if (numbers.length > 0) yield numbers;
}
