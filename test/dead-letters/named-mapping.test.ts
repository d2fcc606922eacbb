/** Letters of a file for which a person named a mapping are mapped anew with that one (`docs/rules.md`, "Dead letters"). */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
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
    expectCounts(await again(), { rows: 1, dead: 1 });
    await writeFile(place, named('Phone'));
    expectCounts(await again(), { rows: 1, created: 1 });
    expect(await bench.letters()).toMatchObject([{ state: 'closed' }]);
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
