/**
 * What a feed knows of its keys, for the time of one staging: read once from the ledger, in typed arrays of about 25 bytes a key.
 *
 * A row whose hash is here is unchanged, and costs a look. What the file has met of a key is kept here, too, so that a key that
 * comes twice is noticed: known keys by their *place* (their rank among the numbers of the feed's keys), others by 64 bits of a
 * hash of the key. Where such a hash names a staged row, the ledger has the row itself to compare.
 *
 * Never here, and so never taken for unchanged without being asked for: keys whose write is on its way or in doubt, keys that must
 * be planned whatever their row says, and hashes of which two keys share 64 bits.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import type { KeysOfFile, StagingLedger } from '#src/ledger/staging.ts';
import type { HashWords } from '#src/sources/record-hash.ts';
import { hashText } from '#src/sources/record-hash.ts';

/** What a file has met of a key: the line of a row, or the position of a staged one. */
export interface Met {
  readonly kind: 'unchanged' | 'dead' | 'staged';
  readonly at: number;
}

export type MemoryReads = Pick<StagingLedger, 'feedRevision' | 'knownPage' | 'numbersInDoubt' | 'knownKeyCount'>;

const kinds = ['unchanged', 'dead', 'staged'] as const;
/** A line beyond is reported as this one: a file of 2 GiB has fewer, unless it is blank lines alone. */
const atMax = 2 ** 30 - 1;
const wordsPerSlot = 3;
/** Of slots to keys: a hash that is not there is then found missing within a line of the processor's cache, mostly. */
const slotsPerKey = 1.4;
const keysPerPage = 2_000;
/** A slot whose hash two keys share. */
const shared = 0xffffffff;

/** Reads what the feed knows. @param adopt whether keys with held fields are planned whatever their row says. */
export async function readFeedMemory(ledger: MemoryReads, feed: string, adopt: boolean): Promise<FeedMemory> {
  const revision = await ledger.feedRevision(feed);
  const memory = new FeedMemory(
    await ledger.knownKeyCount(feed),
    revision,
    new Set(await ledger.numbersInDoubt()),
    adopt,
  );
  for await (const page of pagesOf(ledger, feed)) memory.enter(page);
  return memory;
}

type Page = Awaited<ReturnType<MemoryReads['knownPage']>>;

/** Ends with the first short page: numbers only grow. Others get their turn between two pages. */
async function* pagesOf(ledger: MemoryReads, feed: string): AsyncGenerator<Page> {
  let after = 0;
  for (;;) {
    const page = await ledger.knownPage(feed, after, keysPerPage);
    yield page;
    if (page.numbers.length < keysPerPage) return;
    after = page.numbers[page.numbers.length - 1] ?? after;
    await nextTurn();
  }
}

export class FeedMemory {
  readonly #revision: number;
  readonly #inDoubt: ReadonlySet<number>;
  readonly #adopt: boolean;
  readonly #slotCount: number;
  /** 64 bits of a row's hash, and one more than the place of its key; 0 where there is none. */
  readonly #slots: Uint32Array;
  /** By place, growing. */
  #numbers: Uint32Array;
  #met: Uint32Array;
  #count = 0;
  readonly #held = new Set<number>();
  readonly #others = new KeyTable();
  /** Keys that the feed has come to know since the memory was read. */
  readonly #late = new Map<string, number>();

  constructor(keyCount: number, revision: number, inDoubt: ReadonlySet<number>, adopt: boolean) {
    this.#revision = revision;
    this.#inDoubt = inDoubt;
    this.#adopt = adopt;
    this.#slotCount = Math.ceil(keyCount * slotsPerKey) + 8;
    this.#slots = new Uint32Array(this.#slotCount * wordsPerSlot);
    this.#numbers = new Uint32Array(keyCount);
    this.#met = new Uint32Array(keyCount);
  }

  /** How many keys the feed knows. */
  get keyCount(): number {
    return this.#count;
  }

  /** Takes the next page, in the order of the keys' numbers. */
  enter({ numbers, rowHashes, held }: Page): void {
    // Keys that were settled while the pages were read: they stay unknown, and the feed's revision tells.
    const count = Math.min(numbers.length, this.#numbers.length - this.#count);
    const bytes = new DataView(rowHashes.buffer, rowHashes.byteOffset, rowHashes.byteLength);
    const heldNumbers = new Set(held);
    for (let index = 0; index < count; index++) {
      const number = numbers[index] ?? 0;
      const place = this.#count++;
      this.#numbers[place] = number;
      if (heldNumbers.has(number)) {
        this.#held.add(place);
        if (this.#adopt) continue;
      }
      if (!this.#inDoubt.has(number))
        this.#put(bytes.getUint32(index * 16, true), bytes.getUint32(index * 16 + 4, true), place);
    }
  }

  #put(low: number, high: number, place: number): void {
    if (low === 0 && high === 0) return;
    const slots = this.#slots;
    let slot = low % this.#slotCount;
    // Ends at a free slot: there are always more slots than keys.
    for (;;) {
      const at = slot * wordsPerSlot;
      const taken = slots[at + 2] ?? 0;
      if (taken === 0) {
        slots[at] = low;
        slots[at + 1] = high;
        slots[at + 2] = place + 1;
        return;
      }
      if (slots[at] === low && slots[at + 1] === high) {
        if (taken !== place + 1) slots[at + 2] = shared;
        return;
      }
      slot = slot + 1 === this.#slotCount ? 0 : slot + 1;
    }
  }

  /** Where a slot begins; -1 for none. */
  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    let slot = low % this.#slotCount;
    // Ends at a free slot, as above.
    for (;;) {
      const at = slot * wordsPerSlot;
      const taken = slots[at + 2] as number;
      if (taken === 0) return -1;
      if (slots[at] === low && slots[at + 1] === high) return at;
      slot = slot + 1 === this.#slotCount ? 0 : slot + 1;
    }
  }

  /** Moves the slots behind it up, as far as they were put there because this one was taken. */
  #free(at: number): void {
    const slots = this.#slots;
    let free = at / wordsPerSlot;
    // Ends at a free slot, as above.
    for (let slot = free + 1; ; slot++) {
      if (slot >= this.#slotCount) slot = 0;
      const from = slot * wordsPerSlot;
      if (slots[from + 2] === 0) break;
      const home = (slots[from] ?? 0) % this.#slotCount;
      const isBehind = free <= slot ? home > free && home <= slot : home > free || home <= slot;
      if (isBehind) continue;
      slots.copyWithin(free * wordsPerSlot, from, from + wordsPerSlot);
      free = slot;
    }
    slots[free * wordsPerSlot + 2] = 0;
  }

  /** The place of the key whose settled row has this hash; -1 for none. */
  find(hash: HashWords): number {
    const at = this.#slotOf(hash.a >>> 0, hash.b >>> 0);
    if (at < 0) return -1;
    const taken = this.#slots[at + 2] as number;
    return taken === shared ? -1 : taken - 1;
  }

  /** The row of a known key looks like this from now on. @param before how it looked; null where that was not known. */
  refresh(place: number, before: HashWords | null, now: HashWords): void {
    const at = before === null ? -1 : this.#slotOf(before.a >>> 0, before.b >>> 0);
    if (at >= 0 && this.#slots[at + 2] === place + 1) this.#free(at);
    if (!this.#inDoubt.has(this.numberAt(place))) this.#put(now.a >>> 0, now.b >>> 0, place);
  }

  /** The place of a key by its number; -1 where it was not known when the memory was read. */
  placeOf(number: number): number {
    let low = 0;
    let high = this.#count - 1;
    // Halves what is left each time.
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#numbers[middle] ?? 0;
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  numberAt(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  /** Whether fields of the key wait for a person. */
  isHeld(place: number): boolean {
    return this.#held.size > 0 && this.#held.has(place);
  }

  hasMet(place: number): boolean {
    return this.#met[place] !== 0;
  }

  /** An unchanged row of a known key, the first of it. */
  meetUnchanged(place: number, line: number): void {
    this.#met[place] = packed('unchanged', line);
  }

  /** What the file has met of a key. @param place -1 where the memory does not know it. */
  metOf(place: number, key: string): Met | null {
    return unpacked(place >= 0 ? (this.#met[place] ?? 0) : this.#others.get(key));
  }

  /** @param number of a key that the feed knows, though the memory does not. */
  meet(place: number, key: string, { kind, at }: Met, number: number | null = null): void {
    const value = packed(kind, at);
    if (place >= 0) this.#met[place] = value;
    else this.#others.set(key, value);
    if (place < 0 && number !== null) this.#late.set(key, number);
  }

  forget(place: number): void {
    this.#met[place] = 0;
  }

  /** Which of the keys that the feed knows the file holds. */
  keysOfFile(): KeysOfFile {
    const late = [...this.#late].map(([key, number]) => ({ number, met: unpacked(this.#others.get(key)) }));
    const last = Math.max(this.#numbers[this.#count - 1] ?? 0, ...late.map(({ number }) => number));
    const unchanged = emptyBitmap(last);
    const met = emptyBitmap(last);
    for (let place = 0; place < this.#count; place++) {
      const value = this.#met[place] as number;
      if (value === 0) continue;
      const number = this.#numbers[place] as number;
      enterBit(met, number);
      if (value >>> 30 === 1) enterBit(unchanged, number);
    }
    for (const one of late) {
      enterBit(met, one.number);
      if (one.met?.kind === 'unchanged') enterBit(unchanged, one.number);
    }
    return { unchanged, met };
  }

  /**
   * The places of keys whose rows were taken for unchanged, and of which the feed knows something else by now; with their lines.
   */
  async moved(ledger: MemoryReads, feed: string): Promise<ReadonlyMap<number, number>> {
    const moved = new Map<number, number>();
    const note = (place: number) => {
      const met = unpacked(this.#met[place] ?? 0);
      if (met?.kind === 'unchanged') moved.set(place, met.at);
    };
    for (const number of await ledger.numbersInDoubt()) note(this.placeOf(number));
    if ((await ledger.feedRevision(feed)) === this.#revision) return moved;
    for await (const { numbers, rowHashes } of pagesOf(ledger, feed)) {
      const bytes = new DataView(rowHashes.buffer, rowHashes.byteOffset, rowHashes.byteLength);
      for (const [index, number] of numbers.entries()) {
        const place = this.placeOf(number);
        const at = this.#slotOf(bytes.getUint32(index * 16, true), bytes.getUint32(index * 16 + 4, true));
        const taken = at < 0 ? 0 : (this.#slots[at + 2] ?? 0);
        if (place >= 0 && taken !== place + 1 && taken !== shared) note(place);
      }
    }
    return moved;
  }
}

function packed(kind: Met['kind'], at: number): number {
  return ((kinds.indexOf(kind) + 1) * 2 ** 30 + Math.min(at, atMax)) >>> 0;
}

function unpacked(value: number): Met | null {
  const kind = kinds[(value >>> 30) - 1];
  return kind === undefined ? null : { kind, at: value & atMax };
}

const keySeed: HashWords = { a: 0, b: 0, c: 0, d: 0 };

/**
 * Values by keys, of which 64 bits of a hash are kept. It grows part by part, so that there is never a second copy of all.
 */
class KeyTable {
  readonly #parts = Array.from({ length: 64 }, () => ({ slots: new Uint32Array(16 * wordsPerSlot), count: 0 }));
  readonly #words: HashWords = { ...keySeed };

  /** 0 for none. */
  get(key: string): number {
    const { slots, at } = this.#at(key);
    return slots[at + 2] ?? 0;
  }

  /** @param value not 0. */
  set(key: string, value: number): void {
    const { part, slots, at } = this.#at(key);
    if (slots[at + 2] === 0) part.count += 1;
    slots[at] = this.#words.a;
    slots[at + 1] = this.#words.b;
    slots[at + 2] = value;
    if (part.count * 5 > (slots.length / wordsPerSlot) * 4) grow(part);
  }

  #at(key: string) {
    hashText(key, keySeed, this.#words);
    const part = this.#parts[this.#words.c & 63] as { slots: Uint32Array; count: number };
    const { slots } = part;
    return { part, slots, at: freeOrEqual(slots, this.#words.a >>> 0, this.#words.b >>> 0) };
  }
}

/** Ends at a free slot: at most four fifths are taken. */
function freeOrEqual(slots: Uint32Array, low: number, high: number): number {
  const count = slots.length / wordsPerSlot;
  let slot = low % count;
  for (;;) {
    const at = slot * wordsPerSlot;
    if (slots[at + 2] === 0 || (slots[at] === low && slots[at + 1] === high)) return at;
    slot = slot + 1 === count ? 0 : slot + 1;
  }
}

function grow(part: { slots: Uint32Array; count: number }): void {
  const old = part.slots;
  part.slots = new Uint32Array(Math.ceil((old.length / wordsPerSlot) * 1.25) * wordsPerSlot);
  for (let at = 0; at < old.length; at += wordsPerSlot) {
    if (old[at + 2] === 0) continue;
    const free = freeOrEqual(part.slots, old[at] ?? 0, old[at + 1] ?? 0);
    part.slots.set(old.subarray(at, at + wordsPerSlot), free);
  }
}
