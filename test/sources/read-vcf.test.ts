import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { joinTornCharacters } from '#src/sources/vcard/content-lines.ts';
import { brokenOf, dataOf, errorOf, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

/** The lines of one card of a version, with BEGIN and END. */
const card = (version: string, ...lines: string[]): string =>
  ['BEGIN:VCARD', `VERSION:${version}`, ...lines, 'END:VCARD', ''].join('\r\n');

async function objectsOf(text: string | Uint8Array, name = 'c.vcf'): Promise<unknown[]> {
  const { items } = await readText(folder, name, text);
  expect(brokenOf(items)).toEqual([]);
  return dataOf(items);
}

const onlyObject = async (text: string | Uint8Array): Promise<unknown> => (await objectsOf(text))[0];

describe('vCard: a card becomes an object', () => {
  it('reads a card as an address book of version 3.0 writes it', async () => {
    const text = card(
      '3.0',
      'N:Brandt;Mara;Ida,Eva;Dr.;',
      'FN:Dr. Mara Brandt',
      'ORG:Leuchtturm\\, Verlag;Lektorat;Kinderbuch',
      'TITLE:Lektorin',
      'item1.TEL:+1 415 555 0101',
      'item1.X-ABLabel:_$!<Mobile>!$_',
      'item2.EMAIL;type=INTERNET:mara@example.com',
      'item2.X-ABLabel:Verein',
      'TEL;type=HOME;type=VOICE;type=pref:+1 415 555 0102',
      'item3.ADR;type=WORK:;;1 Main St\\nFloor 2;Springfield;;12345;USA',
      'item3.X-ABADR:us',
      'item4.URL:http\\://example.com',
      'CATEGORIES:VIP,Press\\, Radio',
      'BDAY:1985-03-07',
      'NOTE:one\\ntwo\\; three\\\\four',
      'UID:5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE:ABPerson',
    );
    expect(await onlyObject(text)).toEqual({
      N: { familyName: 'Brandt', givenName: 'Mara', additionalNames: 'Ida Eva', prefixes: 'Dr.' },
      FN: 'Dr. Mara Brandt',
      ORG: { name: 'Leuchtturm, Verlag', unit: 'Lektorat, Kinderbuch' },
      TITLE: 'Lektorin',
      TEL: [
        { name: 'home', value: '+1 415 555 0102' },
        { name: 'mobile', value: '+1 415 555 0101' },
      ],
      EMAIL: [{ name: 'Verein', value: 'mara@example.com' }],
      ADR: [
        {
          name: 'work',
          value: '1 Main St, Floor 2, Springfield, 12345, USA',
          street: '1 Main St\nFloor 2',
          locality: 'Springfield',
          postalCode: '12345',
          country: 'USA',
        },
      ],
      URL: [{ value: 'http://example.com' }],
      CATEGORIES: ['VIP', 'Press, Radio'],
      BDAY: '1985-03-07',
      NOTE: 'one\ntwo; three\\four',
      UID: '5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE:ABPerson',
    });
  });

  it('reads version 2.1: bare types, quoted-printable with soft breaks and charsets', async () => {
    const text = card(
      '2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=',
      '=C3=B6rg',
      'FN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:J=F6rg M=FCller',
      'TITLE;ENCODING=QUOTED-PRINTABLE;CHARSET=windows-1252:Chef =80 =96 a=3Db',
      'ROLE;ENCODING=QUOTED-PRINTABLE:na=EFve',
      'NOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0A=',
      'two=',
      'END:VCARD',
    ).replace('END:VCARD\r\nEND:VCARD', 'END:VCARD');
    expect(await onlyObject(text)).toEqual({
      N: { familyName: 'Müller', givenName: 'Jörg' },
      FN: 'Jörg Müller',
      TITLE: 'Chef € – a=b',
      ROLE: 'naïve',
      NOTE: 'one\ntwo=',
    });
  });

  it('reads bytes of a charset that a property of 2.1 names, in a file that is not UTF-8', async () => {
    const text = card('2.1', 'N;CHARSET=UTF-8:Müller;Jörg', 'TEL;CELL:+14155550101', 'ORG;CHARSET=ISO-8859-2:@');
    const bytes = Buffer.from(text.replace('@', '\u0000'));
    bytes[bytes.indexOf(0)] = 0xa3; // Ł in ISO-8859-2
    expect(await onlyObject(bytes)).toMatchObject({
      N: { familyName: 'Müller', givenName: 'Jörg' },
      ORG: { name: 'Ł' },
    });
  });

  it('reads text in base64, folded or not, with its charset', async () => {
    const in64 = (text: string, charset: BufferEncoding = 'utf8') => Buffer.from(text, charset).toString('base64');
    const note = in64('ä'.repeat(60));
    const text = card(
      '3.0',
      `N;ENCODING=B;CHARSET=UTF-8:${in64('Müller;Jörg;;;')}`,
      `item1.FN;ENCODING=b:${in64('Jörg Müller')}`,
      `ORG;BASE64;CHARSET=ISO-8859-1:${in64('Müller & Söhne;Büro', 'latin1')}`,
      `TEL;CELL;ENCODING=BASE64:${in64('+1 415 555 0101')}`,
      `ROLE;ENCODING=BASE64:${note.slice(0, 40)}`,
      ` ${note.slice(40, 100)}`,
      note.slice(100),
      '',
      'TITLE;ENCODING=B:',
    );
    const { items, tail } = await readText(folder, 'c.vcf', text);
    expect([dataOf(items), tail.warnings]).toEqual([
      [
        {
          N: { familyName: 'Müller', givenName: 'Jörg' },
          FN: 'Jörg Müller',
          ORG: { name: 'Müller & Söhne', unit: 'Büro' },
          TEL: [{ name: 'mobile', value: '+1 415 555 0101' }],
          ROLE: 'ä'.repeat(60),
        },
      ],
      [],
    ]);
  });

  it('asks for an export in UTF-8 where it is not, and for no CSV', async () => {
    const { tail } = await readText(folder, 'c.vcf', Buffer.from(card('3.0', 'FN:Jörg Müller'), 'latin1'));
    expect(tail.warnings.map(({ code, hint }) => [code, hint])).toEqual([
      ['encodingAssumed', 'If letters look wrong, export it again as UTF-8 or name its encoding with --encoding.'],
    ]);
  });

  it('decodes a charset in which a byte of a character is one of ASCII', async () => {
    // 表 is 0x95 0x5C in Shift_JIS: its second byte is a backslash.
    const text = card('2.1', 'NOTE;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=95=5C=83e', 'TITLE:x');
    expect(await onlyObject(text)).toEqual({ NOTE: '表テ', TITLE: 'x' });
  });

  it('warns once of text that another program decoded wrongly', async () => {
    const text = card('3.0', 'FN:x', 'ORG:MÃ¼ller') + card('3.0', 'TITLE:JÃ¶rg');
    const { tail } = await readText(folder, 'c.vcf', text);
    expect(tail.warnings.map(({ code, line, field }) => [code, line, field])).toEqual([['textMisread', 4, 'ORG']]);
  });

  it('warns of a charset that is unknown or not the one of the bytes', async () => {
    const text = card(
      '2.1',
      'TITLE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=F6rg',
      'ROLE;CHARSET=KLINGON;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg',
    );
    const { items, tail } = await readText(folder, 'c.vcf', text);
    expect(dataOf(items)).toEqual([{ TITLE: 'Jörg', ROLE: 'Jörg' }]);
    expect(tail.warnings.map(({ code, line }) => [code, line])).toEqual([
      ['charsetWrong', 3],
      ['charsetWrong', 4],
    ]);
  });

  it('reads version 4.0: quoted types, preferences, tel: and mailto:', async () => {
    const text = card(
      '4.0',
      'FN:Nils Okafor',
      'N:Okafor;Nils;;;',
      'TEL;VALUE=uri;TYPE="voice,home":tel:+1-415-555-0101;ext=7',
      'TEL;VALUE=uri;PREF=1;TYPE="voice,work,cell":tel:+1-415-555-0102',
      'EMAIL;PREF=2:second@example.com',
      'EMAIL;PREF=1;TYPE=work:first@example.com',
      'UID:urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
      'GENDER:M',
      'PHOTO:data:image/jpeg;base64,MIICajCCAdOgAwIBAgICBEUwDQYJKoZIhv',
    );
    expect(await onlyObject(text)).toEqual({
      FN: 'Nils Okafor',
      N: { familyName: 'Okafor', givenName: 'Nils' },
      TEL: [
        { name: 'work mobile', value: 'tel:+1-415-555-0102' },
        { name: 'home', value: 'tel:+1-415-555-0101;ext=7' },
      ],
      EMAIL: [{ name: 'work', value: 'first@example.com' }, { value: 'second@example.com' }],
      UID: 'urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
      GENDER: 'M',
    });
  });

  it.each([
    ['TEL;CELL', 'TEL', 'mobile'],
    ['TEL;WORK;CELL;VOICE', 'TEL', 'work mobile'],
    ['TEL;type=IPHONE;type=CELL;type=VOICE', 'TEL', 'mobile'],
    ['TEL;type=MAIN', 'TEL', 'main'],
    ['TEL;TYPE=x-Assistant', 'TEL', 'assistant'],
    ['TEL', 'TEL', undefined],
    ['TEL;VOICE;PREF', 'TEL', undefined],
    ['TEL;WORK;FAX', 'FAX', 'work fax'],
    ['TEL;TYPE=HOME;TYPE=FAX', 'FAX', 'home fax'],
    ['TEL;TYPE="fax"', 'FAX', 'fax'],
    ['TEL;TYPE=WORK,VOICE,FAX', 'TEL', 'work fax'],
    ['TEL;PAGER', 'PAGER', 'pager'],
    ['TEL;VOICE;X-EVOLUTION-ASSISTANT', 'TEL', 'assistant'],
    ['TEL;X-EVOLUTION-TELEX', 'FAX', 'telex'],
    ['X-MS-TEL;VOICE;COMPANY', 'X-MS-TEL', 'company'],
    ['X-MS-TEL;VOICE;ASSISTANT', 'X-MS-TEL', 'assistant'],
    ['X-MS-TEL;VOICE;CALLBACK', 'X-MS-TEL', 'callback'],
    ['X-MS-TEL;VOICE;RADIO', 'X-MS-TEL', 'radio'],
    ['X-MS-TEL;VOICE;TTYTDD', 'FAX', 'tty'],
  ])('%s is a number of the list %s, labelled %s', async (property, list, name) => {
    const value = '+14155550101';
    const element = name === undefined ? { value } : { name, value };
    expect(await onlyObject(card('3.0', `${property}:${value}`))).toEqual({ [list]: [element] });
  });

  it.each([
    ['_$!<WorkFAX>!$_', 'FAX', 'workfax'],
    ['Telefax Büro', 'FAX', 'Telefax Büro'],
    ['Fairfax office', 'TEL', 'Fairfax office'],
    ['Tel/Fax', 'TEL', 'Tel/Fax'],
    ['_$!<Pager>!$_', 'PAGER', 'pager'],
    ['_$!<AppleWatch>!$_', 'TEL', 'applewatch'],
  ])('the label %s makes it one of the list %s, wherever it stands', async (label, list, name) => {
    const text = card('3.0', `a.X-ABLabel:${label}`, 'a.TEL;type=VOICE:+14155550101', 'b.X-ABLabel:other');
    expect(await onlyObject(text)).toEqual({ [list]: [{ name, value: '+14155550101' }] });
  });

  it.each([
    ['X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,Fax=20=C3=A9cole)', 'FAX', 'Fax école'],
    ['X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=89cole, Sud)', 'TEL', 'École, Sud'],
    ['x-custom(ENCODING=QUOTED-PRINTABLE,CHARSET=ISO-8859-1,=C9cole=20(Sud))', 'TEL', 'École (Sud)'],
    ['TYPE=X-CUSTOM(Empfang)', 'TEL', 'Empfang'],
    ['TYPE="X-CUSTOM(Tel/Fax)"', 'TEL', 'Tel/Fax'],
    ['WORK;X-CUSTOM(Labor)', 'TEL', 'Labor'],
    ['WORK;X-CUSTOM(CHARSET=UTF-8,)', 'TEL', 'work'],
  ])('the label of %s makes it one of the list %s', async (parameters, list, name) => {
    const text = card('2.1', `TEL;${parameters}:+14155550101`);
    expect(await onlyObject(text)).toEqual({ [list]: [{ name, value: '+14155550101' }] });
  });

  it('joins the lines of a long label in quoted-printable', async () => {
    const label = [
      'EMAIL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=50=61=72=69=',
      '=73=20=C3=A9cole):a@example.com',
    ];
    expect(await onlyObject(card('2.1', ...label, 'NOTE:b'))).toEqual({
      EMAIL: [{ name: 'Paris école', value: 'a@example.com' }],
      NOTE: 'b',
    });
  });

  it('joins folded lines: after one space or tab, and in 2.1 with it', async () => {
    const folded = ['NOTE:a long', '  text th', '\tat goes on'];
    expect(await onlyObject(card('3.0', ...folded))).toEqual({ NOTE: 'a long text that goes on' });
    expect(await onlyObject(card('2.1', 'NOTE:a long', ' text'))).toEqual({ NOTE: 'a long text' });
  });

  it.each(['é', '表', '😀'])(
    'joins %s where a fold cuts its bytes, at each place and wherever a chunk ends',
    async (char) => {
      const bytes = Buffer.from(card('3.0', `TITLE:ab${char}${char}cd`));
      const start = bytes.indexOf(char);
      for (let at = start + 1; at < start + 2 * Buffer.byteLength(char); at++) {
        for (const fold of ['\r\n ', '\n\t', '\r ']) {
          const folded = Buffer.concat([bytes.subarray(0, at), Buffer.from(fold), bytes.subarray(at)]);
          const { head, items } = await readText(folder, 'c.vcf', folded);
          expect([head.encoding, dataOf(items)]).toEqual(['utf-8', [{ TITLE: `ab${char}${char}cd` }]]);
          for (let size = 1; size <= 7; size++) {
            const pieces = Array.from({ length: Math.ceil(folded.length / size) }, (_, index) =>
              Buffer.from(folded.subarray(index * size, (index + 1) * size)),
            );
            const joined = await Readable.from(joinTornCharacters(Readable.from(pieces))).toArray();
            expect(isUtf8(Buffer.concat(joined))).toBe(true);
          }
        }
      }
    },
  );

  it('resolves escapes: \\n is none in 2.1, and unknown ones stay', async () => {
    const lines = ['NOTE:C:\\new\\, x\\; y\\q', 'N:Smith\\;Jones;A\\,B'];
    const N = { familyName: 'Smith;Jones', givenName: 'A,B' };
    expect(await onlyObject(card('2.1', ...lines))).toEqual({ NOTE: 'C:\\new, x; y\\q', N });
    expect(await onlyObject(card('3.0', ...lines))).toEqual({ NOTE: 'C:\new, x; y\\q', N });
    expect(await onlyObject(card('3.0', 'N:Smith\\'))).toEqual({ N: { familyName: 'Smith\\' } });
  });

  it('reads several names between bare commas as words of one part, and a comma behind a backslash as one', async () => {
    const named = async (version: string, value: string) => onlyObject(card(version, `N:${value}`));
    expect(await named('3.0', 'Stevenson;John;Philip,Paul;Dr.;Jr.,M.D.,A.C.P.')).toEqual({
      N: {
        ...{ familyName: 'Stevenson', givenName: 'John', additionalNames: 'Philip Paul' },
        ...{ prefixes: 'Dr.', suffixes: 'Jr. M.D. A.C.P.' },
      },
    });
    expect(await named('4.0', 'Lopez, Garcia,;Maria')).toEqual({
      N: { familyName: 'Lopez Garcia', givenName: 'Maria' },
    });
    const inOnePart = { N: { familyName: 'Lopez, Garcia', givenName: 'Maria' } };
    expect(await named('4.0', 'Lopez\\, Garcia;Maria')).toEqual(inOnePart);
    expect(await named('2.1', 'Lopez, Garcia;Maria')).toEqual(inOnePart);
  });

  it('reads names in any case, colons in quoted parameters, and properties of the same name', async () => {
    const text = card(
      '3.0',
      'fn:Ada',
      'Item1.Email;X="a:b;c":a@example.com',
      'title:first',
      'Title:second',
      'X-IM:z',
      'X-IM:y',
    );
    expect(await onlyObject(text.replace('BEGIN:VCARD', 'begin:vcard').replace('END:VCARD', 'End:vCard'))).toEqual({
      FN: 'Ada',
      nameOnly: 'Ada',
      EMAIL: [{ value: 'a@example.com' }],
      TITLE: 'first',
      'TITLE 2': 'second',
      'X-IM': 'z',
      'X-IM 2': 'y',
    });
  });

  it.each([
    ['FN alone', ['FN:Ada Lovelace'], { FN: 'Ada Lovelace', nameOnly: 'Ada Lovelace' }],
    ['FN beside a blank N', ['FN:Ada Lovelace', 'N:;;;;'], { FN: 'Ada Lovelace', nameOnly: 'Ada Lovelace' }],
    ['FN beside N', ['FN:Ada Lovelace', 'N:;Ada'], { FN: 'Ada Lovelace', N: { givenName: 'Ada' } }],
    [
      'FN beside a title alone',
      ['FN:Ada Lovelace', 'N:;;;Dr.;'],
      { FN: 'Ada Lovelace', N: { prefixes: 'Dr.' }, nameOnly: 'Ada Lovelace' },
    ],
    [
      'FN with the titles that N has',
      ['FN:Dr. Ada Lovelace PhD', 'N:;;;Dr.;PhD'],
      { FN: 'Dr. Ada Lovelace PhD', N: { prefixes: 'Dr.', suffixes: 'PhD' }, nameOnly: 'Ada Lovelace' },
    ],
    [
      'FN with a title behind a comma',
      ['FN:Ada Lovelace, PhD', 'N:;;;;PhD'],
      { FN: 'Ada Lovelace, PhD', N: { suffixes: 'PhD' }, nameOnly: 'Ada Lovelace' },
    ],
    ['a nickname alone', ['FN:', 'N:;;;;', 'NICKNAME:Ada,Addie'], { NICKNAME: 'Ada, Addie', nameOnly: 'Ada' }],
    ['a nickname beside a name', ['FN:Ada L', 'NICKNAME:Addie'], { FN: 'Ada L', NICKNAME: 'Addie', nameOnly: 'Ada L' }],
    [
      'a nickname of a company',
      ['FN:ACME', 'ORG:ACME', 'NICKNAME:A-Team'],
      { FN: 'ACME', ORG: { name: 'ACME' }, NICKNAME: 'A-Team' },
    ],
    [
      'a nickname beside an address',
      ['FN:ada@example.com', 'NICKNAME:Ada'],
      { FN: 'ada@example.com', NICKNAME: 'Ada', nameOnly: 'Ada' },
    ],
    ['FN that is the company', ['FN:ACME', 'ORG:ACME'], { FN: 'ACME', ORG: { name: 'ACME' } }],
    ['a company of Apple', ['FN:ACME', 'X-ABShowAs:COMPANY'], { FN: 'ACME', ORG: { name: 'ACME' } }],
    ['a company of 4.0', ['FN:ACME', 'KIND:org'], { FN: 'ACME', KIND: 'org', ORG: { name: 'ACME' } }],
    ['FN that is an address', ['FN:ada@example.com'], { FN: 'ada@example.com' }],
    ['FN that is a number', ['FN:+1 415 555 0101'], { FN: '+1 415 555 0101' }],
  ])('tells whose name it is: %s', async (_case, lines, object) => {
    expect(await onlyObject(card('3.0', ...lines))).toEqual(object);
  });

  it('keeps a property called __proto__ as a member and pollutes nothing', async () => {
    const [object] = (await readText(folder, 'c.vcf', card('3.0', 'x__proto__:1', 'constructor:2'))).items;
    expect(object?.row.kind === 'object' && Object.keys(object.row.object)).toEqual(['X__PROTO__', 'CONSTRUCTOR']);
  });
});

describe('vCard: the right end for each bad input', () => {
  it('skips photos, logos, sounds and keys, folded or not, and says so', async () => {
    const text = card(
      '2.1',
      'PHOTO;JPEG;ENCODING=BASE64:',
      '/9j/4AAQSkZJRgABAQ',
      'AAAA/END+AA==',
      '',
      'item1.LOGO;ENCODING=b;TYPE=JPEG:/9j/4AAQ',
      ' SkZJRg==',
      'SOUND;VALUE=uri:http://example.com/a.ogg',
      'KEY:data:application/pgp-keys;base64,AAAA',
      'X-PICTURE;ENCODING=BASE64:AAAA',
      'TEL:+14155550101',
    );
    const { items, tail } = await readText(folder, 'c.vcf', text);
    expect(dataOf(items)).toEqual([{ TEL: [{ value: '+14155550101' }] }]);
    expect(tail.warnings.map(({ message }) => message)).toEqual([
      'left out, because contacts here have no such data: 1 PHOTO, 1 LOGO, 1 SOUND, 1 KEY, 1 X-PICTURE',
    ]);
  });

  it('holds none of a photo of many megabytes, in one line or in many', async () => {
    const line = 'A'.repeat(76);
    const folded = `PHOTO;ENCODING=b:${Array.from({ length: 40_000 }, () => line).join('\r\n ')}`;
    const text = card('3.0', folded, `LOGO:${'A'.repeat(3_000_000)}`, 'TITLE:x');
    expect(await onlyObject(text)).toEqual({ TITLE: 'x' });
  });

  it('leaves groups out with a note: those of 4.0 and those of Apple', async () => {
    const text = [
      card('4.0', 'KIND:group', 'FN:Friends', 'MEMBER:urn:uuid:1'),
      card('3.0', 'X-ADDRESSBOOKSERVER-KIND:group', 'N:Work', 'FN:Work'),
      card('3.0', 'FN:Ada Lovelace'),
    ].join('');
    const { items, tail } = await readText(folder, 'c.vcf', text);
    expect([items.map(({ row }) => [row.line, row.record]), tail.recordCount]).toEqual([[[13, 1]], 1]);
    expect(tail.warnings.map(({ message }) => message)).toEqual([
      'the group "Friends" (line 1) is left out: it is a list of contacts',
      'the group "Work" (line 7) is left out: it is a list of contacts',
    ]);
  });

  it('does not take the agent of a person for a person, and goes no deeper than 32', async () => {
    const nested = (depth: number): string =>
      card(
        '2.1',
        'N:Okafor;Nils',
        'AGENT:\r\n'.concat(
          'BEGIN:VCARD\r\nAGENT:\r\n'.repeat(depth - 1),
          'BEGIN:VCARD\r\nTEL:+14155550109\r\n',
          'END:VCARD\r\n'.repeat(depth),
          'TITLE:x',
        ),
      );
    expect(await onlyObject(nested(1))).toEqual({ N: { familyName: 'Okafor', givenName: 'Nils' }, TITLE: 'x' });
    expect(await objectsOf(nested(32))).toHaveLength(1);
    expect((await errorOf(readText(folder, 'c.vcf', nested(33)))).code).toBe('cardTooDeep');
  });

  it('breaks the row of a card that the next one follows before its end', async () => {
    const text = `BEGIN:VCARD\nFN:Ada\n${card('3.0', 'FN:Nils')}`;
    const { items } = await readText(folder, 'c.vcf', text);
    expect([brokenOf(items), dataOf(items)]).toEqual([
      ['1:cardNeverEnds'],
      [
        { FN: 'Ada', nameOnly: 'Ada' },
        { FN: 'Nils', nameOnly: 'Nils' },
      ],
    ]);
  });

  it('takes files apart that were joined without a line end between them', async () => {
    const one = card('3.0', 'FN:Ada').trimEnd();
    const { items } = await readText(folder, 'c.vcf', `${one}\ufeff${one}${one}\r\n`);
    expect([brokenOf(items), items.map(({ row }) => row.line)]).toEqual([[], [1, 4, 7]]);
  });

  it('breaks the row of a card that never began', async () => {
    const { items } = await readText(folder, 'c.vcf', `${card('3.0', 'FN:Nils')}FN:Ada\nTEL:1\nEND:VCARD\n`);
    expect([brokenOf(items), dataOf(items)[1]]).toEqual([['5:cardNeverBegins'], { _text: 'FN:Ada' }]);
  });

  it.each([
    ['inside a card', 'TEL:1', 5],
    ['in its last line', 'END:VCA', 5],
    ['in the first line of the next one', 'END:VCARD\r\nBEGIN:V', 7],
  ])('refuses a file that is cut off %s', async (_where, end, line) => {
    const text = `${card('3.0', 'FN:Ada')}BEGIN:VCARD\r\n${end}`;
    const error = await errorOf(readText(folder, 'c.vcf', text));
    expect([error.code, error.message]).toEqual([
      'cardNeverEnds',
      `c.vcf, line ${line}: the card that begins here does not end: the file is cut off`,
    ]);
  });

  it('leaves text between cards out, and lines that are no property, with their lines', async () => {
    const text = `Contacts of Ada\n\n${card('3.0', 'FN:Ada', 'a line of a note')}\n--- end\nof all\n`;
    const { items, tail } = await readText(folder, 'c.vcf', text);
    expect(dataOf(items)).toEqual([{ FN: 'Ada', nameOnly: 'Ada' }]);
    expect(tail.warnings.map(({ code, line, value }) => [code, line, value])).toEqual([
      ['textOutsideCards', 1, 'Contacts of Ada'],
      ['lineIgnored', 6, 'a line of a note'],
      ['textOutsideCards', 9, '--- end'],
    ]);
  });

  it('refuses a file without a card, and says what it holds', async () => {
    const error = await errorOf(readText(folder, 'c.vcf', 'externalId,phone\n1,2\n'));
    expect([error.code, error.message]).toEqual([
      'noCards',
      'c.vcf holds no vCard: no line says BEGIN:VCARD, and line 1 says "externalId,phone"',
    ]);
  });

  it('accepts an empty file, and one with groups only', async () => {
    expect(warningCodes((await readText(folder, 'c.vcf', '\ufeff\r\n')).tail)).toEqual(['emptyFile']);
    expect(warningCodes((await readText(folder, 'c.vcf', card('4.0', 'KIND:group'))).tail)).toEqual([
      'groupLeftOut',
      'noRows',
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('gives each card the line on which it begins, with the line end %j', async (end) => {
    const text = `\ufeff\n${card('3.0', 'FN:Ada')}\n\n${card('3.0', 'NOTE:a', ' b', 'FN:Bo')}${card('3.0')}`;
    const { items } = await readText(folder, 'c.vcf', text.replace(/\r\n|\n/g, end));
    expect(items.map(({ row }) => [row.line, row.record])).toEqual([
      [2, 1],
      [8, 2],
      [14, 3],
    ]);
  });

  it('reads it packed, under either ending, and under the name of a text with a note', async () => {
    const text = card('3.0', 'TITLE:x');
    for (const name of ['c.vcf.gz', 'c.vcard.gz'])
      expect(await objectsOf(gzipSync(text), name)).toEqual([{ TITLE: 'x' }]);
    expect(await objectsOf(text, 'c.VCARD')).toEqual([{ TITLE: 'x' }]);
    for (const name of ['c.txt', 'c.csv']) {
      const { head, items, tail } = await readText(folder, name, `\ufeff\r\n${text}`);
      expect([head.format, dataOf(items), warningCodes(tail)]).toEqual(['vcf', [{ TITLE: 'x' }], ['readAsVcf']]);
    }
  });

  it('breaks the row of a control character and of a value above 64 KB, at their lines', async () => {
    const text = card('3.0', 'NOTE:a\u0007') + card('3.0', 'FN:x', `NOTE:${'é'.repeat(32 * 1024 + 1)}`);
    expect(brokenOf((await readText(folder, 'c.vcf', text)).items)).toEqual(['3:controlCharacter', '8:cellTooLong']);
  });

  it('breaks the row of a text in base64 that is none, and of one that is too long', async () => {
    const text = card('3.0', 'FN;ENCODING=B:Jörg') + card('3.0', `N;ENCODING=B:${'AAAA'.repeat(32 * 1024)}`);
    expect(brokenOf((await readText(folder, 'c.vcf', text)).items)).toEqual(['3:base64Invalid', '7:cellTooLong']);
  });

  it('leaves out a note that is said to be in base64, and keeps its person', async () => {
    const { items } = await readText(
      folder,
      'c.vcf',
      card('3.0', 'FN:Ann', 'NOTE;ENCODING=BASE64:Only in the evening.'),
    );
    expect(dataOf(items)).toEqual([{ FN: 'Ann', nameOnly: 'Ann' }]);
  });

  it('refuses a line, a folded line and a card above 1 MB', async () => {
    const kilobyte = 'x'.repeat(1024);
    const lines = Array.from({ length: 1024 }, (_, index) => `X-${index}:${kilobyte}`);
    const texts = [
      `NOTE:${kilobyte.repeat(1024)}`,
      `NOTE:${Array.from({ length: 1024 }, () => kilobyte).join('\r\n ')}`,
    ];
    for (const text of [...texts.map((one) => card('3.0', one)), card('3.0', ...lines)]) {
      const error = await errorOf(readText(folder, 'c.vcf', text));
      expect([error.code, error.facts.line]).toEqual(['recordTooLong', text.includes('X-') ? 1 : 3]);
    }
  });

  it('reads a card of very many properties of one name', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `A:${index % 10}`);
    const [object] = await objectsOf(card('3.0', ...lines));
    expect(Object.keys(object as object)).toHaveLength(40_000);
  });

  it('refuses more cards than the limit', async () => {
    const text = card('3.0', 'FN:x').repeat(3);
    expect((await errorOf(readText(folder, 'c.vcf', text, { limits: { rowsMax: 2 } }))).code).toBe('tooManyRows');
  });

  it('gives slices of at most 500 rows', async () => {
    const { items } = await readText(folder, 'c.vcf', card('3.0', 'TITLE:x').repeat(1201));
    expect(items).toHaveLength(1201);
  });
});
