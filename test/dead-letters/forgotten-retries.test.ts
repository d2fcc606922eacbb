/** A person who is forgotten leaves the reports of retries, which have no file of their own (`docs/rules.md`, "Forgetting a person"). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { forgetPerson, knowPerson } from '#src/operations/forget.ts';
import { csv, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

async function forget(bench: RunsBench, key: string): Promise<Awaited<ReturnType<typeof forgetPerson>>> {
  const { parts, folder } = bench;
  const folders = { root: folder, watched: parts.folders.importFolders };
  const home = { ...parts, folders, runFolders: parts.folders, host: null };
  return forgetPerson(home, await knowPerson(bench.parts, key), 'request 7');
}

async function retry(bench: RunsBench): Promise<RunRecord> {
  const [run] = await redrive(bench.parts, { remap: true });
  return bench.carryOut(run as RunRecord);
}

const header = 'externalId,firstName,email work,phone mobile';
const them = 'person-77,Ilvara,ilvara(at)example.com,415 555 0161x';
const valuesOf = (report: { readonly problems: readonly { readonly value: string }[] }) =>
  report.problems.map(({ value }) => value).toSorted();

describe('a person who is forgotten', () => {
  it('leaves the report of a retry; another one whose row has the same line in another file stays', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([them, 'person-1,Ann,ann(at)example.com,'], header));
    await bench.import('b.csv', csv(['person-770,Bea,bea(at)example.com,415 555 0161x'], header));
    const run = await retry(bench);
    expect(run.counts.dead).toBe(3);
    const done = await forget(bench, 'person-77');
    expect(done.files.map(({ path }) => path)).toContain(join(bench.parts.reports, `${run.id}.json`));
    expect(valuesOf(await bench.report(run))).toEqual(['415 555 0161x', 'ann(at)example.com', 'bea(at)example.com']);
    expect((await forget(bench, 'person-77')).files).toEqual([]);
  });

  it('leaves the report of a run whose archived file has left before', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([them, 'person-1,Ann,ann(at)example.com,'], header));
    await rm(join(bench.folder, 'import', '_done'), { recursive: true });
    await forget(bench, 'person-77');
    expect(valuesOf(await bench.report(run))).toEqual(['ann(at)example.com']);
  });

  it('leaves a report of an older version, whose problems had no keys', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([them, 'person-1,Ann,ann(at)example.com,'], header));
    const [first, second] = [await retry(bench), await retry(bench)];
    for (const { id } of [first, second]) {
      const path = join(bench.parts.reports, `${id}.json`);
      await writeFile(path, (await readFile(path, 'utf8')).replaceAll(/,"key":"person-\d+"\}/g, '}'));
    }
    await forget(bench, 'person-77');
    for (const run of [first, second]) expect(valuesOf(await bench.report(run))).toEqual(['ann(at)example.com']);
  });

  it('leaves it, too, where the row cannot be read, so that it has no key', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([`${them},beyond`, 'person-1,Ann,ann@example.com,,beyond'], header));
    const run = await retry(bench);
    expect((await bench.report(run)).problems).toHaveLength(2);
    await forget(bench, 'person-77');
    expect((await bench.report(run)).problems.map(({ line }: { line: number }) => line)).toEqual([3]);
  });
});
