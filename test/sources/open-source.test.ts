import { execFileSync } from 'node:child_process';
import { appendFile, rename } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { itemsPerSliceMax } from '#src/sources/format-reader.ts';
import { openSource } from '#src/sources/open-source.ts';
import { dataOf, errorOf, readAll, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const table = 'id,name\n1,Zoë €\n2,Ünal 😀\n';
const cells = [
  ['1', 'Zoë €'],
  ['2', 'Ünal 😀'],
];
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const _slice of batches);
}

describe('encodings', () => {
  it.each([
    ['UTF-8', Buffer.from(table), 'utf-8'],
    ['UTF-8 with a BOM, stripped once', Buffer.from(`\ufeff${table}`), 'utf-8'],
    ['UTF-16LE with a BOM', Buffer.from(`\ufeff${table}`, 'utf16le'), 'utf-16le'],
    ['UTF-16BE with a BOM', swapped(`\ufeff${table}`), 'utf-16be'],
    ['UTF-16LE by its NUL pattern', Buffer.from(table, 'utf16le'), 'utf-16le'],
    ['UTF-16BE by its NUL pattern', swapped(table), 'utf-16be'],
  ])('reads %s', async (_name, bytes, encoding) => {
    const { head, items, tail } = await readText(folder, 'e.csv', bytes);
    expect(head).toMatchObject({ encoding, columns: ['id', 'name'] });
    expect([dataOf(items), tail.warnings]).toEqual([cells, []]);
  });

  it('takes what is not UTF-8 for Windows-1252 and names the first such line', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,name\r\n1,"a\r\nb"\r2,'),
      Buffer.from([0x80, 0x92, 0xfc]),
      Buffer.from('\r\n'),
    ]);
    const { head, items, tail } = await readText(folder, 'w.csv', bytes);
    expect([head.encoding, dataOf(items)]).toEqual([
      'windows-1252',
      [
        ['1', 'a\r\nb'],
        ['2', '€’ü'],
      ],
    ]);
    expect(tail.warnings).toMatchObject([{ code: 'encodingAssumed', line: 4 }]);
  });

  it('finds a bad byte far inside a large file, behind characters that chunks cut', async () => {
    const good = Buffer.from(`${'€ü'.repeat(10)}\n`.repeat(5_000));
    const { tail } = await readText(folder, 'w.csv', Buffer.concat([good, Buffer.from([0xff, 0x0a])]));
    expect(tail.warnings[0]).toMatchObject({ code: 'encodingAssumed', line: 5_001 });
  });

  it('reads many multi-byte characters across chunk borders without a loss', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => [`${index}`, '€é😀'.repeat((index % 7) + 1)]);
    const { items } = await readText(folder, 'm.csv', `id,v\n${rows.map((row) => row.join(',')).join('\n')}`);
    expect(dataOf(items)).toEqual(rows);
  });

  it('lets --encoding override, and is strict then', async () => {
    const latin = Buffer.from('id\n\xfc\n', 'latin1');
    const error = await errorOf(readText(folder, 's.csv', latin, { encoding: 'utf8' }));
    expect(error).toMatchObject({ code: 'encodingInvalid', facts: { line: 2 } });
    expect(
      dataOf((await readText(folder, 's.csv', Buffer.from([0x69, 0x64, 0x0a, 0x8a]), { encoding: 'macintosh' })).items),
    ).toEqual([['ä']]);
    expect(await errorOf(readText(folder, 's.csv', 'id', { encoding: 'klingon' }))).toMatchObject({
      kind: 'usage',
      code: 'encodingUnknown',
    });
  });

  it('names what said that a file is UTF-8 where it is not, and no encoding behind its mark', async () => {
    const latin = Buffer.from('id\n\xfc\n', 'latin1');
    const marked = Buffer.concat([Buffer.from('\ufeff'), latin]);
    const hintOf = async (bytes: Buffer, options: object): Promise<string> =>
      (await errorOf(readText(folder, 's.csv', bytes, options))).hint ?? '';
    expect(await hintOf(latin, { encoding: 'utf8' })).toContain('without --encoding it is detected');
    expect(await hintOf(latin, { encodingIfNotUtf8: 'utf-8' })).toContain('in its mapping (encoding: windows-1252)');
    for (const options of [{}, { encoding: 'utf8' }, { encodingIfNotUtf8: 'windows-1252' }])
      expect(await hintOf(marked, options)).toBe(
        'The file begins with the mark of UTF-8: correct the line, or export the file again.',
      );
  });

  it.each([
    ['with its mark', '\ufeff'],
    ['without a mark', ''],
  ])('refuses UTF-32 %s, and says what it is', async (_name, mark) => {
    const little = Buffer.from(Uint32Array.from([...`${mark}${table}`], (char) => char.codePointAt(0) ?? 0).buffer);
    for (const bytes of [little, Buffer.from(little).swap32()]) {
      const error = await errorOf(readText(folder, 'w.csv', bytes));
      expect(error).toMatchObject({ code: 'formatUnknown', hint: expect.stringContaining('UTF-8') });
      expect(error.message).toContain('UTF-32');
    }
  });

  it('refuses half a character at the end of UTF-16', async () => {
    const bytes = Buffer.from(`\ufeff${table}`, 'utf16le').subarray(0, -1);
    expect((await errorOf(readText(folder, 'h.csv', bytes))).code).toBe('encodingInvalid');
  });
});

describe('gzip', () => {
  const packed = gzipSync(table);
  const read = (bytes: Uint8Array, options = {}) => readText(folder, 'g.csv.gz', bytes, options);

  it('reads a packed file, also of several members', async () => {
    expect(dataOf((await read(packed)).items)).toEqual(cells);
    expect(dataOf((await read(Buffer.concat([packed, gzipSync('3,x\n')]))).items)).toEqual([...cells, ['3', 'x']]);
  });

  it('refuses a packed file cut anywhere', async () => {
    for (let cut = 2; cut < packed.length; cut++) {
      expect((await errorOf(read(packed.subarray(0, cut)))).code).toBe('gzipTruncated');
    }
    expect((await errorOf(read(Buffer.alloc(0)))).code).toBe('gzipTruncated');
  });

  it.each([
    ['text', Buffer.from('junk')],
    ['zeros', Buffer.alloc(12)],
    ['a zero and text', Buffer.from('\0junk')],
  ])('refuses trailing junk: %s', async (_name, junk) => {
    expect((await errorOf(read(Buffer.concat([packed, junk])))).code).toBe('gzipTrailingJunk');
  });

  it('refuses damaged data, and what is no gzip at all', async () => {
    const damaged = Buffer.from(packed);
    damaged[packed.length - 6] = (damaged[packed.length - 6] ?? 0) ^ 0xff;
    expect((await errorOf(read(damaged))).code).toBe('gzipDamaged');
    expect((await errorOf(read(Buffer.from(table)))).code).toBe('gzipInvalid');
  });

  it('refuses a bomb at 200:1, and at the unpacked limit', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, 'a,b\n'));
    expect((await errorOf(read(bomb))).code).toBe('gzipBomb');
    expect((await errorOf(read(packed, { limits: { unpackedBytesMax: 20 } }))).code).toBe('gzipBomb');
    expect((await errorOf(readText(folder, 'p.csv', table, { limits: { unpackedBytesMax: 20 } }))).code).toBe(
      'fileTooLarge',
    );
  });
});

describe('files', () => {
  it.each([
    ['a.xls', 'CSV UTF-8'],
    ['a.xlsb', 'CSV UTF-8'],
    ['a.ods', 'CSV UTF-8'],
    ['a.numbers', 'CSV UTF-8'],
    ['a.7z', 'Unpack it'],
    ['a.xlsx.gz', 'Unpack it'],
    ['a.pdf', '.ndjson'],
    ['a', '.ndjson'],
  ])('refuses %s with the way out', async (name, hint) => {
    const error = await errorOf(readText(folder, name, 'x'));
    expect([error.code, error.hint?.includes(hint)]).toEqual(['formatUnknown', true]);
  });

  it.each([
    ['%PDF-1.7', '.csv'],
    [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), '.csv'],
    [Buffer.alloc(300), '.csv'],
  ])('refuses the content %j under the name .csv', async (start, hint) => {
    const error = await errorOf(
      readText(folder, 'liar.csv', Buffer.concat([Buffer.from(start), Buffer.from(' more')])),
    );
    expect([error.code, error.hint?.includes(hint)]).toEqual(['formatUnknown', true]);
    expect((await errorOf(readText(folder, 'liar.csv', gzipSync('a')))).hint).toContain('.gz');
  });

  it('refuses a file that is edited while being read', async () => {
    const path = await folder.write('edited.csv', `id\n${'1\n'.repeat(100_000)}`);
    const source = await openSource(path, { name: 'edited.csv' });
    const readAndEdit = async () => {
      for await (const _slice of source.slices()) await appendFile(path, '2\n');
    };
    expect((await errorOf(readAndEdit())).code).toBe('changedWhileRead');
    await source.close();
  });

  it('refuses a file that is replaced while being read, even when the rest of it is broken', async () => {
    const path = await folder.write('replaced.csv', `id\n${'1\n'.repeat(100)}"`);
    const other = await folder.write('other.csv', `id\n${'1\n'.repeat(100)}"`);
    const source = await openSource(path, { name: 'replaced.csv' });
    await rename(other, path);
    const error = await errorOf(drain(source.slices()));
    expect(error).toMatchObject({ code: 'changedWhileRead', message: 'replaced.csv changed while being read' });
    await source.close();
    await source.close();
  });

  it('refuses a folder, a FIFO and a missing file without blocking', async () => {
    execFileSync('mkfifo', [folder.path('pipe.csv')]);
    execFileSync('mkdir', [folder.path('folder.csv')]);
    for (const [name, code] of [
      ['pipe.csv', 'notAFile'],
      ['folder.csv', 'notAFile'],
      ['none.csv', 'fileMissing'],
    ] as const) {
      expect((await errorOf(readAll(folder.path(name), { name }))).code).toBe(code);
    }
  });

  it('may be left in the middle and closed', async () => {
    const source = await openSource(await folder.write('left.csv.gz', gzipSync(`id\n${'1\n'.repeat(300_000)}`)), {
      name: 'left.csv.gz',
    });
    for await (const slice of source.slices()) {
      expect(slice.length).toBe(itemsPerSliceMax);
      break;
    }
    await source.close();
  });

  it('reads ahead no further than one chunk while the reader waits', async () => {
    const path = await folder.write('slow.csv', `id\n${'1234567\n'.repeat(1_000_000)}`);
    const source = await openSource(path, { name: 'slow.csv' });
    const iterator = source.slices()[Symbol.asyncIterator]();
    await iterator.next();
    const before = process.memoryUsage().heapUsed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 1024 * 1024);
    await iterator.return?.();
    await source.close();
  });
});
