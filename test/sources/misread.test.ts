/** Text that another program decoded wrongly (`docs/bad-inputs.md`, "CSV" and "JSON, NDJSON, gzip"). */
import { describe, expect, it } from 'vitest';
import { dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const asLatin = (text: string) => new TextDecoder('windows-1252').decode(Buffer.from(text));
const asMac = (text: string) => new TextDecoder('macintosh').decode(Buffer.from(text));

describe('text that was decoded wrongly before', () => {
  it.each([
    ['MÃ¼ller', 'Müller'],
    ...['Müller', 'José', 'Ångström', 'Øre', 'Čapek', 'naïve – so’s', 'À la carte', 'España', '50 €'].flatMap(
      (text) => [
        [asLatin(text), text],
        [asMac(text), text],
      ],
    ),
  ])('%s is warned about, and probably is %s', async (text, meant) => {
    const { items, tail } = await readText(folder, 'm.csv', `id,name\n1,Ann\n2,"${text}"\n3,"${text}"\n`);
    expect(dataOf(items)[1]).toEqual(['2', text]);
    expect(tail.warnings).toEqual([
      {
        ...{ code: 'textMisread', line: 3, field: 'name', value: text },
        message: 'line 3, name: the text was decoded wrongly before it came here (first of 2 rows)',
        hint: expect.stringContaining(`Probably it should be “${meant}”.`),
      },
    ]);
  });

  it('is found in JSON, also where letters are escaped', async () => {
    const escaped = '[{"id":"1"},\n{"id":"2","names":[{"first":"M\\u00c3\\u00bcller"}]}]';
    for (const content of [escaped, '[{"id":"1"},\n{"id":"2","names":[{"first":"MÃ¼ller"}]}]']) {
      const { tail } = await readText(folder, 'm.json', content);
      expect(tail.warnings).toMatchObject([
        { code: 'textMisread', line: 2, field: 'names[0].first', value: 'MÃ¼ller' },
      ]);
    }
  });

  it('is warned about where letters are lost', async () => {
    const { tail } = await readText(folder, 'm.csv', 'id,name\n1,M\ufffdller\n');
    expect(tail.warnings).toMatchObject([{ code: 'characterLost', line: 2, field: 'name', value: 'M\ufffdller' }]);
  });

  it('is warned about where --encoding is wrong', async () => {
    const { tail } = await readText(folder, 'm.csv', 'id,name\n1,Zoë\n', { encoding: 'windows-1252' });
    expect(tail.warnings).toMatchObject([{ code: 'textMisread', value: 'ZoÃ«' }]);
  });
});

it.each([
  ...[
    'Jürgen Groß, Äpfel & Öle „Übersee“…',
    'Ängström-Åse, „Ä“ und „Å“ – Ä…',
    'François L’Étoile à Noël, CRÊPERIE',
    'JOÃO GONÇALVES, SÃO PAULO, IRMÃ, “AMANHÔ',
  ],
  ...[
    'Łódź, ŻÓŁĆ, Gdańsk',
    'ÂGE, Château d’Âme',
    '√2, ∞, ½ € – ™',
    'Nguyễn Thị Ánh, ÂN, Ân',
    'Åland, Ågren; Bengtsson',
  ],
  ...['Ştefan Ţăranu, ÎNVĂȚĂTOR', 'Đorđević', 'Иван', '山田', '😀'],
])('%s is not warned about', async (text) => {
  const { tail } = await readText(folder, 'm.csv', `id;name\n1;${text}\n`, { delimiter: ';' });
  expect(tail.warnings).toEqual([]);
});

it('a warning of which only the first are listed says how many more there are', async () => {
  const { tail } = await readText(folder, 'p.csv', `id,name\n${'Total\n'.repeat(25)}`);
  expect(tail.warnings).toHaveLength(22);
  expect(tail.warnings[20]).toMatchObject({
    code: 'totalLine',
    message: '5 more lines with the same warning (totalLine), not listed',
  });
});
