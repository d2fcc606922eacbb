/** `<run>.changes.csv` and the journal behind it (`docs/rules.md`, "The journal"). */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { changesColumns, changesPath } from '#src/journal/changes-file.ts';
import { unguardFormulas } from '#src/sources/csv-writer.ts';
import { csv, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { dataOf, readAll } from '#test/sources/temp-files.ts';

const header = 'externalId,firstName,role,phone';

/** The file as our own reader reads it, with its formula guards removed; without contact and instant, which differ. */
async function linesOf(bench: RunsBench, runId: string): Promise<readonly (readonly string[])[]> {
  const path = changesPath(bench.parts.folders.reports, runId);
  const { head, items } = await readAll(path, { name: 'changes.csv' });
  expect(head.columns).toEqual([...changesColumns]);
  return dataOf(items).map((cells) => {
    const [key, contact, write, field, before, after, why, at] = (cells as readonly string[]).map(unguardFormulas);
    expect(contact).not.toBe('');
    expect(Date.parse(at ?? '')).not.toBeNaN();
    return [key, write, field, before, after, why].map((cell) => cell ?? '');
  });
}

describe('the file of changes', () => {
  it('holds each value that a run wrote, before and after, and no formula', async () => {
    const bench = await openRunsBench();
    const made = await bench.import('a.csv', csv(['c-1,=1+1,"A, ""B""",+14155550101', 'c-2,Bo,@x,'], header));
    expect(await linesOf(bench, made.id)).toEqual([
      ['c-1', 'create', 'firstName', '', '=1+1', 'added'],
      ['c-1', 'create', 'role', '', 'A, "B"', 'added'],
      ['c-1', 'create', 'phone.+14155550101', '', '+14155550101', 'added'],
      ['c-2', 'create', 'firstName', '', 'Bo', 'added'],
      ['c-2', 'create', 'role', '', '@x', 'added'],
    ]);
    const raw = await readFile(changesPath(bench.parts.folders.reports, made.id), 'utf8');
    expect(raw).toContain("'=1+1");
    expect(raw).toContain("'@x");

    const changed = await bench.import('b.csv', csv(['c-1,=1+1,-2,#CLEAR', 'c-2,Bo,#CLEAR,'], header));
    expect(await linesOf(bench, changed.id)).toEqual([
      ['c-1', 'patch', 'role', 'A, "B"', '-2', 'changed'],
      ['c-1', 'patch', 'phone.+14155550101', '+14155550101', '', 'removed'],
      ['c-2', 'patch', 'role', '@x', '', 'cleared'],
    ]);
    expect((await bench.report(changed)).changesFile).toBe(changesPath(bench.parts.folders.reports, changed.id));
  });

  it('is not written where nothing was changed, and the report says so', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,'], header));
    const again = await bench.import('b.csv', csv(['c-1,Ann,A,'], header));
    expect(await bench.names('reports')).not.toContain(`${again.id}.changes.csv`);
    expect(await bench.report(again)).toMatchObject({ changes: [], changesFile: null, origin: 'command' });
  });
});
