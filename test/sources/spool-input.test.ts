/** Standard input (`docs/bad-inputs.md`, "Files and folders"). */
import { readdir, readFile, stat } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { endingOf, spoolInput } from '#src/sources/spool-input.ts';
import { errorOf, useTempFolder } from '#test/sources/temp-files.ts';

const temp = useTempFolder();
const { signal } = new AbortController();
const spool = (folder: string, input: Readable, options = {}) =>
  spoolInput(input, { folder: temp.path(folder), format: null, signal, ...options });

describe('standard input', () => {
  it('becomes a private file with the same bytes, in whatever pieces it comes', async () => {
    const bytes = Buffer.from('externalId,firstName\n1,Zoë 😀\n');
    const { path, name } = await spool('pieces', Readable.from([...bytes].map((byte) => Buffer.from([byte]))));
    expect([name, await readFile(path)]).toEqual(['stdin.csv', bytes]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('that is empty is refused, and leaves nothing', async () => {
    expect(await errorOf(spool('empty', Readable.from([])))).toMatchObject({ kind: 'file', code: 'stdinEmpty' });
    expect(await readdir(temp.path('empty'))).toEqual([]);
  });

  it('above the limit is refused while it comes, and leaves nothing', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_000);
      })(),
    );
    const error = await errorOf(spool('large', endless, { bytesMax: 10_000 }));
    expect([error.code, await readdir(temp.path('large'))]).toEqual(['fileTooLarge', []]);
  });

  it('that is a terminal is refused at once', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    expect(await errorOf(spool('tty', terminal))).toMatchObject({ kind: 'usage', code: 'stdinTerminal' });
  });

  it('leaves nothing where it is interrupted', async () => {
    const controller = new AbortController();
    const input = new PassThrough();
    const spooled = spool('interrupted', input, { signal: controller.signal });
    input.write('externalId,');
    await expect.poll(() => readdir(temp.path('interrupted')).catch(() => [])).toHaveLength(1);
    controller.abort();
    await expect(spooled).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(await readdir(temp.path('interrupted'))).toEqual([]);
  });
});

const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

it.each([
  ['externalId,firstName\n', '.csv'],
  ['\ufeffexternalId;firstName\n', '.csv'],
  ['[id],name\n', '.csv'],
  ['{id},name\n', '.csv'],
  ['\ufeff \n[{"externalId":"1"}]', '.json'],
  ['{"data":[]}', '.json'],
  ['{"id":1}\n{"id":2}\n', '.json'],
  ['[]', '.json'],
  ['BEGIN:VCARD\r\nVERSION:3.0', '.vcf'],
  ['begin:vcard\n', '.vcf'],
  ['PK\u0003\u0004…[Content_Types].xml', '.xlsx'],
  ['PK\u0003\u0004…contacts.csv', '.zip'],
  [gzipSync('externalId\n1\n'), '.csv.gz'],
  [gzipSync('[{"externalId":"1"}]'), '.json.gz'],
  [
    gzipSync(Buffer.from(Array.from({ length: 50_000 }, (_, i) => `{"id":${i * 7919}}`).join('\n'))).subarray(0, 4096),
    '.json.gz',
  ],
  [Buffer.from([0x1f, 0x8b, 0, 0]), '.csv.gz'],
  [wide('externalId\n'), '.csv'],
  [wide('[{"a":1}]'), '.json'],
])('begins with %j: it is %s', (start, ending) => {
  expect(endingOf(Buffer.from(start), null)).toBe(ending);
});

it('is what --format says', () => {
  expect(endingOf(Buffer.from('[{"a":1}]'), 'csv')).toBe('.csv');
  expect(endingOf(gzipSync('a'), 'ndjson')).toBe('.ndjson.gz');
});
