/**
 * The history of the phone numbers: `node test/bench/snapshot-history.ts [SNAPSHOTS] [NUMBERS]` (1,000 of 1,000 without).
 *
 * Each snapshot shows three numbers that changed, and every fifth one that came and one that went; as many again show
 * nothing new. Told are the bytes of the ledger for a snapshot, as a share of its file, and the time to read the numbers at
 * the oldest, a middle and the newest snapshot, over the time of reading one single snapshot in a ledger that holds no other.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '#src/ledger/port.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { changeCounts, compareSnapshots } from '#src/snapshots/compare-snapshots.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const hourMs = 3_600_000;
const readings = 25;
/** Beyond these the history is not what it promises. */
const shareMax = 0.02;
const slowerMax = 2;

const snapshotCount = Number(process.argv[2] ?? 1_000);
const numberCount = Number(process.argv[3] ?? 1_000);
const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
try {
  await measure();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const files = { alone: join(folder, 'alone.sqlite'), long: join(folder, 'long.sqlite') };
  const alone = await openWith(files.alone);
  const aloneMs = await timeOf(alone, 0);
  await alone.close();
  const long = await openWith(files.long);
  const publishMs: number[] = [];
  let numbers = firstNumbers();
  for (let place = 1; place < snapshotCount; place += 1) {
    numbers = changed(numbers, place);
    publishMs.push(await timed(() => publish(long, place * 2, numbers)));
    await publish(long, place * 2 + 1, numbers);
  }
  const last = (snapshotCount - 1) * 2 + 1;
  console.log(
    `snapshots                     ${snapshotCount * 2 - 1} of ${numberCount} numbers, every other one changed`,
  );
  const [oldestMs, middleMs, newestMs] = [
    await timeOf(long, 0),
    await timeOf(long, snapshotCount),
    await timeOf(long, last),
  ];
  for (const [name, ms] of [
    ['oldest', oldestMs],
    ['middle', middleMs],
    ['newest', newestMs],
  ] as const) {
    const label = `numbers at the ${name}`.padEnd(29);
    console.log(
      `${label} ×${(ms / aloneMs).toFixed(2)} (${ms.toFixed(1)} ms over ${aloneMs.toFixed(1)} ms in a ledger with one)`,
    );
  }
  const [early, late] = [median(publishMs.slice(0, 50)), median(publishMs.slice(-50))];
  console.log(
    `publishing, last over first   ×${(late / early).toFixed(2)} (${late.toFixed(1)} ms over ${early.toFixed(1)} ms)`,
  );
  await long.close();
  // Closed, all of it stands in one file.
  const fileBytes = JSON.stringify({ takenAt: '', count: numberCount, pages: 1, data: numbers }).length;
  const grownBytes = (await stat(files.long)).size - (await stat(files.alone)).size;
  const bytes = grownBytes / Math.max(1, (snapshotCount - 1) * 2);
  console.log(
    `ledger, for each snapshot     ${Math.round(bytes)} bytes, ${percent(bytes / fileBytes)} of its file (${fileBytes} bytes)`,
  );
  const again = openSqliteLedger(files.long);
  const forgetMs = await timed(() => again.snapshots.forget(workspaceSeries, atMs(snapshotCount), 100_000));
  console.log(`forgetting half of them       ${forgetMs.toFixed(0)} ms`);
  await again.close();
  if (bytes / fileBytes > shareMax || Math.max(oldestMs, middleMs, newestMs) / aloneMs > slowerMax)
    process.exitCode = 1;
}

/** A ledger with the first snapshot. */
async function openWith(file: string): Promise<Ledger> {
  const ledger = openSqliteLedger(file);
  await publish(ledger, 0, firstNumbers());
  return ledger;
}

/** What a use case does between the walk and the files. */
async function publish(ledger: Ledger, place: number, now: readonly PhoneNumber[]): Promise<void> {
  const latest = await ledger.snapshots.at(workspaceSeries);
  const before = latest === null ? [] : await ledger.snapshots.numbersOf(workspaceSeries, latest.takenAtMs);
  const { changes, numbers } = compareSnapshots(before, now);
  const isChanged = latest === null || changes.length > 0;
  const takenAtMs = atMs(place);
  await ledger.snapshots.publish({
    record: {
      series: workspaceSeries,
      takenAtMs,
      count: numbers.length,
      pages: 1,
      changed: isChanged,
      ...changeCounts(latest === null ? [] : changes),
      contentOfMs: isChanged ? takenAtMs : latest.contentOfMs,
    },
    numbers,
    deliveries: [],
  });
}

function atMs(place: number): number {
  return startMs + place * hourMs;
}

function firstNumbers(): readonly PhoneNumber[] {
  return Array.from({ length: numberCount }, (_, index) => numberOf(index));
}

function changed(numbers: readonly PhoneNumber[], place: number): readonly PhoneNumber[] {
  const touched = new Set([0, 1, 2].map((step) => (place * 7 + step * 331) % numbers.length));
  const next = numbers.map((number, index) => (touched.has(index) ? { ...number, name: `Desk ${place}` } : number));
  return place % 5 === 0 ? [...next.toSpliced(place % next.length, 1), numberOf(numberCount + place)] : next;
}

function numberOf(index: number): PhoneNumber {
  const regions = { CA: 'unrestricted', Intl: 'restricted', US: 'unrestricted' };
  const id = index.toString(16).padStart(10, '0');
  return {
    id: `PN${id}`,
    groupId: `GR${id}`,
    portRequestId: null,
    formattedNumber: '(415) 555-0100',
    forward: null,
    name: 'Front desk',
    number: '+14155550100',
    portingStatus: 'completed',
    symbol: null,
    users: [
      {
        id: `US${id}`,
        email: 'ada.grove@example.com',
        firstName: 'Ada',
        lastName: 'Grove',
        role: 'member',
        groupId: `GR${id}`,
      },
    ],
    createdAt: '2026-11-21T14:00:00.000Z',
    updatedAt: '2026-11-21T14:00:00.000Z',
    restrictions: { calling: regions, messaging: regions },
  };
}

/** The middle of some readings. */
async function timeOf(ledger: Ledger, place: number): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < readings; turn += 1) {
    times.push(await timed(() => ledger.snapshots.numbersOf(workspaceSeries, atMs(place))));
  }
  return median(times);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
