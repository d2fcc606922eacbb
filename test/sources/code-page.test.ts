/** Which code page text without a mark is in (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { chooseCodePage, createWordCollector } from '#src/sources/code-page.ts';
import { dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

/** The bytes of the text in a code page of one byte for each character. */
function encoded(text: string, label: string): Buffer {
  const table = new Map(
    [...new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))].map((char, byte) => [
      char,
      byte,
    ]),
  );
  return Buffer.from(
    [...text].map((char) => {
      const byte = table.get(char);
      if (byte === undefined) throw new Error(`${char} is not in ${label}`);
      return byte;
    }),
  );
}

function chosen(bytes: Uint8Array) {
  const collector = createWordCollector();
  collector.add(bytes);
  const { label, doubt } = chooseCodePage(collector.words());
  return { label, doubt };
}

const texts: readonly (readonly [string, string])[] = [
  [
    'German',
    'Name;Firma;Ort\nJörg Müller;Bäckerei Groß;Köln\nJürgen Höß;Äpfel & Öle „Übersee“;Düsseldorf\nZoë Weiß;Möbel;Fürth\n',
  ],
  [
    'German with quotes and dashes',
    'Jörg;„Haus“ – groß…;Größe: 5 €\nUwe;‚Zoo‘;Straße\nKäthe;Müller–Lüdenscheidt;„Öl“\n',
  ],
  [
    'French',
    'Prénom;Société\nFrançois;Crédit coopératif\nZoé;L’Oréal\nHélène;Café de l’Étoile\nÉric;Hôtel à la forêt\nGaëlle;Où\n',
  ],
  ['French with many apostrophes', 'Société de l’eau d’ici\nL’art d’écrire\nAujourd’hui l’île\nQu’est-ce que l’été\n'],
  ['Spanish', 'José Núñez;Compañía Española\nMaría Peña;Álvarez Ibáñez\nÓscar;Ñandú\n¿Qué?;Güell\n'],
  ['Italian', 'Niccolò;Città di Forlì\nPerché;Più\nÈ così;Università\n'],
  ['Portuguese', 'João Gonçalves;Ação\nConceição;São Tomé\nInês;Três Irmãos\n'],
  ['Swedish, Danish, Norwegian', 'Åsa Sjögren;Malmö\nSøren Kjær;Århus\nBjørn Ødegård;Tromsø\n'],
  ['Finnish', 'Päivi Hämäläinen;Jäätelö Oy\nVäinö Mäkelä;Kähkönen\n'],
  ['English with marks', 'O’Brien;Acme™\nD’Arcy;Acme® – “the best”…\nSmith;Café\n'],
  ['names with š and ž', 'Šime Žagar;Miloš\nTomaš Žižek;Uroš\nAndraž;Žan\n'],
  ['capitals', 'JÖRG MÜLLER;KÖLN\nGARÇON;ÉCOLE\nNÚÑEZ;ESPAÑA\n'],
];

describe.each(texts)('%s', (_language, text) => {
  it('in Windows-1252 is read as that', () => {
    const { label, doubt } = chosen(encoded(text, 'windows-1252'));
    expect(label).toBe('windows-1252');
    expect(doubt).toBeNull();
  });
});

describe.each(texts.filter(([language]) => !/^(?:English|names)/.test(language)))('%s', (_language, text) => {
  it('in Mac Roman is recognised', () => {
    expect(chosen(encoded(text, 'macintosh'))).toEqual({ label: 'macintosh', doubt: null });
  });
});

describe('other code pages', () => {
  it('Polish in Windows-1250 is read as Windows-1252, and a word shows the doubt', () => {
    const text = 'Paweł Wałęsa;Łódź\nGrażyna Śliwińska;Kraków\nJózef Źrebiec;Gdańsk\n';
    expect(chosen(encoded(text, 'windows-1250'))).toEqual({
      label: 'windows-1252',
      doubt: { line: 1, word: 'Pawe³', meant: 'Paweł', label: 'windows-1250' },
    });
  });

  it('Russian in Windows-1251 shows the doubt', () => {
    expect(chosen(encoded('Иван Петров;Москва\nАнна Шмидт;Казань\n', 'windows-1251'))).toMatchObject({
      label: 'windows-1252',
      doubt: { meant: 'Иван', label: 'windows-1251' },
    });
  });

  it('a code page that is not known here, as those of DOS, gets no advice', () => {
    // Müller, Köhler, Käse, Hélène, François
    const bytes = Buffer.from('M\x81ller;K\x94hler\nK\x84se;GR\x99SSE\nH\x82l\x8ane;Fran\x87ois\n', 'latin1');
    expect(chosen(bytes)).toEqual({ label: 'windows-1252', doubt: null });
  });

  it('names with one letter of two readings are not guessed at', () => {
    expect(chosen(encoded('Jörg Köhler;Köln\n', 'macintosh'))).toMatchObject({
      label: 'windows-1252',
      doubt: { line: 1, word: 'Jšrg', meant: 'Jörg', label: 'macintosh' },
    });
    expect(chosen(encoded('name\nZoë\n', 'macintosh'))).toMatchObject({
      label: 'windows-1252',
      doubt: { line: 2, word: 'Zo‘', meant: 'Zoë', label: 'macintosh' },
    });
  });
});

describe('signs that are letters in Mac Roman', () => {
  it.each([
    ...['500 €', 'Acme® Tools™', '2 – 3', '§ 5', '1¾ in', '1º piso', 'and so on…', '_more1, _more2… are empty'],
    ...['it’s', 'we’ll', 'James’ car', 'O’Brien', 'rock ’n’ roll', 'l’eau', '“best”'],
  ])('raise no doubt where signs belong: %s', (text) => {
    expect(chosen(encoded(text, 'windows-1252'))).toEqual({ label: 'windows-1252', doubt: null });
  });

  it.each(['Äpfel', 'Österreich', 'Übersee', 'Ærø', 'García', 'Forlì', 'Ramón', 'Groß', 'Peña'])(
    'show the doubt where a letter belongs: %s',
    (text) => {
      const doubt = { meant: text, label: 'macintosh' };
      expect(chosen(encoded(text, 'macintosh'))).toMatchObject({ label: 'windows-1252', doubt });
    },
  );
});

describe('a file', () => {
  const table = 'id;name;company\n1;Zoë;Café Müller\n2;Jörg;Größe\n';

  it('in Mac Roman is read right, and the warning says so', async () => {
    const { head, items, tail } = await readText(folder, 'm.csv', encoded(table, 'macintosh'));
    expect([head.encoding, dataOf(items)]).toEqual([
      'macintosh',
      [
        ['1', 'Zoë', 'Café Müller'],
        ['2', 'Jörg', 'Größe'],
      ],
    ]);
    expect(tail.warnings).toMatchObject([
      {
        code: 'encodingAssumed',
        line: 2,
        message: 'm.csv is not UTF-8 (first at line 2); it was read as Mac Roman',
        hint: expect.stringContaining('--encoding windows-1252'),
      },
    ]);
  });

  it('in doubt is read as Windows-1252, and the warning asks with line and value', async () => {
    const { head, tail } = await readText(folder, 'd.csv', encoded('id,name\r\n1,Ann\r\n2,Zoë\r\n', 'macintosh'));
    expect(head.encoding).toBe('windows-1252');
    expect(tail.warnings).toMatchObject([
      {
        ...{ code: 'encodingAssumed', line: 3, value: 'Zo‘ → Zoë' },
        message:
          'd.csv is not UTF-8 (first at line 3); it was read as Windows-1252, and a word on line 3 looks wrong; --encoding macintosh would probably be right',
        hint: expect.stringContaining('If that should be “Zoë”, import the file again with --encoding macintosh'),
      },
    ]);
  });

  it.each([
    [
      'id,name,city\r\n1,Zoë,Café Müller\r\n2,Jörg,Größe\r\n',
      'write encoding: windows-1252 into the mapping of its feed',
    ],
    ['id,name\r\n1,Ann\r\n2,Zoë\r\n', 'write encoding: macintosh into the mapping of its feed'],
  ])('names no option where the file came by itself: %j', async (text, wanted) => {
    const { tail } = await readText(folder, 's.csv', encoded(text, 'macintosh'), { comesByItself: true });
    const [warning] = tail.warnings;
    expect(warning?.hint).toContain(wanted);
    expect(`${warning?.message} ${warning?.hint}`).not.toMatch(/--|again/);
  });

  it('in UTF-8 with a damaged byte is read as before, and the warning says what it is', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,name\n1,Jörg Müller\n2,Käthe\n3,Zo'),
      Buffer.from([0xeb]),
      Buffer.from('\n'),
    ]);
    const { head, tail } = await readText(folder, 'u.csv', bytes);
    expect(head.encoding).toBe('windows-1252');
    expect(tail.warnings[0]).toMatchObject({
      ...{ code: 'encodingAssumed', line: 4 },
      message: 'u.csv is not UTF-8 (first at line 4); it was read as Windows-1252, although most of it is UTF-8',
      hint: expect.stringContaining('Correct line 4'),
    });
    const byItself = await readText(folder, 'u.csv', bytes, { comesByItself: true });
    expect(byItself.tail.warnings[0]?.hint).toBe(
      'Letters such as ü are wrong now. Have line 4 corrected where the file comes from; the next file then sets them right.',
    );
  });
});
