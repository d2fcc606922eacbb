/** Snapshots: history without copies, the numbers at any instant, and forgetting. */
import { expect, test } from 'vitest';
import type { NewDelivery } from '#src/ledger/deliveries.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { SnapshotRecord } from '#src/ledger/snapshots.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const firstMs = 1_800_000_000_000;
const at = (place: number): number => firstMs + place * 3_600_000;
const number = (id: string, name = 'Main'): PhoneNumber => ({ id, number: '+14155550101', name, users: [] });
const named = (text: string): PhoneNumber[] => text.split(' ').map((id) => number(id));

/** Publishes it as changed; with `null` as one that shows what the one before it shows. */
async function publish(
  ledger: Ledger,
  place: number,
  numbers: readonly PhoneNumber[] | null,
  more: { readonly series?: string; readonly deliveries?: readonly NewDelivery[] } = {},
): Promise<SnapshotRecord> {
  const { series = 'workspace', deliveries = [] } = more;
  const latest = await ledger.snapshots.at(series);
  const record: SnapshotRecord = {
    series,
    takenAtMs: at(place),
    count: numbers?.length ?? latest?.count ?? 0,
    pages: 1,
    changed: numbers !== null,
    added: 0,
    removed: 0,
    changedNumbers: 0,
    contentOfMs: numbers === null && latest !== null ? latest.contentOfMs : at(place),
  };
  await ledger.snapshots.publish({ record, numbers: numbers ?? [], deliveries });
  return record;
}

const idsAt = async (ledger: Ledger, place: number, series = 'workspace'): Promise<string> =>
  (await ledger.snapshots.numbersOf(series, at(place))).map(({ id }) => id).join(' ');

export function snapshotContract(open: OpenLedger): void {
  test('a new ledger knows no snapshot', async () => {
    const { ledger } = await openForTest(open);
    expect(await ledger.snapshots.at('workspace')).toBeNull();
    expect(await ledger.snapshots.list('workspace', 10)).toEqual([]);
    expect(await ledger.snapshots.series()).toEqual([]);
    expect(await ledger.snapshots.numbersOf('workspace', at(0))).toEqual([]);
    expect(await ledger.snapshots.versionsOf('workspace', 'PN1')).toEqual([]);
    expect(await ledger.snapshots.forget('workspace', at(9), 1)).toEqual([]);
  });

  test('a snapshot is kept as it was given, with all that a number holds, also for the next process', async () => {
    const { ledger, reopen } = await openForTest(open);
    const odd: PhoneNumber = { id: 'PN2', users: 'odd', forward: null, deep: { list: [1, { more: true }] } };
    const record = await publish(ledger, 0, [number('PN1'), odd]);
    const other = await reopen();
    expect(await other.snapshots.at('workspace')).toEqual(record);
    expect(await other.snapshots.numbersOf('workspace', at(0))).toEqual([number('PN1'), odd]);
    expect(await other.snapshots.numbersOf('workspace', at(1))).toEqual([]);
  });

  test("each snapshot shows its own numbers in the service's order, whatever came later", async () => {
    const { ledger } = await openForTest(open);
    const orders = ['c a b', 'a b c d', 'd c b a', 'b d', 'x b d', 'a b c d x'];
    for (const [place, order] of orders.entries()) await publish(ledger, place, named(order));
    for (const [place, order] of orders.entries()) expect(await idsAt(ledger, place)).toBe(order);
  });

  test('a snapshot that shows nothing new refers to the one before it', async () => {
    const { ledger } = await openForTest(open);
    await publish(ledger, 0, named('a b'));
    await publish(ledger, 1, null);
    await publish(ledger, 2, [number('a', 'Sales'), number('b')]);
    await publish(ledger, 3, null);
    expect(await ledger.snapshots.numbersOf('workspace', at(1))).toEqual(named('a b'));
    expect(await ledger.snapshots.numbersOf('workspace', at(3))).toEqual([number('a', 'Sales'), number('b')]);
    expect(await ledger.snapshots.at('workspace')).toMatchObject({ changed: false, contentOfMs: at(2) });
  });

  test('what two snapshots in succession do not share is given without all the rest', async () => {
    const { ledger } = await openForTest(open);
    const differing = async (place: number, series = 'workspace'): Promise<readonly string[]> => {
      const { before, after } = await ledger.snapshots.differing(series, at(place));
      return [before, after].map((numbers) => numbers.map(({ id, name }) => `${id}=${name}`).join(' '));
    };
    await publish(ledger, 0, named('c a b d'));
    await publish(ledger, 1, null);
    await publish(ledger, 1, named('c'), { series: 'USann' });
    await publish(ledger, 2, [number('x'), number('c', 'Sales'), number('b'), number('d', 'Old')]);
    await publish(ledger, 3, named('b x a c'));
    await publish(ledger, 4, named('a b c x'));
    expect(await differing(0)).toEqual(['', 'c=Main a=Main b=Main d=Main']);
    expect(await differing(1)).toEqual(['', '']);
    expect(await differing(2)).toEqual(['c=Main a=Main d=Main', 'x=Main c=Sales d=Old']);
    expect(await differing(3)).toEqual(['c=Sales d=Old', 'a=Main c=Main']);
    expect(await differing(4)).toEqual(['', '']);
    expect(await differing(1, 'USann')).toEqual(['', 'c=Main']);
  });

  test('a number has one version for each of its contents, from the first snapshot that shows it to the last', async () => {
    const { ledger } = await openForTest(open);
    await publish(ledger, 0, named('a b'));
    await publish(ledger, 1, null);
    await publish(ledger, 2, [number('a', 'Sales'), number('b')]);
    await publish(ledger, 3, named('b'));
    await publish(ledger, 4, named('b a'));
    expect(await ledger.snapshots.versionsOf('workspace', 'a')).toEqual([
      { number: number('a'), fromMs: at(0), untilMs: at(1) },
      { number: number('a', 'Sales'), fromMs: at(2), untilMs: at(2) },
      { number: number('a'), fromMs: at(4), untilMs: null },
    ]);
    expect(await ledger.snapshots.versionsOf('workspace', 'b')).toEqual([
      { number: number('b'), fromMs: at(0), untilMs: null },
    ]);
  });

  test('snapshots are found by time: the newest, the newest until then, the one before, the last ones', async () => {
    const { ledger } = await openForTest(open);
    for (const place of [0, 1, 2, 3]) await publish(ledger, place, named(`a b${place}`));
    const { snapshots } = ledger;
    expect((await snapshots.at('workspace', at(2)))?.takenAtMs).toBe(at(2));
    expect((await snapshots.at('workspace', at(2) + 1))?.takenAtMs).toBe(at(2));
    expect(await snapshots.at('workspace', at(0) - 1)).toBeNull();
    expect((await snapshots.before('workspace', at(2)))?.takenAtMs).toBe(at(1));
    expect(await snapshots.before('workspace', at(0))).toBeNull();
    expect((await snapshots.list('workspace', 2)).map((one) => one.takenAtMs)).toEqual([at(3), at(2)]);
    expect((await snapshots.list('workspace', 9, at(2))).map((one) => one.takenAtMs)).toEqual([at(1), at(0)]);
  });

  test('series do not mix, though they show the same numbers', async () => {
    const { ledger } = await openForTest(open);
    await publish(ledger, 0, named('a b'));
    await publish(ledger, 1, named('b'), { series: 'US1' });
    await publish(ledger, 2, named('a'));
    expect(await ledger.snapshots.series()).toEqual(['US1', 'workspace']);
    expect(await idsAt(ledger, 1, 'US1')).toBe('b');
    expect(await idsAt(ledger, 2)).toBe('a');
    await ledger.snapshots.forget('workspace', at(9), 1);
    expect(await idsAt(ledger, 1, 'US1')).toBe('b');
  });

  test('what is told of a snapshot is entered with it, and with a snapshot that is refused it is not', async () => {
    const { ledger } = await openForTest(open);
    const delivery = (id: string): NewDelivery => ({
      id,
      kind: 'change',
      type: 'phoneNumbers.changed',
      feed: 'phone-numbers',
      data: { added: 1 },
      atMs: at(1),
    });
    await publish(ledger, 1, named('a'), { deliveries: [delivery('d1')] });
    expect(await ledger.deliveries.get('d1')).toMatchObject({ data: { added: 1 }, state: 'waiting' });
    await expect(publish(ledger, 1, named('a b'), { deliveries: [delivery('d2')] })).rejects.toThrow();
    await expect(publish(ledger, 0, named('a b'), { deliveries: [delivery('d2')] })).rejects.toThrow();
    expect(await ledger.deliveries.get('d2')).toBeNull();
    expect(await idsAt(ledger, 1)).toBe('a');
  });

  test('snapshots are forgotten by age and by count, and with them the versions that nothing shows', async () => {
    const { ledger } = await openForTest(open);
    for (const place of [0, 1, 2, 3, 4, 5]) await publish(ledger, place, [number('a', `name ${place}`), number('b')]);
    const { snapshots } = ledger;
    expect(await snapshots.forget('workspace', at(2), 100)).toEqual([at(0), at(1)]);
    expect(await snapshots.forget('workspace', 0, 2)).toEqual([at(2), at(3)]);
    expect((await snapshots.list('workspace', 9)).map((one) => one.takenAtMs)).toEqual([at(5), at(4)]);
    expect((await snapshots.versionsOf('workspace', 'a')).map((one) => one.fromMs)).toEqual([at(4), at(5)]);
    expect(await snapshots.numbersOf('workspace', at(4))).toEqual([number('a', 'name 4'), number('b')]);
    expect(await snapshots.forget('workspace', 0, 2)).toEqual([]);
  });

  test('the newest snapshot is never forgotten, nor the one that it refers to', async () => {
    const { ledger } = await openForTest(open);
    await publish(ledger, 0, named('x'));
    await publish(ledger, 1, named('a b'));
    for (const place of [2, 3, 4]) await publish(ledger, place, null);
    expect(await ledger.snapshots.forget('workspace', at(99), 0)).toEqual([at(0), at(2), at(3)]);
    expect((await ledger.snapshots.list('workspace', 9)).map((one) => one.takenAtMs)).toEqual([at(4), at(1)]);
    expect(await idsAt(ledger, 4)).toBe('a b');
    expect(await ledger.snapshots.versionsOf('workspace', 'x')).toEqual([]);
    await publish(ledger, 5, named('x a'));
    expect([await idsAt(ledger, 4), await idsAt(ledger, 5)]).toEqual(['a b', 'x a']);
  });
}
