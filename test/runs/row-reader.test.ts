/** Rows that a thread has mapped are those that are mapped here. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { type ReadRow, readRow, type StageItem } from '#src/runs/compare.ts';
import { createRowReader, readAhead } from '#src/runs/row-reader.ts';

const columns = ['externalId', 'firstName', 'role', 'phone', 'email', 'custom.tier'];
const context = { sourceLabel: 'CRM', customFields: null, defaultCountry: 'US', onBlank: null };
const nowhere = { file: null, feed: 'main' };
const compile = () => compileMapping(null, { columns }, context);

function row(line: number, ...cells: readonly string[]): StageItem {
  return { kind: 'row', row: { kind: 'cells', line, record: line - 1, columns, cells }, sequence: 7 };
}

const items: readonly StageItem[] = [
  row(2, 'k1', 'Ann', 'Buyer', '(415) 555-0101', 'ann@example.com', 'gold'),
  row(3, 'k2', '', '', '', '', ''),
  row(4, '', 'Nameless', '', '', '', ''),
  { kind: 'broken', row: { kind: 'cells', line: 5, record: 4, columns, cells: ['x'] }, problem: problem() },
  row(6, 'k3', 'Zoë', '#CLEAR', '415 555 0102 ext. 7', 'n/a', ''),
  row(7, 'k4', 'Bob', '', 'no number', 'nobody', ''),
  { ...row(8, 'k5', '"quoted", ;', 'a\nb', '+14155550103', '', ''), letterId: 'letter-1' },
];

function problem() {
  return { code: 'cellCount', line: 5, field: null, value: 'x', message: 'too few', hint: 'Add them.' };
}

const hashed = items.map((item, index) => ({ item, hash: `hash-${index}` }));
const unpacked = (rows: readonly ReadRow[]) =>
  rows.map((one) =>
    one.kind === 'mapped' && typeof one.desired === 'string' ? { ...one, desired: JSON.parse(one.desired) } : one,
  );

test('rows are read by a thread as they are here, and what is noted of the file is the same', async () => {
  const [here, there] = [compile(), compile()];
  const reader = createRowReader({ mapping: there, adopt: false }, nowhere, 0);
  onTestFinished(reader.close);
  expect(reader.slicesAhead()).toBe(0);
  const found = await Promise.all([reader.read(hashed), reader.read(hashed.slice(4))].map((mapped) => mapped()));
  const rules = { mapping: here, adopt: false };
  const expected = [hashed, hashed.slice(4)].map((some) => some.map(({ item, hash }) => readRow(item, hash, rules)));
  expect(found.map(unpacked)).toEqual(expected.map((rows) => JSON.parse(JSON.stringify(rows))));
  expect(there.notes).toEqual(here.notes);
  expect(reader.slicesAhead()).toBeGreaterThan(0);
  expect(found[0]?.filter(isFromThread).length).toBeGreaterThan(1);
});

test('a few rows need no thread', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, nowhere);
  await reader.read(hashed)();
  expect(reader.slicesAhead()).toBe(0);
  await reader.close();
});

test('a thread that ends takes nothing with it: its rows are refused by an error that passes', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, nowhere, 0);
  const lost = reader
    .read(hashed)()
    .catch((error: unknown) => error);
  await reader.close();
  expect(await lost).toMatchObject({ kind: 'transient', code: 'mappingThreadDied' });
});

test('behind the end of the file rows are mapped here, where a thread has mapped those of the file', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, nowhere, 0);
  const [first] = await reader.read(hashed)();
  await reader.close();
  const [again] = await reader.read(hashed)();
  expect(unpacked([again as ReadRow])).toEqual(JSON.parse(JSON.stringify(unpacked([first as ReadRow]))));
});

/** What a thread has mapped comes as JSON. */
const isFromThread = (one: ReadRow): boolean => one.kind === 'mapped' && typeof one.desired === 'string';

test('while a thread starts, it is waited for with what is read ahead, and rows whose turn comes are mapped here', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, nowhere, hashed.length * 2);
  onTestFinished(reader.close);
  reader.read(hashed);
  reader.read(hashed);
  const [turn, ahead] = [reader.read(hashed), reader.read(hashed)];
  const many = reader.slicesAhead();
  expect((await turn()).some(isFromThread)).toBe(false);
  await expect.poll(() => reader.slicesAhead(), { timeout: 60_000 }).toBeLessThan(many);
  const rows = await ahead();
  expect(rows.some(isFromThread)).toBe(true);
  const rules = { mapping: compile(), adopt: false };
  expect(unpacked(rows)).toEqual(
    JSON.parse(JSON.stringify(hashed.map(({ item, hash }) => readRow(item, hash, rules)))),
  );
});

test('a thread that never answers is waited for in the end, so that it shows', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, nowhere, hashed.length);
  reader.read(hashed);
  await reader.read(hashed)();
  // As many as may be mapped here have been: the thread, which has not started, is given these.
  const lost = reader
    .read(hashed)()
    .catch((error: unknown) => error);
  await reader.close();
  expect(await lost).toMatchObject({ kind: 'transient', code: 'mappingThreadDied' });
});

test('slices come in their order, with a few under way', async () => {
  const begun: number[] = [];
  const read = (slice: number) => {
    begun.push(slice);
    return slice;
  };
  const seen: (readonly [number, number])[] = [];
  const slices = async function* () {
    yield* [1, 2, 3, 4, 5];
  };
  for await (const slice of readAhead(slices(), read, () => (begun.length > 1 ? 2 : 0)))
    seen.push([slice, begun.length]);
  expect(seen).toEqual([
    [1, 1],
    [2, 4],
    [3, 5],
    [4, 5],
    [5, 5],
  ]);
});

/** One standing for each row that was mapped: null where the feed does not know its key, undefined where the ledger was not asked. */
const standings = (rows: readonly ReadRow[]) =>
  rows.flatMap((one) => (one.kind === 'mapped' ? [one.standing?.number ?? one.standing] : []));

async function newLedger(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-reader-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'ledger.sqlite');
  const ledger = openSqliteLedger(file);
  onTestFinished(() => ledger.close());
  return file;
}

test('the thread asks the ledger no more where most keys are new', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, { file: await newLedger(), feed: 'main' }, 0);
  onTestFinished(reader.close);
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    item: row(index + 2, `new-${index}`, 'Ann'),
    hash: 'h',
  }));
  expect(new Set(standings(await reader.read(many)()))).toEqual(new Set([null]));
  expect(new Set(standings(await reader.read(many)()))).toEqual(new Set([undefined]));
});

test('where the thread cannot read the ledger, rows are mapped all the same', async () => {
  const reader = createRowReader({ mapping: compile(), adopt: false }, { file: '/nowhere/ledger', feed: 'main' }, 0);
  onTestFinished(reader.close);
  const found = await reader.read(hashed)();
  expect(found.map(({ kind }) => kind)).toContain('mapped');
  expect(new Set(standings(found))).toEqual(new Set([undefined]));
});
