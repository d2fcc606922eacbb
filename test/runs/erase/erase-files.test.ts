/** A forgotten person leaves the files of runs, and nothing else does (`docs/rules.md`, "Forgetting a person"). */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import { eraseFromFiles } from '#src/runs/erase/erase-files.ts';
import { filesHolding, holdsText, linesWithout } from '#src/runs/erase/file-bytes.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { csv, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of parts) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function fileOf(content: string | Uint8Array, name = 'f.csv'): Promise<string> {
  const path = join(tempFolder(), name);
  await writeFile(path, content);
  return path;
}

describe('lines of a file', () => {
  it.each([
    ['LF', 'a\nb\nc\n'],
    ['CR LF', 'a\r\nb\r\nc\r\n'],
    ['CR', 'a\rb\rc\r'],
    ['a mixture', 'a\r\nb\rc\n'],
    ['no line end at the end', 'a\nb\nc'],
  ])('are taken out where lines end with %s', async (_, text) => {
    const path = await fileOf(text);
    const without = (first: number, next: number) => bytesOf(linesWithout(path, [{ first, next }]));
    expect((await without(2, 3)).replaceAll(/[\r\n]/g, '')).toBe('ac');
    expect((await without(1, 2)).replaceAll(/[\r\n]/g, '')).toBe('bc');
    expect((await without(2, Number.MAX_SAFE_INTEGER)).replaceAll(/[\r\n]/g, '')).toBe('a');
    expect(await without(9, 10)).toBe(text);
  });

  it('are taken out at several places of a large file, wherever it is cut into pieces', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index + 1} of many\r\n`);
    const path = await fileOf(lines.join(''));
    const ranges = [5, 6, 20_000, 40_000].map((first) => ({ first, next: first + 1 }));
    const expected = lines.filter((_, index) => !ranges.some(({ first }) => first === index + 1));
    expect(await bytesOf(linesWithout(path, ranges))).toBe(expected.join(''));
  });
});

it('a text is found in UTF-8, UTF-16 and Latin-1, also across pieces, and in folders below', async () => {
  const text = 'zoë@example.com';
  for (const encoding of ['utf8', 'utf16le', 'latin1'] as const) {
    const path = await fileOf(Buffer.from(`x${text}x`, encoding));
    expect(await holdsText(path, [text])).toBe(true);
    expect(await holdsText(path, ['ann@example.com'])).toBe(false);
  }
  const large = await fileOf(`${'x'.repeat(64 * 1024 - 4)}${text}`);
  expect(await holdsText(large, [text])).toBe(true);
  const folder = tempFolder();
  await mkdir(join(folder, 'a', 'b'), { recursive: true });
  await writeFile(join(folder, 'a', 'b', 'one.txt'), text);
  await writeFile(join(folder, 'a', 'service.sqlite'), text);
  const leavesOut = (name: string) => name.startsWith('service.');
  expect(await filesHolding(folder, [text], leavesOut)).toEqual([join(folder, 'a', 'b', 'one.txt')]);
  expect(await filesHolding(join(folder, 'none'), [text], leavesOut)).toEqual([]);
});

const mapping = mappingSchema.parse({
  name: 'crm',
  key: 'Id',
  keyPrefix: 'crm-',
  fields: { firstName: 'Name', role: 'Role' },
  emails: [{ column: 'Mail', optional: true }],
});
const person = { key: 'crm-17', contactId: null, texts: ['crm-17', 'zelda@example.com'] };
const header = 'Id,Name,Role';

const erase = async ({ ledger, parts }: RunsBench) =>
  (await eraseFromFiles({ ledger, folders: parts.folders, host: null }, person)).erased;
const archived = async (bench: RunsBench, folder: string) => {
  const names = await bench.names('import', folder);
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [
        name.replace(/^.*__/, ''),
        await readFile(join(bench.folder, 'import', folder, name), 'utf8'),
      ]),
    ),
  );
};

describe('archives', () => {
  it('lose the rows that their mapping takes for the person: other rows with the same text stay', async () => {
    const bench = await openRunsBench();
    const rows = [header, '16,Ann,17', '17,"Zel\r\nda",Clerk', '170,Bea,Clerk', ''];
    await bench.import('a.csv', rows.join('\r\n'), { mapping });
    const [erased] = await erase(bench);
    expect(erased).toMatchObject({ removed: 1 });
    expect((await archived(bench, '_done'))['a.csv']).toBe([header, '16,Ann,17', '170,Bea,Clerk', ''].join('\r\n'));
    expect(await erase(bench)).toEqual([]);
  });

  it('that cannot be cut are deleted whole, and others are left', async () => {
    const bench = await openRunsBench();
    await bench.import('a.json', '[{"Id":"17","Name":"Zelda","Role":"x"},{"Id":"1","Name":"Ann"}]', { mapping });
    await bench.import('b.json', '[{"Id":"2","Name":"Bea","Role":"x"}]', { mapping });
    const utf16 = Buffer.from(`\ufeff${header}\r\n17,Zelda,Clerk\r\n`, 'utf16le');
    await bench.import('c.csv', utf16, { mapping });
    expect((await erase(bench)).filter(({ removed }) => removed === null)).toHaveLength(2);
    expect(Object.keys(await archived(bench, '_done')).filter((name) => !name.endsWith('.txt'))).toEqual(['b.json']);
  });

  it('that could not be read are deleted where they hold a text of the person', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', 'no,id\r\nzelda@example.com,x\r\n', { mapping });
    await bench.import('b.csv', 'no,id\r\nann@example.com,x\r\n', { mapping });
    await erase(bench);
    expect(Object.keys(await archived(bench, '_failed')).toSorted()).toEqual([
      ...['a.csv.reason.txt', 'b.csv', 'b.csv.reason.txt'],
    ]);
  });

  it('that could not be read lose the lines whose key is short or made of several cells; others are named', async () => {
    const bench = await openRunsBench();
    const short = mappingSchema.parse({ name: 'short', key: 'Id', fields: { firstName: 'Name' } });
    const made = mappingSchema.parse({
      name: 'made',
      key: { join: ['A', 'B'], with: '-' },
      fields: { firstName: 'Name' },
    });
    await bench.import('a.csv', 'Id,Name\r\n1-7,Zelda\r\n170,1-7\r\n3,"Ann\r\n', { mapping: short });
    await bench.import('b.csv', 'A,B,Name\r\n1,7,Zelda\r\n17,x,Bea\r\n3,4,"Ann\r\n', { mapping: made });
    await bench.import('c.csv', 'no,Name\r\n1-7,Zelda\r\n', { mapping: short });
    await bench.import('d.csv.gz', gzipSync('Id,Name\r\n1-7,Zelda\r\n').subarray(0, 20), { mapping: short });
    const them = { key: '1-7', contactId: null, texts: [] };
    const { ledger, parts } = bench;
    const { erased, unsearched } = await eraseFromFiles({ ledger, folders: parts.folders, host: null }, them);
    expect(erased.map(({ removed }) => removed)).toEqual([1, 1]);
    expect(unsearched.map((path) => path.replace(/^.*__/, ''))).toEqual(['c.csv', 'd.csv.gz']);
    const files = await archived(bench, '_failed');
    expect([files['a.csv'], files['b.csv']]).toEqual([
      'Id,Name\r\n170,1-7\r\n3,"Ann\r\n',
      'A,B,Name\r\n17,x,Bea\r\n3,4,"Ann\r\n',
    ]);
  });

  it('and fix-files and reports lose rejected rows of the person', async () => {
    const bench = await openRunsBench();
    const run = await bench.import(
      'a.csv',
      ['Id,Name,Role,Mail', '17,Zelda,Clerk,zelda@', '18,Ann,Clerk,ann@', ''].join('\r\n'),
      { mapping },
    );
    expect(run.counts.dead).toBe(2);
    await erase(bench);
    const fixed = Object.values(await archived(bench, '_fix')).join('');
    expect([fixed.includes('Zelda'), fixed.includes('Ann')]).toEqual([false, true]);
    const report = await bench.report(run);
    expect(report.problems.map(({ line }: { line: number }) => line)).toEqual([3]);
    expect(await readdir(bench.parts.folders.reports)).toContain(`${run.id}.json`);
  });

  it('lose a row of a fix-file that names a letter of the person, whatever a spreadsheet made of its key', async () => {
    const bench = await openRunsBench();
    const mailed = ['Id,Name,Role,Mail', '17,Zelda,Clerk,zelda@', '18,Ann,Clerk,ann@', ''].join('\r\n');
    const { text } = await bench.fixFile(await bench.import('a.csv', mailed, { mapping }));
    const mended = text.replace('17,Zelda', '17.00,Zelda').replaceAll('@,', '@example.org,');
    expect((await bench.import('fixed.csv', mended)).counts).toMatchObject({ created: 2 });
    const letterIds = new Set((await bench.letters()).flatMap(({ id, key }) => (key === 'crm-17' ? [id] : [])));
    const { ledger, parts } = bench;
    await eraseFromFiles({ ledger, folders: parts.folders, host: null }, { ...person, letterIds });
    const fixed = (await archived(bench, '_done'))['fixed.csv'] ?? '';
    expect([fixed.includes('Zelda'), fixed.includes('Ann')]).toEqual([false, true]);
  });

  it('keep what belongs to another person with the same address', async () => {
    const bench = await openRunsBench();
    const shared = mappingSchema.parse({ ...mapping, fields: { firstName: 'Name' }, emails: [{ column: 'Mail' }] });
    const mail = 'zelda@example.com';
    const rows = (name: string) =>
      csv([`17,Zelda${name},${mail}`, `18,Ann${name},${mail}`, `170,,${mail}`], 'Id,Name,Mail');
    await bench.import('a.csv', rows(''), { mapping: shared });
    const run = await bench.import('b.csv', rows(' B').replace('18,Ann B', '18,Ann\u0007'), { mapping: shared });
    const last = await bench.import('c.csv', rows(' C'), { mapping: shared });
    expect([run.counts.dead, last.counts.updated]).toEqual([1, 2]);
    await erase(bench);
    const fixed = Object.values(await archived(bench, '_fix')).join('');
    expect(fixed).toContain(`18,Ann\u0007,${mail}`);
    expect((await bench.report(run)).problems).toHaveLength(1);
    expect((await bench.report(last)).changes.map(({ key }: { key: string }) => key)).toEqual(['crm-18']);
    const changes = await readFile(join(bench.parts.folders.reports, `${last.id}.changes.csv`), 'utf8');
    expect([changes.includes('crm-18'), changes.includes('crm-17')]).toEqual([true, false]);
    expect(await bench.names('import', '_done')).toHaveLength(6);
  });

  it('keep an entry of another person that names the key of this one, without the key', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['1,Ann,Clerk'], header), { mapping });
    const path = join(bench.parts.folders.reports, `${run.id}.json`);
    const of = (key: string, contact: string) => ({
      kind: 'match',
      line: 2,
      key,
      contact,
      message: `as ${contact} has`,
    });
    const outcomes = [of('crm-1', 'crm-17'), of('crm-170', 'crm-170'), of('crm-17', 'crm-1')];
    await writeFile(path, JSON.stringify({ outcomes }));
    await erase(bench);
    expect(JSON.parse(await readFile(path, 'utf8')).outcomes).toEqual([
      of('crm-1', '(forgotten)'),
      of('crm-170', 'crm-170'),
    ]);
  });

  it('name the person in no reason that was given, and keep what it was given for', async () => {
    const bench = await openRunsBench();
    const options = { accept: true, acceptReason: 'Zelda@Example.com wrote, ann@example.com too' };
    const run = await bench.import('a.csv', csv(['1,Ann,Clerk'], header), { mapping, options });
    const path = join(bench.parts.folders.reports, `${run.id}.json`);
    const approvals = ['zelda@example.com asked', 'they asked'].map((reason) => ({
      at: 'now',
      code: 'guardRows',
      reason,
    }));
    await writeFile(path, JSON.stringify({ ...(await bench.report(run)), approvals }));
    expect(await erase(bench)).toEqual([{ path, removed: 2 }]);
    expect(await bench.report(run)).toMatchObject({
      options: { accept: true, acceptReason: '(forgotten) wrote, ann@example.com too' },
      approvals: [{ code: 'guardRows', reason: '(forgotten) asked' }, approvals[1]],
    });
    expect(await erase(bench)).toEqual([]);
  });

  it('lose rows of the person whose cells have moved', async () => {
    const bench = await openRunsBench();
    const rows = ['Zelda,Anne,17,Clerk', '17,Zelda', 'Bea,1,17', 'Zelda,17,Clerk,x,y'];
    const moved = mappingSchema.parse({ ...mapping, emails: [] });
    const run = await bench.import('a.csv', csv(rows, 'Name,Id,Role'), { mapping: moved });
    expect(run.counts.dead).toBe(3);
    await erase(bench);
    expect((await archived(bench, '_done'))['a.csv']).toBe(csv(['Bea,1,17'], 'Name,Id,Role'));
    expect(Object.values(await archived(bench, '_fix')).join('')).not.toContain('Zelda');
    expect((await bench.report(run)).problems).toEqual([]);
  });
});
