/** Thousands of dead letters: half of them are retried while an import of some of the same people runs, and a worker is killed. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isFinal } from '#src/ledger/runs.ts';
import { test } from '#test/support/journey.ts';
import { until } from '#test/support/until.ts';

const perFile = 1_000;
/** Of the first file's people, in the newer file too. */
const sharedCount = 300;
const newCount = 200;
/** What was missing when the files came in; and the newer file changes all whom it knows. */
const withCountry = { PATCHBAY_MAPPING_DEFAULT_COUNTRY: 'US', PATCHBAY_GUARDS_UPDATES_MAX: '100%' };

const header = 'externalId,firstName,role,phone mobile';
const fileOf = (rows: readonly string[]) => `${[header, ...rows].join('\n')}\n`;
const people = (prefix: string, count: number, role: string, phone: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index},Ann,${role},${phone(index)}`);
const national = (index: number) => `(415) 555-01${String(index % 100).padStart(2, '0')}`;
const international = (index: number) => `+1415555${String(index % 10_000).padStart(4, '0')}`;

test('half of thousands of letters are retried beside an import while a worker dies, and every row is accounted for', async ({
  journey,
}) => {
  const service = await journey.service();
  const load = async (name: string) => {
    const file = journey.file(`${name}.csv`, fileOf(people(name, perFile, 'old', national)));
    return (await journey.call(['import', '--json', '--max-dead', '100%', file])).documents[0];
  };
  const first = await load('first');
  expect(first).toMatchObject({ rows: perFile, dead: perFile, created: 0 });
  expect(await load('second')).toMatchObject({ rows: perFile, dead: perFile, created: 0 });

  const engine = journey.start(['start', '--json'], withCountry);
  await engine.firstLine();
  const worker = journey.start(['start', '--worker', '--json'], withCountry);
  await worker.firstLine();
  const retry = await journey.run(['dead', 'retry', '--run', first.run, '--remap', '--detach', '--json'], withCountry);
  expect(retry.code, retry.stderr).toBe(0);
  const newer = fileOf([
    ...people('first', sharedCount, 'new', international),
    ...people('fresh', newCount, 'new', international),
  ]);
  const folder = join(journey.data, 'import');
  writeFileSync(join(folder, '.newer.part'), newer);
  renameSync(join(folder, '.newer.part'), join(folder, 'newer.csv'));
  await service.creates(150);
  await worker.kill();
  const runs = await until('the end of all runs', async () => {
    const all = await journey.runs();
    return all.length === 4 && all.every(({ state }) => isFinal(state)) && all;
  });
  engine.signal('SIGINT');
  await engine.ended();

  const of = (kind: string, name: string) =>
    runs.find((run) => run.kind === kind && run.fileName.includes(name))?.counts;
  const redriven = of('redrive', '');
  expect(redriven).toMatchObject({ rows: perFile, dead: 0 });
  expect(
    (redriven?.created ?? 0) + (redriven?.updated ?? 0) + (redriven?.unchanged ?? 0) + (redriven?.skipped ?? 0),
  ).toBe(perFile);
  const imported = of('file', 'newer');
  expect(imported).toMatchObject({ rows: sharedCount + newCount, dead: 0, skipped: 0 });
  expect((redriven?.created ?? 0) + (imported?.created ?? 0)).toBe(perFile + newCount);

  // Exactly one contact per key, and the newer file wins wherever both say something.
  const keys = await service.keys();
  expect(new Set(keys).size).toBe(perFile + newCount);
  expect(keys).toHaveLength(perFile + newCount);
  const contacts = await service.people();
  for (let index = 0; index < perFile; index += 1) {
    expect(contacts.get(`first-${index}`)?.role, `first-${index}`).toBe(index < sharedCount ? 'new' : 'old');
  }
  const open = await journey.call(['dead', 'ls', '--json', '--limit', '10000']);
  expect(open.documents).toHaveLength(perFile);
  expect(new Set(open.documents.map(({ file }) => file))).toEqual(new Set(['second.csv']));
}, 180_000);
