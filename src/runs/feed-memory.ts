/**
 * What a feed knows of its keys, for the time of one staging: read once from the ledger, in typed arrays of 14 to 18 bytes a key.
 *
 * A row whose hash is here is unchanged, and costs a look. What the file has met of a key is kept here, too, so that a key that
 * comes twice is noticed: known keys by their *place* (their rank among the numbers of the feed's keys), others by a hash of the
 * key (`key-table.ts`).
 *
 * Never here, and so never taken for unchanged without being asked for: keys whose write is on its way or in doubt, keys that must
 * be planned whatever their row says, and hashes of which two keys share 64 bits.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import type { KeysOfFile, StagingLedger } from '#src/ledger/staging.ts';
import type { HashWords } from '#src/sources/record-hash.ts';
import { KeyTable } from './key-table.ts';

/** What a file has met of a key: the line of a row, or the position of a staged one. */
export interface Met {
  readonly kind: 'unchanged' | 'dead' | 'staged';
  readonly at: number;
}

export type MemoryReads = Pick<StagingLedger, 'feedRevision' | 'knownPage' | 'numbersInDoubt' | 'knownKeyCount'>;

const kinds = ['unchanged', 'dead', 'staged'] as const;
/** Of no kind: nothing was met. */
const contested = 1;
/** A line beyond is reported as this one: a file of 2 GiB has fewer, unless it is blank lines alone. */
const atMax = 2 ** 30 - 1;
/** Of slots to keys: a hash that is not there is then found missing within a line of the processor's cache, mostly. */
const slotsPerKey = 1.3;
const keysPerPage = 2_000;

/** Reads what the feed knows. @param readsHeld whether rows with held fields are read, whatever they say. */
export async function readFeedMemory(ledger: MemoryReads, feed: string, readsHeld: boolean): Promise<FeedMemory> {
  const revision = await ledger.feedRevision(feed);
  const memory = new FeedMemory(
    await ledger.knownKeyCount(feed),
    revision,
    new Set(await ledger.numbersInDoubt()),
    readsHeld,
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
  readonly #readsHeld: boolean;
  /** By hash: one more than the place of a key; 0 where there is none. */
  readonly #slots: Uint32Array;
  /** By place: 64 bits of the hash of its row. They count where a slot has the place. */
  readonly #hashes: Uint32Array;
  /** Places in a slot whose hash another key shares. */
  readonly #shared = new Set<number>();
  readonly #numbers = new GrowingNumbers();
  /** By place. */
  readonly #met: Uint32Array;
  readonly #held = new Set<number>();
  readonly #others = new KeyTable();
  /** Keys that the feed has come to know since the memory was read. */
  readonly #late = new Map<string, number>();
  /** Numbers of keys of rows that cannot be used: the file has them, and no row of theirs was met. */
  readonly #seen = new Set<number>();

  constructor(keyCount: number, revision: number, inDoubt: ReadonlySet<number>, readsHeld: boolean) {
    this.#revision = revision;
    this.#inDoubt = inDoubt;
    this.#readsHeld = readsHeld;
    this.#slots = new Uint32Array(Math.ceil(keyCount * slotsPerKey) + 8);
    this.#hashes = new Uint32Array(keyCount * 2);
    this.#met = new Uint32Array(keyCount);
  }

  /** How many keys the feed knows. */
  get keyCount(): number {
    return this.#numbers.count;
  }

  /** Takes the next page, in the order of the keys' numbers. */
  enter({ numbers, rowHashes, held }: Page): void {
    // Keys that were settled while the pages were read: they stay unknown, and the feed's revision tells.
    const count = Math.min(numbers.length, this.#met.length - this.keyCount);
    const bytes = new DataView(rowHashes.buffer, rowHashes.byteOffset, rowHashes.byteLength);
    const heldNumbers = new Set(held);
    for (let index = 0; index < count; index++) {
      const number = numbers[index] ?? 0;
      const place = this.keyCount;
      this.#numbers.push(number);
      if (heldNumbers.has(number)) {
        this.#held.add(place);
        if (this.#readsHeld) continue;
      }
      if (!this.#inDoubt.has(number))
        this.#put(bytes.getUint32(index * 16, true), bytes.getUint32(index * 16 + 4, true), place);
    }
  }

  #put(low: number, high: number, place: number): void {
    if (low === 0 && high === 0) return;
    const slot = this.#slotOf(low, high);
    const taken = this.#slots[slot] as number;
    if (taken === 0) {
      this.#slots[slot] = place + 1;
      this.#hashes[place * 2] = low;
      this.#hashes[place * 2 + 1] = high;
    } else if (taken !== place + 1) this.#shared.add(taken - 1);
  }

  /** The slot of the place with this hash, or a free one. */
  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    let slot = low % slots.length;
    // Ends at a free slot: there are always more slots than keys.
    for (;;) {
      const taken = slots[slot] as number;
      if (taken === 0) return slot;
      const at = (taken - 1) * 2;
      if (hashes[at] === low && hashes[at + 1] === high) return slot;
      slot = slot + 1 === slots.length ? 0 : slot + 1;
    }
  }

  /** Moves the slots behind it up, as far as they were put there because this one was taken. */
  #free(freed: number): void {
    const slots = this.#slots;
    let free = freed;
    // Ends at a free slot, as above.
    for (let slot = free + 1; ; slot++) {
      if (slot >= slots.length) slot = 0;
      const taken = slots[slot] as number;
      if (taken === 0) break;
      const home = (this.#hashes[(taken - 1) * 2] as number) % slots.length;
      const isBehind = free <= slot ? home > free && home <= slot : home > free || home <= slot;
      if (isBehind) continue;
      slots[free] = taken;
      free = slot;
    }
    slots[free] = 0;
  }

  /** The place of the key whose settled row has this hash; -1 for none. */
  find(hash: HashWords): number {
    const place = (this.#slots[this.#slotOf(hash.a >>> 0, hash.b >>> 0)] as number) - 1;
    return this.#shared.size > 0 && this.#shared.has(place) ? -1 : place;
  }

  /** The row of a known key looks like this from now on. */
  refresh(place: number, now: HashWords): void {
    // A hash that two keys share stays so: what has it is compared, and not taken for unchanged.
    if (this.#shared.has(place)) return;
    const slot = this.#slotOf(this.#hashes[place * 2] as number, this.#hashes[place * 2 + 1] as number);
    if (this.#slots[slot] === place + 1) this.#free(slot);
    if (!this.#inDoubt.has(this.numberAt(place))) this.#put(now.a >>> 0, now.b >>> 0, place);
  }

  /** The place of a key by its number; -1 where it was not known when the memory was read. */
  placeOf(number: number): number {
    let low = 0;
    let high = this.keyCount - 1;
    // Halves what is left each time.
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#numbers.at(middle);
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  numberAt(place: number): number {
    return this.#numbers.at(place);
  }

  /** Whether fields of the key wait for a person. */
  isHeld(place: number): boolean {
    return this.#held.size > 0 && this.#held.has(place);
  }

  hasMet(place: number): boolean {
    return this.#met[place] !== 0;
  }

  /** Rows with these keys are looked at together: until `release`, the places count as met. */
  contest(places: Iterable<number>): void {
    for (const place of places) if (this.#met[place] === 0) this.#met[place] = contested;
  }

  release(places: Iterable<number>): void {
    for (const place of places) if (this.#met[place] === contested) this.#met[place] = 0;
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
    else this.#others.set(key, value, kind === 'staged');
    if (place < 0 && number !== null) this.#late.set(key, number);
  }

  /** What `metOf` told of a key that it does not know is of another key, as the staged row shows. */
  mistook(key: string): void {
    this.#others.clash(key);
  }

  /** The file has the key of that number, in a row of which nothing else is known. */
  see(number: number | null): void {
    if (number !== null) this.#seen.add(number);
  }

  forget(place: number): void {
    this.#met[place] = 0;
  }

  /** Which of the keys that the feed knows the file holds, and, where it is to hold all, which it lacks. */
  keysOfFile(isFull = false): KeysOfFile {
    const late = [...this.#late].map(([key, number]) => ({ number, met: unpacked(this.#others.get(key)) }));
    const last = Math.max(this.#numbers.at(this.keyCount - 1), ...late.map(({ number }) => number));
    const unchanged = emptyBitmap(last);
    const met = emptyBitmap(last);
    const missing = isFull ? emptyBitmap(last) : null;
    for (let place = 0; place < this.keyCount; place++) {
      const value = this.#met[place] as number;
      const number = this.#numbers.at(place);
      if (value === 0) {
        if (this.#seen.has(number)) enterBit(met, number);
        else if (missing !== null) enterBit(missing, number);
        continue;
      }
      enterBit(met, number);
      if (value >>> 30 === 1) enterBit(unchanged, number);
    }
    for (const one of late) {
      enterBit(met, one.number);
      if (one.met?.kind === 'unchanged') enterBit(unchanged, one.number);
    }
    return { unchanged, met, missing };
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
        const slot = this.#slotOf(bytes.getUint32(index * 16, true), bytes.getUint32(index * 16 + 4, true));
        const known = (this.#slots[slot] as number) - 1;
        if (place >= 0 && known !== place && !this.#shared.has(known)) note(place);
      }
    }
    return moved;
  }
}

const numbersPerBlock = 1_024;

/** Numbers that only grow. Keys that one file brought follow each other: of a block of such numbers the first is enough. */
class GrowingNumbers {
  readonly #firsts: number[] = [];
  /** Null where the numbers of the block follow its first one. */
  readonly #blocks: (Uint32Array | null)[] = [];
  count = 0;

  push(number: number): void {
    const within = this.count % numbersPerBlock;
    const block = (this.count - within) / numbersPerBlock;
    if (within === 0) {
      this.#firsts.push(number);
      this.#blocks.push(null);
    }
    const first = this.#firsts[block] as number;
    if (this.#blocks[block] === null && number !== first + within)
      this.#blocks[block] = Uint32Array.from({ length: numbersPerBlock }, (_, index) => first + index);
    const others = this.#blocks[block] ?? null;
    if (others !== null) others[within] = number;
    this.count++;
  }

  /** 0 where there is none. */
  at(index: number): number {
    if (index < 0 || index >= this.count) return 0;
    const within = index % numbersPerBlock;
    const block = (index - within) / numbersPerBlock;
    return this.#blocks[block]?.[within] ?? (this.#firsts[block] as number) + within;
  }
}

function packed(kind: Met['kind'], at: number): number {
  return ((kinds.indexOf(kind) + 1) * 2 ** 30 + Math.min(at, atMax)) >>> 0;
}

function unpacked(value: number): Met | null {
  const kind = kinds[(value >>> 30) - 1];
  return kind === undefined ? null : { kind, at: value & atMax };
}
