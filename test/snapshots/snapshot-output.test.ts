/** What a snapshot leaves: its files, and the changes that it tells. */
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeSnapshot } from '#src/snapshots/take-snapshot.ts';
import { startTestService } from '#test/service/test-service.ts';
import { number, numbers, user } from './support/numbers.ts';
import { hourMs, openSnapshotBench, startMs, startNumberService } from './support/snapshot-bench.ts';

const _idsOf = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it was fulfilled',
    (error: unknown) => error,
  );

describe('the files', () => {
  test('a snapshot is a file named after its instant, latest.json is the newest, and nobody else may read them', async () => {
    const service = await startNumberService(numbers(3));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const text = bench.read('20261121T140000Z.json');
    expect(JSON.parse(text)).toEqual({ takenAt: '2026-11-21T14:00:00.000Z', count: 3, pages: 1, data: numbers(3) });
    expect(bench.read('latest.json')).toBe(text);
    for (const name of bench.files()) expect(statSync(join(bench.folder, name)).mode & 0o777).toBe(0o600);
  });

  test('an unchanged snapshot writes no new file: a change of updatedAt alone is none', async () => {
    const service = await startNumberService(numbers(3));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const latest = bench.read('latest.json');
    service.numbers = numbers(3).map((one) => ({ ...one, updatedAt: '2026-11-21T13:30:00.000Z' }));
    bench.hour(1);
    const { record } = await bench.take();
    expect(record).toMatchObject({ takenAtMs: startMs + hourMs, changed: false, contentOfMs: startMs });
    expect(bench.read('latest.json')).toBe(latest);
    expect(bench.files()).toEqual(['20261121T140000Z.json', 'latest.json']);
  });

  test('what a crash between ledger and file left out is restored by whoever takes the next one', async () => {
    const service = await startNumberService(numbers(2));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const [first, oldLatest] = [bench.read('20261121T140000Z.json'), bench.read('latest.json')];
    service.numbers = [number(1, { users: [user('Ann'), user('Dee')] }), number(3)];
    bench.hour(1);
    await bench.take();
    const [second, allChanges] = [bench.read('20261121T150000Z.json'), bench.read('changes.ndjson')];
    const lines = allChanges.split('\n');
    expect(lines).toHaveLength(4);
    // Nothing of the second, a torn line of it, one whole line and a torn one, and nothing at all.
    for (const [latest, torn] of [
      [oldLatest, ''],
      [oldLatest, lines[0]?.slice(0, 20)],
      [oldLatest, `${lines[0]}\n${lines[1]?.slice(0, 70)}`],
      [null, null],
    ] as const) {
      rmSync(bench.folder, { recursive: true });
      mkdirSync(bench.folder);
      if (latest !== null) writeFileSync(join(bench.folder, 'latest.json'), latest);
      if (latest !== null) writeFileSync(join(bench.folder, '20261121T140000Z.json'), first);
      if (torn !== null && torn !== undefined) writeFileSync(join(bench.folder, 'changes.ndjson'), torn);
      await bench.take();
      expect(bench.files()).toEqual([
        '20261121T140000Z.json',
        '20261121T150000Z.json',
        'changes.ndjson',
        'latest.json',
      ]);
      expect(bench.read('20261121T140000Z.json')).toBe(first);
      expect(bench.read('20261121T150000Z.json')).toBe(second);
      expect(bench.read('latest.json')).toBe(second);
      expect(bench.read('changes.ndjson')).toBe(allChanges);
    }
  });

  test('one that was cut short, emptied or overwritten from outside is written again with the next snapshot', async () => {
    const service = await startNumberService(numbers(3));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const whole = bench.read('latest.json');
    let hour = 0;
    for (const name of ['latest.json', '20261121T140000Z.json']) {
      for (const damaged of [whole.slice(0, -1), whole.slice(0, 200), '', 'x'.repeat(300)]) {
        writeFileSync(join(bench.folder, name), damaged);
        hour += 1;
        bench.hour(hour);
        await bench.take();
        expect(bench.read(name)).toBe(whole);
      }
    }
    expect(bench.files()).toEqual(['20261121T140000Z.json', 'latest.json']);
  });

  test('a folder that cannot be written is told, and the next snapshot is taken when it can', async () => {
    const service = await startNumberService(numbers(1));
    const bench = await openSnapshotBench(service.origin);
    writeFileSync(join(bench.folder, '..', '..', 'snapshots'), '');
    expect(await failureOf(bench.take())).toMatchObject({ code: 'snapshotFolderUnusable' });
    rmSync(join(bench.folder, '..'));
    // Found missing, and yet it cannot be made.
    symlinkSync(join(bench.folder, '..', '..', 'none'), join(bench.folder, '..'));
    expect(await failureOf(bench.take())).toMatchObject({ code: 'snapshotFolderUnusable', kind: 'file' });
    rmSync(join(bench.folder, '..'));
    await bench.take();
    expect(bench.files()).toContain('latest.json');
    chmodSync(bench.folder, 0o700);
  });

  test('snapshots, files and changes are kept by age and by count', async () => {
    const service = await startNumberService(numbers(1));
    const bench = await openSnapshotBench(service.origin, { keepMs: 10 * hourMs, keepMax: 5 });
    for (let hour = 0; hour <= 7; hour += 1) {
      service.numbers = [number(1, { name: `name ${hour}` })];
      bench.hour(hour);
      await bench.take();
    }
    expect(await bench.ledger.snapshots.list('workspace', 99)).toHaveLength(5);
    expect(bench.files().filter((name) => /^\d/.test(name))).toEqual(
      [17, 18, 19, 20, 21].map((hour) => `20261121T${hour}0000Z.json`),
    );
    expect(bench.changes()).toHaveLength(7);
    bench.hour(40);
    writeFileSync(join(bench.folder, '20261120T000000Z.json'), 'left by a crash');
    await bench.take();
    // Unchanged: it refers to the one before it, which stays.
    expect(bench.files()).toEqual(['20261121T210000Z.json', 'changes.ndjson', 'latest.json']);
    expect(bench.changes()).toEqual([]);
  });

  test('what a killed process had begun to write is removed after an hour', async () => {
    const service = await startNumberService(numbers(1));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    const [old, young] = [1, 2].map((digit) => `.${digit}e2f3a4b-0000-4000-8000-000000000000.part`);
    for (const [name, hours] of [
      [old, -1.1],
      [young, -0.9],
    ] as const) {
      const path = join(bench.folder, name ?? '');
      writeFileSync(path, 'half');
      utimesSync(path, (startMs + hours * hourMs) / 1_000, (startMs + hours * hourMs) / 1_000);
    }
    await bench.take();
    expect(bench.files().filter((name) => name.endsWith('.part'))).toEqual([young]);
  });

  test('old snapshots that cannot be removed fail no snapshot, nor does a folder of a series that somebody removed', async () => {
    const service = await startTestService({ seedPhoneNumbers: 6 });
    const bench = await openSnapshotBench(service.origin, { keepMs: 10 * hourMs });
    const { record } = await bench.take();
    const [first] = await bench.ledger.snapshots.numbersOf('workspace', record.takenAtMs);
    const [owner] = (first?.users ?? []) as readonly { readonly id: string }[];
    const ofUser = owner?.id ?? '';
    for (const hour of [1, 2, 3]) {
      bench.hour(hour);
      await bench.take(ofUser);
    }
    rmSync(join(bench.folder, 'users', ofUser), { recursive: true });
    bench.hour(30);
    await bench.take();
    expect(bench.logLines.join('')).not.toContain('old snapshots not removed');
    const forget = () => Promise.reject(new Error('a busy ledger'));
    const ledger = { ...bench.ledger, snapshots: { ...bench.ledger.snapshots, forget } };
    const { parts } = bench;
    const taken = takeSnapshot({ ...parts, ledger }, { user: null }, new AbortController().signal);
    expect(await taken).toMatchObject({ end: { outcome: 'snapshot' } });
    expect(bench.logLines.join('')).toContain('old snapshots not removed');
  });

  test("a user's numbers are a series of their own, under users", async () => {
    const service = await startTestService({ seedPhoneNumbers: 6, pageNumbers: 2 });
    const bench = await openSnapshotBench(service.origin);
    const { record: all } = await bench.take();
    const [first] = await bench.ledger.snapshots.numbersOf('workspace', all.takenAtMs);
    const [owner] = (first?.users ?? []) as readonly { readonly id: string }[];
    const id = owner?.id ?? '';
    const { record } = await bench.take(id);
    expect(record).toMatchObject({ series: id, changed: true });
    expect(record.count).toBeLessThan(all.count);
    expect(bench.files()).toContain('users');
    const file = JSON.parse(bench.read(join('users', id, 'latest.json')));
    expect(file.data.every((one: { users: { id: string }[] }) => one.users.some((found) => found.id === id))).toBe(
      true,
    );
    expect((await bench.ledger.snapshots.at('workspace'))?.count).toBe(6);
  });

  test.each(['PN1', 'US', 'US/../../etc', 'US..', ''])('%j is no id of a user', async (id) => {
    const bench = await openSnapshotBench('http://127.0.0.1:9');
    expect(await failureOf(bench.take(id))).toMatchObject({ kind: 'usage', code: 'userInvalid' });
  });
});

describe('the changes', () => {
  test('the first snapshot is what the others are compared with: it tells nothing', async () => {
    const service = await startNumberService(numbers(2));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    expect(bench.changes()).toEqual([]);
    expect(await bench.ledger.deliveries.nextDue(Number.MAX_SAFE_INTEGER, 9)).toEqual([]);
  });

  test('each change is a line of the file with its values and a part of one delivery without personal data', async () => {
    const service = await startNumberService(numbers(2));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    service.numbers = [number(1, { users: [user('Ann'), user('Dee')], name: 'Canary' }), number(3)];
    bench.hour(1);
    await bench.take();
    const takenAt = '2026-11-21T15:00:00.000Z';
    expect(bench.changes()).toMatchObject([
      {
        takenAt,
        event: 1,
        events: 4,
        type: 'user.joined',
        phoneNumber: 'PN1',
        number: '+14155550101',
        user: user('Dee'),
      },
      { takenAt, type: 'phoneNumber.changed', changes: { name: { from: 'Main', to: 'Canary' } } },
      { takenAt, type: 'phoneNumber.added', phoneNumber: 'PN3', data: number(3) },
      { takenAt, event: 4, events: 4, type: 'phoneNumber.removed', phoneNumber: 'PN2', data: number(2) },
    ]);
    const [delivery, ...others] = await bench.ledger.deliveries.nextDue(Number.MAX_SAFE_INTEGER, 9);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({
      id: expect.stringMatching(/^n[\da-f]{24}$/),
      kind: 'change',
      type: 'phoneNumbers.changed',
      feed: 'phone-numbers',
      data: {
        user: null,
        takenAt,
        since: '2026-11-21T14:00:00.000Z',
        count: 2,
        added: 1,
        removed: 1,
        changedNumbers: 1,
        events: [
          { type: 'user.joined', phoneNumber: 'PN1', user: 'USdee' },
          { type: 'phoneNumber.changed', phoneNumber: 'PN1', fields: ['name'] },
          { type: 'phoneNumber.added', phoneNumber: 'PN3', users: ['USann'] },
          { type: 'phoneNumber.removed', phoneNumber: 'PN2', users: ['USann'] },
        ],
        moreEvents: 0,
      },
    });
    for (const text of [JSON.stringify(delivery), bench.logLines.join('')]) {
      expect(text).not.toMatch(/\+1415|Dee|Ann"|@example|Canary/);
    }
  });

  test('where no addressee is set nothing is entered for it', async () => {
    const service = await startNumberService(numbers(1));
    const bench = await openSnapshotBench(service.origin, { addressed: () => [] });
    await bench.take();
    service.numbers = [];
    bench.hour(1);
    await bench.take();
    expect(await bench.ledger.deliveries.nextDue(Number.MAX_SAFE_INTEGER, 9)).toEqual([]);
    expect(bench.changes()).toHaveLength(1);
  });

  test('a clock that goes back makes no second snapshot of the same name', async () => {
    const service = await startNumberService(numbers(1));
    const bench = await openSnapshotBench(service.origin);
    await bench.take();
    bench.hour(-2);
    expect((await bench.take()).record.takenAtMs).toBe(startMs + 1_000);
  });
});
