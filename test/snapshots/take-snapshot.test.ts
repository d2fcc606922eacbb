/** Takes snapshots from a service: the walk, and that it is all or nothing. */
import { describe, expect, test } from 'vitest';
import { takeSnapshot } from '#src/snapshots/take-snapshot.ts';
import { startTestService } from '#test/service/test-service.ts';
import { number, numbers } from './support/numbers.ts';
import { openSnapshotBench, startMs, startNumberService } from './support/snapshot-bench.ts';

const idsOf = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it was fulfilled',
    (error: unknown) => error,
  );

describe('the walk', () => {
  test('walks the pages until the token is null or absent', async () => {
    for (const [pageNumbers, pages] of [
      [null, 1],
      [3, 3],
      [7, 1],
    ] as const) {
      const service = await startTestService({ seedPhoneNumbers: 7, pageNumbers });
      const bench = await openSnapshotBench(service.origin);
      const { record } = await bench.take();
      expect(record).toMatchObject({ count: 7, pages, changed: true, added: 0, removed: 0, changedNumbers: 0 });
      const listed = await service.call('GET', '/v1/phone-numbers?pageToken=');
      expect(await bench.ledger.snapshots.numbersOf('workspace', record.takenAtMs)).toHaveLength(7);
      if (pageNumbers === null) expect(JSON.parse(bench.read('latest.json')).data).toEqual(listed.body.data);
    }
  });

  test('ignores totalItems: it lies, and nothing is missing', async () => {
    const service = await startNumberService(numbers(9));
    service.pageSize = 2;
    const { record } = await (await openSnapshotBench(service.origin)).take();
    // The service says 4 on each page.
    expect(record).toMatchObject({ count: 9, pages: 5 });
  });

  test.each([
    ['repeatToken', 'pageTokenRepeated'],
    ['nonStringToken', 'pageTokenNotText'],
  ])('a repeated token or a non-string token fails the walk: %s', async (fault, code) => {
    const service = await startTestService({ seedPhoneNumbers: 5, pageNumbers: 2, faults: [`numbers:${fault}`] });
    const bench = await openSnapshotBench(service.origin);
    expect(await failureOf(bench.take())).toMatchObject({ kind: 'unreachable', code });
    expect(await bench.ledger.snapshots.at('workspace')).toBeNull();
    expect(bench.files()).toEqual([]);
  });

  test('more than 1,000 pages fail the walk', async () => {
    const service = await startNumberService(numbers(1_001));
    service.pageSize = 1;
    const bench = await openSnapshotBench(service.origin);
    expect(await failureOf(bench.take())).toMatchObject({ kind: 'unreachable', code: 'tooManyPages' });
    expect(service.asked).toHaveLength(1_000);
    expect(bench.files()).toEqual([]);
  });

  test('a page that fails is asked for again by its own token, not from the start', async () => {
    const service = await startNumberService(numbers(12));
    service.pageSize = 2;
    let failures = 0;
    service.before = (page, response) => {
      if (page !== 5 || failures === 3) return false;
      failures += 1;
      response.socket?.destroy();
      return true;
    };
    const { record } = await (await openSnapshotBench(service.origin)).take();
    expect(record).toMatchObject({ count: 12, pages: 6 });
    expect(service.asked).toEqual([1, 2, 3, 4, 5, 5, 5, 5, 6]);
  });

  test('items are unique by id: the same twice is one, and of two that differ the later one counts and is noted', async () => {
    const service = await startNumberService([number(1), number(2), number(1), number(3), number(2, { name: 'New' })]);
    service.pageSize = 2;
    const { record, end } = await (await openSnapshotBench(service.origin)).take();
    expect(record.count).toBe(3);
    expect(end.message).toContain('1 number was returned twice with different content');
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const shown = await bench.ledger.snapshots.numbersOf('workspace', record.takenAtMs);
    expect(shown).toEqual([number(1), number(2, { name: 'New' }), number(3)]);
  });

  test('a list that changes while it is walked gives what the pages showed, each number once', async () => {
    const service = await startNumberService(numbers(6));
    service.pageSize = 2;
    service.before = (page) => {
      // One is put in front: the last one of the page before comes again.
      if (page === 2) service.numbers = [number(50), ...numbers(6)];
      return false;
    };
    const bench = await openSnapshotBench(service.origin);
    const { record } = await bench.take();
    expect(idsOf(await bench.ledger.snapshots.numbersOf('workspace', record.takenAtMs))).toEqual([
      'PN1',
      'PN2',
      'PN3',
      'PN4',
      'PN5',
      'PN6',
    ]);
    service.before = () => false;
    bench.hour(1);
    expect((await bench.take()).record).toMatchObject({ count: 7, added: 1, removed: 0 });
  });

  test('a service without the list is told so', async () => {
    const service = await startNumberService([]);
    service.before = (_page, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    const bench = await openSnapshotBench(service.origin);
    expect(await failureOf(bench.take())).toMatchObject({ kind: 'unreachable', code: 'noPhoneNumberList' });
  });

  test('ten thousand numbers at once, without a page, are taken, and an unchanged second time costs a row', async () => {
    const service = await startNumberService(numbers(10_000));
    const bench = await openSnapshotBench(service.origin);
    expect((await bench.take()).record).toMatchObject({ count: 10_000, pages: 1 });
    bench.hour(1);
    expect((await bench.take()).record).toMatchObject({ count: 10_000, changed: false, contentOfMs: startMs });
    expect(bench.files()).toEqual(['20261121T140000Z.json', 'latest.json']);
  });
});

describe('all or nothing', () => {
  test('A failed walk never replaces the last good one', async () => {
    const service = await startNumberService(numbers(6));
    service.pageSize = 2;
    const bench = await openSnapshotBench(service.origin);
    const { record } = await bench.take();
    const latest = bench.read('latest.json');
    service.numbers = numbers(40);
    service.before = (page, response) => {
      if (page === 5) response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
      return page === 5;
    };
    bench.hour(1);
    expect(await failureOf(bench.take())).toMatchObject({ kind: 'unreachable', code: 'serviceFailing' });
    expect(await bench.ledger.snapshots.at('workspace')).toEqual(record);
    expect(bench.read('latest.json')).toBe(latest);
    expect(bench.files()).toEqual(['20261121T140000Z.json', 'latest.json']);
    expect(await bench.ledger.deliveries.nextDue(Number.MAX_SAFE_INTEGER, 9)).toEqual([]);
  });

  test('a refused key is told as such, and nothing is published', async () => {
    const service = await startTestService({ seedPhoneNumbers: 2 });
    const bench = await openSnapshotBench(service.origin, { apiKey: 'another' });
    expect(await failureOf(bench.take())).toMatchObject({ kind: 'auth', code: 'keyRefused' });
    expect(await bench.ledger.snapshots.at('workspace')).toBeNull();
  });

  test('a walk that is given up in the middle publishes nothing', async () => {
    const service = await startNumberService(numbers(6));
    service.pageSize = 2;
    const giveUp = new AbortController();
    service.before = (page) => {
      if (page === 2) giveUp.abort(new Error('stopped'));
      return page === 2;
    };
    const bench = await openSnapshotBench(service.origin);
    expect(await failureOf(takeSnapshot(bench.parts, { user: null }, giveUp.signal))).toMatchObject({
      message: 'stopped',
    });
    expect(await bench.ledger.snapshots.at('workspace')).toBeNull();
  });
});
