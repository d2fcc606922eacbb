/** A default country is proposed from the workspace's own phone numbers, and never assumed. */
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import { takeFile } from '#src/runs/enter-run.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { csv, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,phone';
const rows = ['a,Ada,030 1234567', 'b,Bob,0171 1234567', 'c,Cy,+14155550103'];
const original =
  'Write the number with + and its country code, or set defaultCountry in the mapping (--default-country).';

/** A bench whose workspace has these numbers; what it is asked is counted. */
async function benchWith(numbers: readonly string[] | Error) {
  const bench = await openRunsBench();
  const asked = vi.fn(async function* (): AsyncGenerator<readonly PhoneNumber[]> {
    if (numbers instanceof Error) throw numbers;
    yield numbers.map((number, index) => ({ id: `PN${index}`, number }));
  });
  const workspace = { ...bench.parts.workspace, listPhoneNumberPages: asked };
  return { bench, asked, workspace };
}

async function staged(bench: RunsBench, workspace: RunsBench['parts']['workspace'], lines: readonly string[] = rows) {
  const run = await bench.submit('a.csv', csv(lines, header));
  const end = await bench.stage(run, { parts: { ...bench.parts, workspace } });
  const hints = (await bench.deadRows(end)).flatMap(({ problems }) => problems.map(({ hint }) => hint));
  return { notes: end.notes, hints };
}

describe('numbers without a country code', () => {
  it('get the country of the workspace proposed: in a note, and in the hint of each problem', async () => {
    const { bench, asked, workspace } = await benchWith(['+49301234567', '+491701234567']);
    const { notes, hints } = await staged(bench, workspace);
    expect(notes).toEqual([
      '2 numbers have no country code. The numbers of your workspace are in Germany (DE): if these are, too, import again with --default-country DE',
    ]);
    expect(hints).toHaveLength(2);
    for (const hint of hints)
      expect(hint).toMatch(/^If it is a number in Germany \(DE\).*--default-country DE\); otherwise/);
    expect(asked).toHaveBeenCalledTimes(1);
    expect((await bench.ledger.runs.list({ limit: 1 }))[0]?.counts).toMatchObject({ rows: 3, dead: 2 });
  });

  it('where the workspace has numbers in several countries, name these, the most frequent first', async () => {
    const { bench, workspace } = await benchWith(['+436641234567', '+49301234567', '+491701234567']);
    const { notes, hints } = await staged(bench, workspace, rows.slice(0, 1));
    expect(notes).toEqual([
      '1 number has no country code. The numbers of your workspace are in Germany (DE) and Austria (AT): if this one is in one of them, import again with its code, as in --default-country DE',
    ]);
    expect(hints[0]).toContain('Your workspace has numbers in Germany (DE) and Austria (AT).');
  });

  it('count countries with one calling code as one, and international numbers as none', async () => {
    const { bench, workspace } = await benchWith(['+80012345678', '+14155550101', '+14155550102', '+16135550177']);
    expect((await staged(bench, workspace)).notes[0]).toContain('are in the United States (US): if');
  });

  it('name the feed beside the option, where the file was imported into one', async () => {
    const { bench, workspace } = await benchWith(['+49301234567']);
    const run = await bench.submit('a.csv', csv(rows, header), { feed: 'at home' });
    const end = await bench.stage(run, { parts: { ...bench.parts, workspace } });
    expect(end.notes.join()).toMatch(/, too, import again with --feed 'at home' --default-country DE$/);
    const [hint] = (await bench.deadRows(end)).flatMap(({ problems }) => problems.map((one) => one.hint));
    expect(hint).toContain('import again into feed at home with that (--default-country DE); otherwise');
  });

  it('name the setting for files that come by themselves, and the retry, which then goes in', async () => {
    const { bench, workspace } = await benchWith(['+49301234567']);
    await bench.write('import/a.csv', csv(rows, header));
    const parts = { ...bench.parts, workspace };
    const [importFolder = ''] = parts.folders.importFolders;
    const run = await takeFile(parts, { importFolder, folder: null, path: join(importFolder, 'a.csv') });
    const end = await bench.stage(run, { parts });
    const cure =
      'set mapping.defaultCountry to DE (for this feed alone: defaultCountry in its mapping), restart Patchbay where it runs, and try the rejected rows again';
    const command = 'patchbay dead retry --feed main --remap';
    expect(end.notes).toEqual([
      `2 numbers have no country code. The numbers of your workspace are in Germany (DE): if these are, too, ${cure}: ${command}`,
    ]);
    const [hint] = (await bench.deadRows(end)).flatMap(({ problems }) => problems.map((one) => one.hint));
    expect(hint).toBe(
      `Write it with + and its country code. Or, if it is a number in Germany (DE), as those of your workspace are, ${cure}: ${command}`,
    );
    const { text } = await bench.fixFile(await bench.finish(await bench.apply(end)));
    expect(text).toContain('try the rejected rows again by dead retry (--remap).');
    const today = { ...parts, defaultCountry: 'DE' };
    const [again] = await redrive(today, { feed: 'main', remap: true });
    if (again === undefined) throw new Error('nothing is tried again');
    expect((await bench.stage(again, { parts: today })).counts).toMatchObject({ rows: 2, dead: 0 });
  });

  it('are compared with the latest snapshot, so that the service is not asked', async () => {
    const { bench, asked, workspace } = await benchWith(['+14155550101']);
    await bench.ledger.snapshots.publish({
      record: {
        ...{ series: workspaceSeries, takenAtMs: 1, contentOfMs: 1, count: 1, pages: 1, changed: true },
        ...{ added: 0, removed: 0, changedNumbers: 0 },
      },
      numbers: [{ id: 'PN1', number: '+33142685301' }],
      deliveries: [],
    });
    expect((await staged(bench, workspace)).notes[0]).toContain('France (FR)');
    expect(asked).not.toHaveBeenCalled();
  });

  it.each([
    ['cannot be asked', new PatchbayError('unreachable', 'unreachable', 'gone')],
    ['has no numbers', []],
    ['has none with a country', ['+80012345678', 'x']],
  ])('keep their hint where the workspace %s, and nothing fails', async (_, numbers) => {
    const { bench, workspace } = await benchWith(numbers);
    expect(await staged(bench, workspace)).toEqual({ notes: [], hints: [original, original] });
  });

  it('cost no request where there are none', async () => {
    const { bench, asked, workspace } = await benchWith(['+14155550101']);
    expect((await staged(bench, workspace, ['c,Cy,+14155550103', 'd,Dee,nobody'])).notes).toEqual([]);
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('numbers of rows whose country is none that is known', () => {
  const by = (more: object = {}) =>
    mapping({
      name: 'zoho-like',
      key: 'Id',
      fields: { firstName: 'Name' },
      phones: [{ column: 'Phone', country: { column: 'Country' }, ...more }],
    });
  const lines = ['1,Ann,4155550101,United States of Amerika', '2,Bo,4155550102,', '3,Cy,4155550103,Atlantis'];

  async function stagedBy(more: object) {
    const { bench, workspace } = await benchWith(['+14155550101']);
    const run = await bench.submit('z.csv', csv(lines, 'Id,Name,Phone,Country'), {
      mapping: by(more),
    });
    const end = await bench.stage(run, { parts: { ...bench.parts, workspace } });
    return { end, problems: (await bench.deadRows(end)).flatMap(({ problems }) => problems) };
  }

  const unknownNote =
    '2 numbers have no country code, and "Country" holds no country that is known (first at line 2): correct these cells, or write the numbers with + and the country code; --default-country changes nothing where "Country" is filled';

  it('get a note and a hint that name the column and what its cell holds, not a default country that changes nothing', async () => {
    const { end, problems } = await stagedBy({});
    expect(end.notes).toEqual([
      '1 number has no country code. The numbers of your workspace are in the United States (US): if this one is, too, import again with --default-country US',
      unknownNote,
    ]);
    expect(problems.map(({ line, hint }) => [line, hint])).toEqual([
      [
        2,
        'Correct “United States of Amerika” in "Country" (a code such as US, or the name of a country), or write the number with + and its country code.',
      ],
      [3, expect.stringContaining('--default-country US')],
      [4, expect.stringContaining('Correct “Atlantis” in "Country"')],
    ]);
  });

  it('get the same note where the values are left out (onInvalid: drop)', async () => {
    const { end, problems } = await stagedBy({ onInvalid: 'drop' });
    expect(problems).toEqual([]);
    expect(end.notes).toContain(unknownNote);
  });
});
