/** Letters of a file for which a person named a mapping are mapped anew with that one (`docs/rules.md`, "Dead letters"). */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redrive, redriveEdited } from '#src/dead-letters/redrive.ts';
import { findMapping } from '#src/feeds/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { expectCounts, openRunsBench } from '#test/runs/support/runs-bench.ts';

const named = (phone: string) =>
  `name: named\nkey: Nr\nfields:\n  firstName: Name\nphones:\n  - column: ${phone}\n    label: work\n`;

/** A file with a row that the named mapping rejects. */
async function rejectedRow() {
  const bench = await openRunsBench();
  const place = join(bench.folder, 'named.yaml');
  await writeFile(place, named('Tel'));
  await bench.import('named.csv', 'Nr,Name,Tel,Phone\r\nc-1,Ann,call me,+14155550100\r\n', {
    mapping: await findMapping(place),
    mappingNamed: place,
  });
  expect(await bench.letters()).toMatchObject([{ state: 'open' }]);
  return { bench, place };
}

describe('a dead letter of a file with a mapping of its own', () => {
  it('is mapped anew with that mapping, as it is now, and again where it dies again', async () => {
    const { bench, place } = await rejectedRow();
    const again = async () => bench.carryOut((await redrive(bench.parts, { remap: true }))[0] as RunRecord);
    const first = await again();
    expectCounts(first, { rows: 1, dead: 1 });
    expect(first.notes).toEqual([]);
    await writeFile(place, named('Phone'));
    const second = await again();
    expectCounts(second, { rows: 1, created: 1 });
    const since = `the mapping ${place} has changed since run ${first.id} rejected these rows`;
    expect(second.notes).toEqual([`${since}: they are mapped anew with it as it is now`]);
    expect(await bench.letters()).toMatchObject([{ state: 'closed' }]);
  });

  it('is edited and mapped anew: the run says that the mapping has changed, but not where its fixtures alone did', async () => {
    const { bench, place } = await rejectedRow();
    const edit = async (cell: string) => {
      const [letter] = await bench.letters();
      if (letter?.row?.kind !== 'cells') throw new Error('the letter has no row');
      const row = { ...letter.row, cells: letter.row.cells.with(2, cell) };
      const at = { atMs: bench.world.clock.nowMs(), ledgerAtMs: 0 };
      const act = { kind: 'deadEdit', who: 'test', by: 'command', reason: null, ...at, facts: {} } as const;
      return bench.carryOut((await redriveEdited(bench.parts, letter, row, act)) as RunRecord);
    };
    await writeFile(place, `${named('Tel')}title: Another title\n`);
    expect((await edit('call her')).notes).toEqual([]);
    await writeFile(place, named('Phone'));
    expect((await edit('+14155550101')).notes).toMatchObject([
      expect.stringContaining(`the mapping ${place} has changed`),
    ]);
  });

  it('stays open where that mapping is gone, and the error names it', async () => {
    const { bench, place } = await rejectedRow();
    await rm(place);
    await expect(redrive(bench.parts, { remap: true })).rejects.toMatchObject({
      code: 'mappingGone',
      message: `the mapping ${place}, which was named when named.csv was imported, is not there any more`,
    });
    expect(await bench.letters()).toMatchObject([{ state: 'open' }]);
  });
});
