/** What a feed knows, in typed arrays: as a map would know it, whatever is entered, refreshed and met. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import { type FeedMemory, type MemoryReads, readFeedMemory } from '#src/runs/feed-memory.ts';
import { type HashWords, hashOfName } from '#src/sources/record-hash.ts';

interface Known {
  readonly number: number;
  /** 22 characters; null: the next row must be planned. */
  readonly hash: string | null;
  readonly isHeld?: boolean;
}

interface Feed {
  keys: readonly Known[];
  inDoubt: readonly number[];
  revision: number;
}

const newHash = (): string => randomBytes(16).toString('base64url');

function readsOf(feed: Feed): MemoryReads {
  return {
    feedRevision: async () => feed.revision,
    numbersInDoubt: async () => feed.inDoubt,
    knownKeyCount: async () => feed.keys.length,
    knownPage: async (_, after, limit) => {
      const page = feed.keys.filter(({ number }) => number > after).slice(0, limit);
      const rowHashes = Buffer.concat(page.map(({ hash }) => Buffer.from(hash ?? 'A'.repeat(22), 'base64url')));
      const held = Uint32Array.from(page.flatMap(({ number, isHeld }) => (isHeld === true ? [number] : [])));
      return { numbers: Uint32Array.from(page.map(({ number }) => number)), rowHashes, held };
    },
  };
}

function feedOf(keys: readonly Known[], given: Partial<Feed> = {}): Feed {
  return { keys, inDoubt: [], revision: 1, ...given };
}

const read = (feed: Feed, adopt = false): Promise<FeedMemory> => readFeedMemory(readsOf(feed), 'f', adopt);
const wordsOf = (hash: string | null): HashWords => hashOfName(hash ?? '');

function known(count: number, from = 1, step = 3): readonly Known[] {
  return Array.from({ length: count }, (_, index) => ({ number: from + index * step, hash: newHash() }));
}

describe('the memory of a feed', () => {
  it('finds each settled row by its hash, over pages and wherever its key stands, and no other', async () => {
    const keys = known(5_000);
    const memory = await read(feedOf(keys));
    for (const { number, hash } of keys) {
      expect(memory.numberAt(memory.find(wordsOf(hash)))).toBe(number);
      expect(memory.numberAt(memory.placeOf(number))).toBe(number);
    }
    expect(memory.find(wordsOf(newHash()))).toBe(-1);
    expect([0, 2, 3, 20_000].map((number) => memory.placeOf(number))).toEqual([-1, -1, -1, -1]);
  });

  it('knows the number of each place and the place of each number, whether they follow each other or not', async () => {
    const numbers = [...Array.from({ length: 2_500 }, (_, index) => 10 + index), 2_600, 2_601, 9_000, 2 ** 32 - 1];
    const keys = numbers.map((number) => ({ number, hash: newHash() }));
    const memory = await read(feedOf(keys));
    expect(numbers.map((_, place) => memory.numberAt(place))).toEqual(numbers);
    expect(numbers.map((number) => memory.placeOf(number))).toEqual([...numbers.keys()]);
    expect([9, 2_510, 2_602, 2 ** 32 - 2].map((number) => memory.placeOf(number))).toEqual([-1, -1, -1, -1]);
    expect([-1, numbers.length].map((place) => memory.numberAt(place))).toEqual([0, 0]);
  });

  it('knows nothing of a key in doubt, of one that must be planned, and of a hash that two keys share', async () => {
    const [one, two, three, four] = known(4) as [Known, Known, Known, Known];
    const memory = await read(
      feedOf([{ ...one, hash: null }, two, three, { ...four, hash: two.hash }], { inDoubt: [three.number] }),
    );
    expect([one, two, three, four].map(({ hash }) => memory.find(wordsOf(hash)))).toEqual([-1, -1, -1, -1]);
    expect(memory.placeOf(three.number)).toBe(2);
  });

  it('knows a key with held fields, unless they are to be adopted', async () => {
    const keys = known(2).map((key, index) => ({ ...key, isHeld: index === 1 }));
    const usual = await read(feedOf(keys));
    expect(keys.map(({ hash }) => usual.isHeld(usual.find(wordsOf(hash))))).toEqual([false, true]);
    const adopting = await read(feedOf(keys), true);
    expect(keys.map(({ hash }) => adopting.find(wordsOf(hash)) >= 0)).toEqual([true, false]);
  });

  it('knows a refreshed row by its new hash alone, however many are refreshed', async () => {
    const refreshed = fc.array(fc.nat(39), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(refreshed, async (indices) => {
        const keys = known(40).map((key, index) => ({ ...key, hash: index % 5 === 0 ? null : key.hash }));
        const memory = await read(feedOf(keys));
        const now = keys.map(({ hash }) => hash);
        const old: string[] = [];
        for (const index of indices) {
          const before = now[index] ?? null;
          const next = newHash();
          memory.refresh(memory.placeOf(keys[index]?.number ?? 0), wordsOf(next));
          if (before !== null) old.push(before);
          now[index] = next;
        }
        for (const [index, hash] of now.entries()) if (hash !== null) expect(memory.find(wordsOf(hash))).toBe(index);
        for (const hash of old) expect(memory.find(wordsOf(hash))).toBe(-1);
      }),
      { numRuns: 50 },
    );
  });

  it('remembers what a file has met of each key, known or not, and which of the known ones it holds', async () => {
    const keys = known(100);
    const memory = await read(feedOf(keys));
    const others = Array.from({ length: 3_000 }, (_, index) => `new-${index}`);
    for (const [index, key] of others.entries()) {
      expect(memory.metOf(-1, key)).toBeNull();
      memory.meet(-1, key, { kind: 'staged', at: index + 1 });
    }
    for (const [index, key] of others.entries())
      expect(memory.metOf(-1, key)).toEqual({ kind: 'staged', at: index + 1 });
    memory.meetUnchanged(3, 17);
    memory.meet(4, 'four', { kind: 'dead', at: 18 });
    memory.meet(-1, 'late', { kind: 'unchanged', at: 19 }, 999);
    expect([memory.hasMet(3), memory.hasMet(4), memory.hasMet(5)]).toEqual([true, true, false]);
    expect(memory.metOf(3, '')).toEqual({ kind: 'unchanged', at: 17 });
    const { unchanged, met } = memory.keysOfFile();
    const numbers = [memory.numberAt(3), memory.numberAt(4), memory.numberAt(5), 999];
    expect(numbers.map((number) => [hasBit(unchanged, number), hasBit(met, number)])).toEqual([
      ...[
        [true, true],
        [false, true],
        [false, false],
        [true, true],
      ],
    ]);
    memory.meet(3, 'three', { kind: 'staged', at: 1 });
    expect(hasBit(memory.keysOfFile().unchanged, memory.numberAt(3))).toBe(false);
  });

  it('tells two keys apart that share the bits of a staged row, once that row has shown whose it is', async () => {
    const memory = await read(feedOf([]));
    const [one, other] = ['key-1207729', 'key-1240971'];
    memory.meet(-1, one, { kind: 'staged', at: 7 });
    expect(memory.metOf(-1, other)).toEqual({ kind: 'staged', at: 7 });
    memory.mistook(other);
    expect(memory.metOf(-1, other)).toBeNull();
    memory.meet(-1, other, { kind: 'staged', at: 8 });
    expect([memory.metOf(-1, one)?.at, memory.metOf(-1, other)?.at]).toEqual([7, 8]);
    memory.meet(-1, one, { kind: 'dead', at: 9 });
    memory.meet(-1, one, { kind: 'staged', at: 10 });
    expect([memory.metOf(-1, one)?.at, memory.metOf(-1, other)?.at]).toEqual([10, 8]);
  });

  it('never takes a row for unchanged by a hash that two keys share, refreshed or not', async () => {
    const [one, two, three] = known(3) as [Known, Known, Known];
    const memory = await read(feedOf([one, { ...two, hash: one.hash }, three]));
    const next = newHash();
    memory.refresh(0, wordsOf(next));
    memory.refresh(2, wordsOf(one.hash));
    expect([one.hash, next, three.hash].map((hash) => memory.find(wordsOf(hash)))).toEqual([-1, -1, -1]);
  });

  it('tells a line beyond what it can hold as the last it can', async () => {
    const memory = await read(feedOf(known(1)));
    memory.meetUnchanged(0, 2 ** 31);
    expect(memory.metOf(0, '')).toEqual({ kind: 'unchanged', at: 2 ** 30 - 1 });
  });
});

describe('what moved while a file was read', () => {
  it('is nothing while the revision stands, and else the keys taken for unchanged of which the feed knows something else', async () => {
    const keys = known(5);
    const feed = feedOf(keys);
    const memory = await read(feed);
    for (const [place] of keys.slice(0, 4).entries()) memory.meetUnchanged(place, place + 10);
    const refreshed = newHash();
    memory.refresh(0, wordsOf(refreshed));
    feed.keys = keys.map((key, index) => ({
      ...key,
      hash: [refreshed, key.hash, newHash(), null, newHash()][index] ?? null,
    }));
    expect(await memory.moved(readsOf(feed), 'f')).toEqual(new Map());
    feed.revision = 2;
    expect(await memory.moved(readsOf(feed), 'f')).toEqual(
      new Map([
        [2, 12],
        [3, 13],
      ]),
    );
  });

  it('is a key whose write went on its way meanwhile', async () => {
    const feed = feedOf(known(3));
    const memory = await read(feed);
    memory.meetUnchanged(1, 7);
    feed.inDoubt = feed.keys.map(({ number }) => number);
    expect(await memory.moved(readsOf(feed), 'f')).toEqual(new Map([[1, 7]]));
  });
});
