/** Which files of a glob are taken. */
import { describe, expect, it } from 'vitest';
import type { SeenFile } from '#src/ledger/takes.ts';
import { chooseFiles } from '#src/takes/take-files.ts';

const file = (path: string, modifiedAtMs: number): SeenFile => ({ path, modifiedAtMs, fingerprint: `print ${path}` });
const files = [file('/b', 20), file('/a', 10), file('/d', 30), file('/c', 30)];
const choose = (kind: 'full' | 'delta', newestTaken: SeenFile | null = null, some = files, filesMax = 100) => {
  const { take, passOver, waitingCount } = chooseFiles({ kind, files: some, newestTaken, filesMax });
  return { take: take.map(({ path }) => path), passOver: passOver.map(({ path }) => path), waitingCount };
};

describe('of files that each hold all', () => {
  it('the newest is taken, ties by name; the older ones are passed over', () => {
    expect(choose('full')).toEqual({ take: ['/d'], passOver: ['/a', '/b', '/c'], waitingCount: 0 });
  });

  it('none is taken that is older than the one taken last', () => {
    expect(choose('full', file('/e', 30))).toEqual({ take: [], passOver: ['/a', '/b', '/c', '/d'], waitingCount: 0 });
    expect(choose('full', file('/c', 30)).take).toEqual(['/d']);
    expect(choose('full', null, []).take).toEqual([]);
  });
});

describe('of files that hold what changed', () => {
  it('all are taken, oldest first, also those that came late', () => {
    expect(choose('delta', file('/e', 30)).take).toEqual(['/a', '/b', '/c', '/d']);
  });

  it('those beyond the limit wait for the next time', () => {
    expect(choose('delta', null, files, 3)).toEqual({ take: ['/a', '/b', '/c'], passOver: [], waitingCount: 1 });
  });
});
