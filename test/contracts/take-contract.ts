/** Takes: what a feed has taken from elsewhere is known again, and a take that was cut off can be told. */
import { expect, test } from 'vitest';
import type { SeenFile, TakenFile, TakenUrl } from '#src/ledger/takes.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

function taken(path: string, modifiedAtMs: number, parts: Partial<TakenFile> = {}): TakenFile {
  return {
    feed: 'crm',
    path,
    fingerprint: `print ${path} ${modifiedAtMs}`,
    modifiedAtMs,
    sha256: `sha of ${path}`,
    takenAtMs: 1_000,
    ...parts,
  };
}

const seen = ({ path, fingerprint, modifiedAtMs }: TakenFile): SeenFile => ({ path, fingerprint, modifiedAtMs });
const anyPath = (): boolean => true;
const dayMs = 86_400_000;
const answer: TakenUrl = {
  feed: 'crm',
  urlHash: 'hash-1',
  answeredHash: 'place-1',
  etag: '"v1"',
  lastModified: null,
  sha256: 'sha-1',
  takenAtMs: 1_000,
};

export function takeContract(open: OpenLedger): void {
  test('a file that was taken is known by its path and fingerprint, by its own feed', async () => {
    const { ledger, reopen } = await openForTest(open);
    const file = taken('/exports/a.csv', 10);
    await ledger.takes.noteFile(file);
    const other = await reopen();
    const asked = [file, taken('/exports/b.csv', 10)];
    expect(await other.takes.knownFiles('crm', asked, 1_000)).toEqual(new Set(['/exports/a.csv']));
    expect(await other.takes.knownFiles('crm', [{ ...file, fingerprint: 'changed' }], 1_000)).toEqual(new Set());
    expect(await other.takes.knownFiles('hr', asked, 1_000)).toEqual(new Set());
    expect(await other.takes.file('crm', '/exports/a.csv')).toEqual(file);
    expect(await other.takes.file('crm', '/exports/b.csv')).toBeNull();
  });

  test('the newest is the one modified last, then the last by path', async () => {
    const { ledger } = await openForTest(open);
    expect(await ledger.takes.newestFile('crm', anyPath)).toBeNull();
    for (const file of [taken('/b', 20), taken('/c', 20), taken('/z', 10)]) await ledger.takes.noteFile(file);
    await ledger.takes.noteFile(taken('/y', 99, { feed: 'hr' }));
    expect(await ledger.takes.newestFile('crm', anyPath)).toEqual(taken('/c', 20));
  });

  test('the newest is looked for among the paths that are wanted', async () => {
    const { ledger } = await openForTest(open);
    const names = Array.from({ length: 501 }, (_, index) => `/moved/${index}`);
    for (const [index, path] of names.entries()) await ledger.takes.noteFile(taken(path, 100 + index));
    await ledger.takes.noteFile(taken('/here/a', 10));
    expect(await ledger.takes.newestFile('crm', (path) => path.startsWith('/here/'))).toEqual(taken('/here/a', 10));
    expect(await ledger.takes.newestFile('crm', () => false)).toBeNull();
  });

  test('files that were not seen for long while others were are forgotten, never the newest', async () => {
    const { ledger } = await openForTest(open);
    const [newest, here, gone] = [taken('/newest', 30), taken('/here', 20), taken('/gone', 10)];
    for (const file of [newest, here, gone]) await ledger.takes.noteFile(file);
    await ledger.takes.passOver('crm', [seen(taken('/over', 5))], 1_000);
    await ledger.takes.noteFile(taken('/away', 5, { feed: 'hr' }));
    const lookMs = 1_000 + 40 * dayMs;
    const pathsOf = async (): Promise<readonly string[]> => {
      const all = [newest, here, gone, taken('/over', 5)];
      return [...(await ledger.takes.knownFiles('crm', all, 0))];
    };
    // A feed that looks at nothing may find all of its files again.
    await ledger.forget(lookMs, 30 * dayMs);
    expect(await pathsOf()).toEqual(['/newest', '/here', '/gone', '/over']);
    await ledger.takes.knownFiles('crm', [here], lookMs);
    await ledger.forget(lookMs, 30 * dayMs);
    expect(await pathsOf()).toEqual(['/newest', '/here']);
    expect(await ledger.takes.file('hr', '/away')).not.toBeNull();
    // A clock that was ahead for a moment makes nothing old.
    await ledger.takes.noteFile(taken('/ahead', 1, { takenAtMs: lookMs + 400 * dayMs }));
    await ledger.forget(lookMs, 30 * dayMs);
    expect(await pathsOf()).toEqual(['/newest', '/here']);
  });

  test('a file that is taken again takes the place of what was noted for its path', async () => {
    const { ledger } = await openForTest(open);
    const [before, after] = [taken('/a', 10), taken('/a', 20, { sha256: 'other', takenAtMs: 2_000 })];
    await ledger.takes.noteFile(before);
    await ledger.takes.noteFile(after);
    expect(await ledger.takes.file('crm', '/a')).toEqual(after);
    expect(await ledger.takes.knownFiles('crm', [before], 2_000)).toEqual(new Set());
  });

  test('a file that is passed over is known, and never the newest taken', async () => {
    const { ledger } = await openForTest(open);
    const [older, newer] = [taken('/old', 10), taken('/new', 20)];
    await ledger.takes.noteFile(newer);
    // Something older came under the name of what was taken: that one stays remembered as the newest.
    const replaced = taken('/new', 5);
    await ledger.takes.passOver('crm', [seen(older), seen(replaced)], 3_000);
    expect(await ledger.takes.knownFiles('crm', [older, replaced], 3_000)).toEqual(new Set(['/old', '/new']));
    expect(await ledger.takes.file('crm', '/old')).toBeNull();
    expect(await ledger.takes.newestFile('crm', anyPath)).toMatchObject({ path: '/new', modifiedAtMs: 20 });
  });

  test('of a URL the last answer is remembered, until the feed takes from another one', async () => {
    const { ledger } = await openForTest(open);
    expect(await ledger.takes.url('crm', 'hash-1')).toBeNull();
    await ledger.takes.noteUrl(answer);
    await ledger.takes.noteUrl({ ...answer, feed: 'hr', etag: null, lastModified: 'yesterday' });
    expect(await ledger.takes.url('crm', 'hash-1')).toEqual(answer);
    expect(await ledger.takes.url('hr', 'hash-1')).toMatchObject({ etag: null, lastModified: 'yesterday' });
    await ledger.takes.noteUrl({ ...answer, urlHash: 'hash-2', sha256: 'sha-2' });
    expect(await ledger.takes.url('crm', 'hash-1')).toBeNull();
    expect(await ledger.takes.url('crm', 'hash-2')).toMatchObject({ sha256: 'sha-2' });
  });

  test('a beginning stands until what was taken is noted', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.takes.begin('crm', { sha256: 'one', begunAtMs: 1 });
    await ledger.takes.begin('crm', { sha256: 'two', begunAtMs: 2 });
    await ledger.takes.begin('hr', { sha256: 'three', begunAtMs: 3 });
    const other = await reopen();
    expect(await other.takes.begun('crm')).toEqual({ sha256: 'two', begunAtMs: 2 });
    await ledger.takes.noteFile(taken('/a', 10));
    expect(await other.takes.begun('crm')).toBeNull();
    await ledger.takes.noteUrl({ ...answer, feed: 'hr' });
    expect(await other.takes.begun('hr')).toBeNull();
  });
}
