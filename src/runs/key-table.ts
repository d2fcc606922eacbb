/**
 * What a file has met of keys that the memory of its feed does not know, without the keys: in typed arrays of ten to fifteen bytes
 * a key.
 *
 * A *sure* value is found by 72 bits of a hash of its key. Most keys of a long file are staged, and for these 40 bits must do: the
 * ledger has the row, and shows whether it is of this key. Where it is not, `clash` says so, and this key is sure from then on. Only two
 * keys of one slice are not told apart so: one pair in 20,000 files of a million rows, and the first of them is forgotten.
 */
import { type HashWords, hashText } from '#src/sources/record-hash.ts';

/** Of a key that is sure, although nothing has been met of it. */
const metNothing = 1;

export class KeyTable {
  readonly #staged = new Slots(2);
  readonly #sure = new Slots(3);
  readonly #words: HashWords = { ...keySeed };

  /** 0, or `metNothing`, for nothing. That of a staged row may be another key's. */
  get(key: string): number {
    this.#hash(key);
    return this.#sure.get(this.#words) || this.#staged.get(this.#words);
  }

  /** @param value above `metNothing`. @param isStaged whether the value names a row that the ledger has. */
  set(key: string, value: number, isStaged: boolean): void {
    this.#hash(key);
    const isSure = !isStaged || this.#sure.get(this.#words) !== 0;
    (isSure ? this.#sure : this.#staged).set(this.#words, value);
  }

  /** The row that `get` told of is another key's. */
  clash(key: string): void {
    this.#hash(key);
    this.#sure.set(this.#words, metNothing);
  }

  #hash(key: string): void {
    hashText(key, keySeed, this.#words);
  }
}

const keySeed: HashWords = { a: 0, b: 0, c: 0, d: 0 };

interface Part {
  slots: Uint32Array;
  count: number;
}

/** A power of two. */
const partCount = 256;
const slotsAtFirst = 8;
const growth = 1.25;
/** Of keys to slots. */
const loadMax = 0.85;

/**
 * A hash table that grows part by part, so that there is never a second copy of all. Its parts begin with different sizes: so they do not
 * all grow at once, and the table is three quarters full whatever it holds.
 */
class Slots {
  readonly #width: 2 | 3;
  readonly #parts: readonly Part[];

  /** @param width words of a slot: one or two of the hash, and the value; 0 where it is free. */
  constructor(width: 2 | 3) {
    this.#width = width;
    this.#parts = Array.from({ length: partCount }, (_, index) => ({
      slots: new Uint32Array(Math.round(slotsAtFirst * growth ** (index / partCount)) * width),
      count: 0,
    }));
  }

  /** 0 for none. */
  get(words: HashWords): number {
    const { slots } = this.#partOf(words);
    return slots[this.#find(slots, words.b >>> 0, words.a >>> 0) + this.#width - 1] ?? 0;
  }

  set(words: HashWords, value: number): void {
    const part = this.#partOf(words);
    const isNew = this.#put(part.slots, words.b >>> 0, words.a >>> 0, value);
    if (!isNew) return;
    part.count += 1;
    if (part.count > (part.slots.length / this.#width) * loadMax) this.#grow(part);
  }

  #partOf({ c }: HashWords): Part {
    return this.#parts[c & (partCount - 1)] as Part;
  }

  #put(slots: Uint32Array, low: number, high: number, value: number): boolean {
    const at = this.#find(slots, low, high);
    const last = at + this.#width - 1;
    const isNew = slots[last] === 0;
    slots[at] = low;
    if (last > at + 1) slots[at + 1] = high;
    slots[last] = value;
    return isNew;
  }

  /** Where the slot of these words begins, or a free one for them. */
  #find(slots: Uint32Array, low: number, high: number): number {
    const width = this.#width;
    let at = (low % (slots.length / width)) * width;
    // Ends at a free slot: some always are.
    for (;;) {
      if (slots[at + width - 1] === 0) return at;
      if (slots[at] === low && (width === 2 || slots[at + 1] === high)) return at;
      at = at + width === slots.length ? 0 : at + width;
    }
  }

  #grow(part: Part): void {
    const width = this.#width;
    const old = part.slots;
    part.slots = new Uint32Array(Math.ceil((old.length / width) * growth) * width);
    for (let at = 0; at < old.length; at += width) {
      const value = old[at + width - 1] as number;
      if (value !== 0) this.#put(part.slots, old[at] as number, old[at + 1] as number, value);
    }
  }
}
