/**
 * The hash by which a record is known again before its cells are read: MurmurHash3 (x86, 128 bits).
 *
 * It is quick and protects nothing: two texts that hash alike by intent harm their own rows alone. What a row means is compared by
 * its fingerprint (`src/contacts/desired.ts`), which is cryptographic.
 *
 * Source: Austin Appleby, `MurmurHash3_x86_128` of smhasher (public domain). The bytes are the text in
 * UTF-8, so that a record is known before its bytes are decoded.
 */

/** 128 bits as four words of 32. As a seed, four equal words give the published function. */
export interface HashWords {
  a: number;
  b: number;
  c: number;
  d: number;
}

const c1 = 0x239b961b | 0;
const c2 = 0xab0e9789 | 0;
const c3 = 0x38b34ae5 | 0;
const c4 = 0xa1e38b93 | 0;

const noSeed: HashWords = { a: 0, b: 0, c: 0, d: 0 };

/** What records are hashed with: all that decides what their text means. */
export function seedOf(meaning: string): HashWords {
  const seed = { ...noSeed };
  hashText(meaning, noSeed, seed);
  return seed;
}

/** Writes the hash into `into`. @returns whether the text is ASCII alone. */
export function hashText(text: string, seed: HashWords, into: HashWords): boolean {
  if (hashAscii(text, seed, into)) return true;
  const isLong = text.length * utf8BytesMax > scratch.length;
  const bytes = isLong ? Buffer.from(text) : scratch;
  const length = isLong ? bytes.length : scratch.write(text);
  return hashBytes(bytes, isLong ? viewOf(bytes) : scratchView, { start: 0, end: length, seed, into });
}

/** Of one UTF-16 code unit. */
const utf8BytesMax = 3;
const scratch = Buffer.alloc(12 * 1024);
const scratchView = viewOf(scratch);

/** For `hashBytes`: of the same bytes, from the first to the last. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** 16 bytes, in the order of the words, each with its lowest byte first: as 22 characters of base64url. */
export function hashName({ a, b, c, d }: HashWords): string {
  bytes.writeInt32LE(a | 0, 0);
  bytes.writeInt32LE(b | 0, 4);
  bytes.writeInt32LE(c | 0, 8);
  bytes.writeInt32LE(d | 0, 12);
  return bytes.toString('base64url');
}

/** @param name of `hashName`. */
export function hashOfName(name: string): HashWords {
  const found = Buffer.from(name, 'base64url');
  const at = (index: number): number => (found.length < index + 4 ? 0 : found.readInt32LE(index));
  return { a: at(0), b: at(4), c: at(8), d: at(12) };
}

const bytes = Buffer.alloc(16);

/** One byte for each character. @returns whether all are ASCII; if not, the hash is void. */
function hashAscii(text: string, seed: HashWords, into: HashWords): boolean {
  const { length } = text;
  const blocksEnd = length & ~15;
  let h1 = seed.a | 0;
  let h2 = seed.b | 0;
  let h3 = seed.c | 0;
  let h4 = seed.d | 0;
  let bits = 0;
  let at = 0;
  for (; at < blocksEnd; at += 16) {
    let one = text.charCodeAt(at);
    let two = text.charCodeAt(at + 1);
    let three = text.charCodeAt(at + 2);
    let four = text.charCodeAt(at + 3);
    bits |= one | two | three | four;
    let k = one | (two << 8) | (three << 16) | (four << 24);
    h1 ^= Math.imul(rotated(Math.imul(k, c1), 15), c2);
    h1 = (Math.imul((rotated(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    one = text.charCodeAt(at + 4);
    two = text.charCodeAt(at + 5);
    three = text.charCodeAt(at + 6);
    four = text.charCodeAt(at + 7);
    bits |= one | two | three | four;
    k = one | (two << 8) | (three << 16) | (four << 24);
    h2 ^= Math.imul(rotated(Math.imul(k, c2), 16), c3);
    h2 = (Math.imul((rotated(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    one = text.charCodeAt(at + 8);
    two = text.charCodeAt(at + 9);
    three = text.charCodeAt(at + 10);
    four = text.charCodeAt(at + 11);
    bits |= one | two | three | four;
    k = one | (two << 8) | (three << 16) | (four << 24);
    h3 ^= Math.imul(rotated(Math.imul(k, c3), 17), c4);
    h3 = (Math.imul((rotated(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    one = text.charCodeAt(at + 12);
    two = text.charCodeAt(at + 13);
    three = text.charCodeAt(at + 14);
    four = text.charCodeAt(at + 15);
    bits |= one | two | three | four;
    k = one | (two << 8) | (three << 16) | (four << 24);
    h4 ^= Math.imul(rotated(Math.imul(k, c4), 18), c1);
    h4 = (Math.imul((rotated(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  let k1 = 0;
  let k2 = 0;
  let k3 = 0;
  let k4 = 0;
  for (let index = 0; at < length; index++, at++) {
    const char = text.charCodeAt(at);
    bits |= char;
    const placed = char << ((index & 3) << 3);
    if (index < 4) k1 |= placed;
    else if (index < 8) k2 |= placed;
    else if (index < 12) k3 |= placed;
    else k4 |= placed;
  }
  finish(h1, h2, h3, h4, k1, k2, k3, k4, length, into);
  return bits < 0x80;
}

/** The piece of the bytes that is hashed, and with what. */
export interface HashedPiece {
  readonly start: number;
  readonly end: number;
  readonly seed: HashWords;
  readonly into: HashWords;
}

/** Writes the hash of a piece of UTF-8 into `into`. @returns whether it is ASCII alone. */
export function hashBytes(bytes: Uint8Array, view: DataView, { start, end, seed, into }: HashedPiece): boolean {
  const length = end - start;
  const blocksEnd = start + (length & ~15);
  let h1 = seed.a | 0;
  let h2 = seed.b | 0;
  let h3 = seed.c | 0;
  let h4 = seed.d | 0;
  let bits = 0;
  let at = start;
  for (; at < blocksEnd; at += 16) {
    let k = view.getInt32(at, true);
    bits |= k;
    h1 ^= Math.imul(rotated(Math.imul(k, c1), 15), c2);
    h1 = (Math.imul((rotated(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    k = view.getInt32(at + 4, true);
    bits |= k;
    h2 ^= Math.imul(rotated(Math.imul(k, c2), 16), c3);
    h2 = (Math.imul((rotated(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    k = view.getInt32(at + 8, true);
    bits |= k;
    h3 ^= Math.imul(rotated(Math.imul(k, c3), 17), c4);
    h3 = (Math.imul((rotated(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    k = view.getInt32(at + 12, true);
    bits |= k;
    h4 ^= Math.imul(rotated(Math.imul(k, c4), 18), c1);
    h4 = (Math.imul((rotated(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  let k1 = 0;
  let k2 = 0;
  let k3 = 0;
  let k4 = 0;
  for (let index = 0; at < end; index++, at++) {
    const placed = (bytes[at] as number) << ((index & 3) << 3);
    bits |= placed;
    if (index < 4) k1 |= placed;
    else if (index < 8) k2 |= placed;
    else if (index < 12) k3 |= placed;
    else k4 |= placed;
  }
  finish(h1, h2, h3, h4, k1, k2, k3, k4, length, into);
  return (bits & highBits) === 0;
}

/** Of four bytes: set in those that are not ASCII. */
const highBits = 0x80808080 | 0;

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** @param k1 the bytes behind the last whole block, and `k2` to `k4`. */
function finish(
  s1: number,
  s2: number,
  s3: number,
  s4: number,
  k1: number,
  k2: number,
  k3: number,
  k4: number,
  byteCount: number,
  into: HashWords,
): void {
  let h4 = s4 ^ Math.imul(rotated(Math.imul(k4, c4), 18), c1) ^ byteCount;
  let h3 = s3 ^ Math.imul(rotated(Math.imul(k3, c3), 17), c4) ^ byteCount;
  let h2 = s2 ^ Math.imul(rotated(Math.imul(k2, c2), 16), c3) ^ byteCount;
  let h1 = s1 ^ Math.imul(rotated(Math.imul(k1, c1), 15), c2) ^ byteCount;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = mixed((h2 + h1) | 0);
  h3 = mixed((h3 + h1) | 0);
  h4 = mixed((h4 + h1) | 0);
  h1 = mixed(h1);
  h1 = (h1 + h2 + h3 + h4) | 0;
  into.a = h1;
  into.b = (h2 + h1) | 0;
  into.c = (h3 + h1) | 0;
  into.d = (h4 + h1) | 0;
}

function mixed(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
