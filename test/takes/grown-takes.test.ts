/** A file that a program goes on writing after a feed has taken it (`docs/operations.md`, "Feeds"). */
import { appendFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '#src/log.ts';
import { createGrownFiles } from '#src/runs/grown-files.ts';
import { openTakesBench } from './support/takes-bench.ts';

const half = 'externalId\n1\n';

async function openGrowingTakes() {
  const bench = await openTakesBench();
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void logLines.push(line) } });
  const grown = createGrownFiles({ ...bench.parts.submit, log });
  return { ...bench, grown, logLines, take: (what: string) => bench.take(what, {}, { grown }) };
}

describe.each(['crm.csv', '*.csv'])('a feed that takes %s', (named) => {
  it('reads a file that goes on growing again, whole, in its place', async () => {
    const { grown, take, ...bench } = await openGrowingTakes();
    const path = await bench.write('exports/crm.csv', half);
    const place = join(bench.folder, 'exports', named);
    expect(await take(place)).toMatchObject({ outcome: 'run' });
    await appendFile(path, '2\n');
    expect([await grown.look(), await grown.look(), await grown.look()]).toEqual([0, 1, 0]);
    expect(await bench.contents()).toEqual([half, `${half}2\n`]);
    expect((await bench.runs()).map(({ run }) => run.options.origin)).toEqual(['schedule', 'schedule']);
    expect(await take(place)).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    await appendFile(path, '3\n');
    expect([await grown.look(), await grown.look()]).toEqual([0, 1]);
    expect(await bench.contents()).toEqual([half, `${half}2\n`, `${half}2\n3\n`]);
    expect(bench.logLines.filter((line) => line.includes('it is read again, whole'))).toHaveLength(2);
  });

  it('takes one that was replaced when it is due, and no sooner', async () => {
    const { grown, take, ...bench } = await openGrowingTakes();
    const path = await bench.write('exports/crm.csv', half, 1);
    const place = join(bench.folder, 'exports', named);
    await take(place);
    await rename(await bench.write('exports/new', `${half}2\n`, 2), path);
    expect([await grown.look(), await grown.look()]).toEqual([0, 0]);
    expect(await take(place)).toMatchObject({ outcome: 'run' });
    // It is watched from now on, and grows.
    await appendFile(path, '3\n');
    expect([await grown.look(), await grown.look()]).toEqual([0, 1]);
    expect(await bench.contents()).toEqual([half, `${half}2\n`, `${half}2\n3\n`]);
    expect(bench.logLines.filter((line) => line.includes('not read again'))).toEqual([]);
  });

  it('leaves to the tick what that takes sooner', async () => {
    const { grown, take, ...bench } = await openGrowingTakes();
    const path = await bench.write('exports/crm.csv', half);
    const place = join(bench.folder, 'exports', named);
    await take(place);
    await appendFile(path, '2\n');
    expect(await grown.look()).toBe(0);
    expect(await take(place)).toMatchObject({ outcome: 'run' });
    expect([await grown.look(), await grown.look()]).toEqual([0, 0]);
    expect(await bench.contents()).toEqual([half, `${half}2\n`]);
    expect(bench.logLines).toEqual([]);
  });

  it('leaves it alone while a person has paused its schedule, and beside a tick at work', async () => {
    const { grown, take, ledger, ...bench } = await openGrowingTakes();
    const path = await bench.write('exports/crm.csv', half);
    await take(join(bench.folder, 'exports', named));
    await ledger.schedules.put({ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs: 1 });
    await ledger.schedules.setPaused('crm', 2, null);
    await appendFile(path, '2\n');
    expect([await grown.look(), await grown.look()]).toEqual([0, 0]);
    await ledger.schedules.resume('crm', 3, null);
    await ledger.schedules.request({ id: 't1', schedule: 'crm', trigger: 'request', user: null, dueAtMs: 4 });
    await ledger.schedules.begin('t1', 5);
    expect(await grown.look()).toBe(0);
    await ledger.schedules.end('t1', 6, { outcome: 'nothingNew', code: 'fileMoving', message: 'it moves' });
    expect(await grown.look(AbortSignal.abort())).toBe(0);
    expect(await grown.look()).toBe(1);
    expect(await bench.contents()).toEqual([half, `${half}2\n`]);
  });
});
