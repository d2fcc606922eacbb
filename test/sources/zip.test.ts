import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SourceOptions } from '#src/sources/open-source.ts';
import { dataOf, errorOf, type ReadFile, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';
import { workbookOf } from '#test/support/workbook.ts';
import { type ZipMember, zipFile } from '#test/support/zip-file.ts';

const folder = useTempFolder();
const readBytes = (bytes: Uint8Array, options: Partial<SourceOptions> = {}): Promise<ReadFile> =>
  readText(folder, 'export.zip', bytes, options);
const read = (members: readonly ZipMember[], options: Partial<SourceOptions> = {}): Promise<ReadFile> =>
  readBytes(zipFile(members), options);
const failed = (members: readonly ZipMember[], options: Partial<SourceOptions> = {}) => errorOf(read(members, options));
const table = 'id,name\n1,Zoë\n';
const row = [['1', 'Zoë']];

describe('an archive with one readable file', () => {
  it.each<readonly [string, string | Uint8Array, string]>([
    ['contacts.csv', table, 'csv'],
    ['a/b/contacts.tsv', table.replaceAll(',', '\t'), 'csv'],
    ['contacts.txt', table.replaceAll(',', ';'), 'csv'],
    ['contacts.json', '[{"id":"1"}]', 'json'],
    ['contacts.jsonl', '{"id":"1"}\n{"id":"2"}\n', 'ndjson'],
    [
      'contacts.xlsx',
      workbookOf([
        ['id', 'name'],
        ['1', 'Zoë'],
      ]),
      'xlsx',
    ],
  ])('is read as %s', async (name, data, format) => {
    for (const stored of [false, true]) {
      const { head, items, tail } = await read([{ name, data, stored }]);
      expect(head.format).toBe(format);
      expect(JSON.stringify(dataOf(items)[0])).toContain('1');
      expect(tail.warnings).toEqual([]);
    }
  });

  it('whatever file managers and exporters put beside it', async () => {
    const { items, tail } = await read([
      { name: '__MACOSX/._contacts.csv', data: 'x' },
      { name: '.DS_Store', data: 'x' },
      { name: 'folder/', data: '' },
      { name: 'folder/Thumbs.db', data: 'x' },
      { name: 'README.txt', data: 'Read me' },
      { name: 'folder/contacts.csv', data: table },
      { name: 'photo.jpg', data: 'x' },
    ]);
    expect(dataOf(items)).toEqual(row);
    expect(tail.warnings).toMatchObject([
      { code: 'otherFiles', message: 'of export.zip only folder/contacts.csv was read, not README.txt, photo.jpg' },
    ]);
  });

  it('is named in messages together with the archive', async () => {
    const error = await failed([{ name: 'contacts.csv', data: 'id\n"1' }]);
    expect([error.code, error.message]).toEqual([
      'quoteNeverCloses',
      'contacts.csv in export.zip: quote opened at line 2 never closes',
    ]);
  });

  it('is found by its content under another name', async () => {
    const { items } = await readText(folder, 'liar.csv', zipFile([{ name: 'contacts.csv', data: table }]));
    expect(dataOf(items)).toEqual(row);
  });

  it('keeps its own encoding, found over several passes', async () => {
    const { head, items, tail } = await read([{ name: 'c.csv', data: Buffer.from(table, 'latin1') }]);
    expect([head.encoding, dataOf(items), warningCodes(tail)]).toEqual(['windows-1252', row, ['encodingAssumed']]);
  });
});

describe('an archive with something else', () => {
  const csv = (name: string): ZipMember => ({ name, data: table });

  it('two or more readable files: named, and to be dropped by themselves', async () => {
    const error = await failed([csv('subscribed.csv'), csv('unsubscribed.csv'), csv('cleaned.csv')]);
    expect([error.code, error.message, error.hint]).toEqual([
      'zipSeveral',
      'export.zip holds 3 files that can be read: subscribed.csv, unsubscribed.csv, cleaned.csv',
      expect.stringContaining('Unpack it and drop the files you want'),
    ]);
    const many = await failed(Array.from({ length: 25 }, (_, index) => csv(`${index}.csv`)));
    expect(many.message).toContain('19.csv and 5 more');
    const cards = await failed([
      { name: 'Ada.vcf', data: '' },
      { name: 'Cards/Bo.vcf', data: '' },
    ]);
    expect(cards.hint).toBe(
      'Unpack it and join the cards to one file (cat *.vcf > all.vcf); as files of one feed they need kind: delta.',
    );
  });

  it.each<readonly [string, readonly ZipMember[], string, string]>([
    ['nothing', [], 'zipEmpty', 'an archive without a file'],
    ['folders only', [{ name: 'a/', data: '' }], 'zipEmpty', 'an archive without a file'],
    ['nothing readable', [{ name: 'a.pdf', data: 'x' }], 'zipEmpty', 'no file that can be read, but: a.pdf'],
    ['an archive inside', [{ name: 'inner.zip', data: zipFile([csv('a.csv')]) }], 'zipEmpty', 'inner.zip'],
    ['a gzip file inside', [{ name: 'a.csv.gz', data: gzipSync(table) }], 'zipEmpty', 'a.csv.gz'],
    [
      'an archive called .csv inside',
      [{ name: 'a.csv', data: zipFile([csv('a.csv')]) }],
      'formatUnknown',
      'another archive',
    ],
    [
      'an archive called .xlsx inside',
      [{ name: 'a.xlsx', data: zipFile([csv('a.csv')]) }],
      'zipNested',
      'inside another',
    ],
    ['a Word document', [{ name: 'word/document.xml', data: 'x' }], 'formatUnknown', 'a Word document'],
    ['an OpenDocument file', [{ name: 'mimetype', data: 'x' }], 'formatUnknown', 'an OpenDocument file'],
    ['a Numbers workbook', [{ name: 'Index/Document.iwa', data: 'x' }], 'formatUnknown', 'a Numbers workbook'],
    ['a binary workbook', [{ name: 'xl/workbook.bin', data: 'x' }], 'formatUnknown', 'a binary Excel workbook'],
  ])('%s', async (_name, members, code, words) => {
    const error = await failed(members);
    expect([error.kind, error.code]).toEqual(['file', code]);
    expect(error.message).toContain(words);
    expect(error.hint).not.toBeNull();
  });

  it('text that is named .zip', async () => {
    expect((await errorOf(readBytes(Buffer.from('id\n1\n')))).code).toBe('zipInvalid');
  });
});

describe('a damaged or hostile archive', () => {
  it('with a password: says so', async () => {
    expect(await failed([{ name: 'a.csv', data: table, encrypted: true }])).toMatchObject({
      code: 'zipEncrypted',
      message: 'export.zip is protected: a.csv can only be read with a password',
    });
  });

  it('packed by a method of another program', async () => {
    expect((await failed([{ name: 'a.csv', data: table, stated: { method: 14 } }])).code).toBe('zipMethodUnknown');
  });

  it('a bomb, at 200:1 and at the unpacked limit', async () => {
    const bomb = { name: 'a.csv', data: Buffer.alloc(20 * 1024 * 1024, 'a,b\n') };
    expect((await failed([bomb])).code).toBe('zipBomb');
    expect((await failed([{ name: 'a.csv', data: table }], { limits: { unpackedBytesMax: 5 } })).code).toBe('zipBomb');
  });

  it.each([
    ['fewer bytes than it unpacks to', 5],
    ['more bytes than it unpacks to', 5_000],
    ['four gigabytes', 0xfffffffe],
  ])('sizes that lie: %s', async (_name, unpackedBytes) => {
    const error = await failed([{ name: 'a.csv', data: table, stated: { unpackedBytes } }]);
    expect([error.kind, error.code]).toEqual(['file', 'zipDamaged']);
  });

  it('a wrong checksum', async () => {
    expect(await failed([{ name: 'a.csv', data: table, stated: { crc: 1 } }])).toMatchObject({
      code: 'zipDamaged',
      message: expect.stringContaining('checksum'),
    });
  });

  it('a directory with more or fewer entries than it states', async () => {
    expect((await errorOf(readBytes(zipFile([{ name: 'a.csv', data: table }], { entryCount: 2 })))).code).toBe(
      'zipDamaged',
    );
    expect(
      dataOf(
        (
          await readBytes(
            zipFile(
              [
                { name: 'a.csv', data: table },
                { name: 'b.csv', data: table },
              ],
              { entryCount: 1 },
            ),
          )
        ).items,
      ),
    ).toEqual(row);
  });

  it('an entry that points out of the file, or at itself', async () => {
    for (const offset of [0xfffffff0, 1_000_000, 3]) {
      expect((await failed([{ name: 'a.csv', data: table, offset }])).code).toBe('zipDamaged');
    }
  });

  it('more entries than an export has', async () => {
    const members = Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}`, data: '', stored: true }));
    expect((await failed(members)).code).toBe('zipTooManyEntries');
  });

  it.each(['../../etc/passwd.csv', '/etc/passwd.csv', 'C:\\windows\\a.csv', '..\\a.csv'])(
    'the name %s: no path is ever used',
    async (name) => {
      // The library refuses such names; nothing is written either way.
      const error = await failed([{ name, data: table }]).catch(() => null);
      expect(error === null || error.code === 'zipDamaged').toBe(true);
    },
  );

  it('a name with control characters and of 60,000 letters is shown short', async () => {
    const error = await failed([{ name: `\u001b[31m${'x'.repeat(60_000)}.pdf`, data: 'x' }]);
    expect(error.message).not.toContain('\u001b');
    expect(error.message.length).toBeLessThan(500);
  });

  it('every cut ends in an error in words', async () => {
    const whole = zipFile([{ name: 'contacts.csv', data: table }]);
    for (let end = 4; end < whole.length; end++) {
      expect((await errorOf(readBytes(whole.subarray(0, end)))).code).toBe('zipDamaged');
    }
  });

  it('a changed byte never passes for other rows', async () => {
    const whole = zipFile([{ name: 'contacts.csv', data: table }]);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed[at] ?? 0) ^ 0x55, at);
      const result = await readBytes(changed).then(
        ({ items }) => JSON.stringify(dataOf(items)),
        (error: { kind?: string }) => error.kind,
      );
      expect([JSON.stringify(row), 'file']).toContain(result);
    }
  });
});
