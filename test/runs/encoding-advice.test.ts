/** What to do about a file whose encoding was assumed depends on how it came: a command is typed for one, and not for the next of a feed. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { takeFile } from '#src/runs/enter-run.ts';
import { expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';

/** In Mac Roman, with too few words to tell it from Windows-1252. */
const inMacRoman = (role: string) =>
  Buffer.concat([Buffer.from('externalId,firstName,role\r\nc-1,Zo'), Buffer.from([0x91]), Buffer.from(`,${role}\r\n`)]);

async function drop(bench: RunsBench, name: string, bytes: Buffer): Promise<RunRecord> {
  const importFolder = join(bench.folder, 'import');
  const place = join(importFolder, 'crm');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, name), bytes);
  return takeFile(bench.parts, { importFolder, folder: 'crm', path: join(place, name) });
}

const read = 'a.csv is not UTF-8 (first at line 2); it was read as Windows-1252, and a word on line 2 looks wrong';

describe('A file whose encoding looks wrong', () => {
  it('names the mapping of its feed where it came by itself, and the next file then sets the value right', async () => {
    const bench = await openRunsBench();
    const run = await bench.carryOut(await drop(bench, 'a.csv', inMacRoman('Buyer')));
    expect(run.notes).toContain(`${read}; encoding: macintosh in the mapping of its feed would probably be right`);
    const mapping = 'name: crm\nencoding: macintosh\nkey: externalId\nfields: { firstName: firstName, role: role }\n';
    await writeFile(join(bench.folder, 'import', 'crm', '_mapping.yaml'), mapping);
    expectCounts(await bench.carryOut(await drop(bench, 'b.csv', inMacRoman('Buyer'))), { rows: 1, updated: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Zoë');
  });

  it('names the option where a command named the file', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', inMacRoman('Buyer'), { feed: 'crm' });
    expect(run.notes).toContain(`${read}; --encoding macintosh would probably be right`);
  });
});
