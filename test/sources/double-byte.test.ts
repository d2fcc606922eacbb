/** Text in which two bytes are a character is recognised, and no other text is taken for it (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { detectEncoding } from '#src/sources/decode.ts';
import { createLineCollector, doubleByteEncodings } from '#src/sources/double-byte.ts';

/** The bytes of a text in an encoding: each character is looked up among all of one and two bytes. */
function encoded(text: string, label: string): Buffer {
  const decoder = new TextDecoder(label);
  const known = new Map<string, readonly number[]>();
  for (let first = 0x80; first <= 0xff; first++) {
    const alone = decoder.decode(Uint8Array.of(first));
    if (alone !== '\ufffd') known.set(alone, [first]);
    for (let second = 0x40; second <= 0xff; second++) {
      const pair = [first, second];
      const char = decoder.decode(Uint8Array.from(pair));
      if ([...char].length === 1 && !known.has(char)) known.set(char, pair);
    }
  }
  return Buffer.from([...text].flatMap((char) => (char < '\x80' ? [char.charCodeAt(0)] : (known.get(char) ?? [0x3f]))));
}

const texts = {
  shift_jis: 'externalId,firstName,company\n1,太郎,株式会社サンプル\n2,花子,有限会社テスト\n3,ﾀﾛｳ,ソニー表示\n',
  'euc-jp': 'externalId,firstName,company\n1,太郎,株式会社サンプル\n2,花子,有限会社テスト\n',
  gb18030: 'externalId,firstName,company\n1,王伟,北京科技有限公司\n2,张娜,上海贸易公司\n',
  big5: 'externalId,firstName,company\n1,陳志明,台灣積體電路\n2,林春嬌,鴻海精密工業股份有限公司\n',
  'euc-kr': 'externalId,firstName,company\n1,김민준,삼성전자\n2,이서연,현대자동차\n',
} as const;

const detect = (bytes: Uint8Array, chunkBytes: number, wanted?: string) =>
  detectEncoding(
    async function* () {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield Buffer.from(bytes.subarray(at, at + chunkBytes));
    },
    'a.csv',
    wanted,
  );

describe('text in which two bytes are a character', () => {
  it.each(Object.entries(texts))('in %s stops its file, and the encoding is named first', async (label, text) => {
    const bytes = encoded(text, label);
    for (const chunkBytes of [1, 7, bytes.length]) {
      await expect(detect(bytes, chunkBytes)).rejects.toMatchObject({
        kind: 'file',
        code: 'encodingUnclear',
        message: expect.stringContaining('a.csv is not UTF-8 (first at line 2); it is most likely'),
        hint: expect.stringMatching(new RegExp(`^Say \\w+ with --encoding ${label}\\b`)),
        facts: { encoding: label },
      });
    }
    expect(await detect(bytes, 5, label)).toMatchObject({ label });
    expect(new TextDecoder(label, { fatal: true }).decode(bytes)).toBe(text);
  });

  it('is read by the encoding of its mapping, and what is UTF-8 as that', async () => {
    const read = (bytes: Buffer) =>
      detectEncoding(
        async function* () {
          yield bytes;
        },
        'a.csv',
        undefined,
        'shift_jis',
      );
    expect(await read(encoded(texts.shift_jis, 'shift_jis'))).toMatchObject({ label: 'shift_jis' });
    expect(await read(Buffer.from(texts.shift_jis))).toMatchObject({ label: 'utf-8' });
    expect(await read(Buffer.from(`\ufeff${texts.shift_jis}`))).toMatchObject({ label: 'utf-8' });
  });

  it('is known where a long line is cut inside a character', () => {
    const collector = createLineCollector();
    collector.add(encoded(`x${'会社'.repeat(4_000)}`, 'shift_jis'));
    expect(doubleByteEncodings(collector.lines())).toEqual(['shift_jis']);
  });
});

describe('text with one byte for each character is not taken for it', () => {
  it.each([
    ['windows-1252', 'id,name\n1,Jürgen Müller\n2,Hélène Lefèvre\n3,André Dupré\n4,Göß Öl\n5,5 € — it’s\n'],
    ['macintosh', 'id,name\n1,Jürgen Müller\n2,Hélène Lefèvre\n3,André Dupré\n'],
    ['windows-1250', 'id,name\n1,Łukasz Wiśniewski\n2,Jiří Dvořák\n3,Zdeněk Černý\n'],
    ['windows-1251', 'id,name\n1,Иван Петров\n2,АННА СМИРНОВА\n3,Олег Кузнецов\n'],
    ['windows-1253', 'id,name\n1,Γιώργος Παπαδόπουλος\n2,Μαρία Νικολάου\n'],
    ['windows-1255', 'id,name\n1,דוד כהן\n2,שרה לוי\n3,משה מזרחי\n'],
  ])('%s', async (label, text) => {
    const bytes = encoded(text, label);
    expect(new TextDecoder(label).decode(bytes)).toBe(text);
    expect((await detect(bytes, bytes.length)).assumedFromLine).toBe(2);
  });
});
