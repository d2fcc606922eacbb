/** `patchbay map` and `import` of tables with lines above their header, and of tables without one, as a user types it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { type SheetPlan, workbookOf } from '#test/support/workbook.ts';

function openPlace() {
  const folder = tempFolder();
  return {
    file: (name: string, content: string | Buffer) => {
      writeFileSync(join(folder, name), content);
      return name;
    },
    call: (...args: readonly string[]) => callPatchbay(args, {}, folder),
  };
}

const people: SheetPlan['rows'] = [
  ['Nr.', 'Vorname', 'Nachname', 'Telefon', 'E-Mail'],
  ...[1, 2, 3, 4].map((n) => [`A-${n}`, `V${n}`, 'Lang', `+49 30 12345${n}`, `t${n}@example.com`]),
];

describe('a table below lines that are no header', () => {
  it('is proposed by the line that is, and imported by what was saved', async () => {
    const place = openPlace();
    const file = place.file('two.xlsx', workbookOf([['Kunde', null, null, 'Kontakt', null], ...people]));
    const saved = await place.call('map', '--feed', 'two', '--save', file);
    expect(saved.stdout, saved.stderr).toContain(
      'line 3: two-A-1  V1 Lang  t1@example.com (email)  +4930123451 (phone)',
    );
    expect(saved.stdout).toContain('note: line 1 is left out: it is above the header');
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'two', file);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ rows: 4, created: 4 });
  });

  it.each<[string, string[], string]>([
    ['names the key, too', ['Nr.', 'E-Mail', 'siehe unten'], 'a name by which the header is known ("Nr.")'],
    ['is the header where the key has no name', ['Liste', '2026'], 'the key is picked by its position'],
  ])('that the import would not find says so, and what it advises helps: a line that %s', async (_, title, why) => {
    const place = openPlace();
    const named =
      title[0] === 'Nr.'
        ? people
        : people.map((cells, index) => (index === 0 ? ['', ...(cells ?? []).slice(1)] : cells));
    const looked = await place.call('map', place.file('a.xlsx', workbookOf([title, ...named])));
    expect(looked.stdout, looked.stderr).toContain(why);
    expect(looked.stdout).toContain('take the lines above the header out of the file');
    const file = place.file('b.xlsx', workbookOf(named));
    const saved = await place.call('map', '--feed', 'b', '--save', file);
    expect(saved.stdout, saved.stderr).toContain('all can be imported');
    const done = await place.call('--json', 'import', '--sandbox', '--feed', 'b', file);
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ rows: 4, created: 4 });
  });
});

describe('a table without a header', () => {
  const rows = [
    ['1001', 'Anna', 'Huber', '+49 30 1234561', '+49 170 1234561', 'a@example.com', 'VIP; new'],
    ['1002', 'Bernd', 'Maier', '+49 30 1234562', '', 'b@example.com', ''],
  ];
  const quoted = (cell: string): string => (/[;, ]/.test(cell) ? `"${cell}"` : cell);
  const textOf = (delimiter: string): string => rows.map((cells) => cells.map(quoted).join(delimiter)).join('\n');

  it.each([';', ',', '\t', '|', ' '])(
    'is imported with the line that the hint shows (delimiter %j)',
    async (delimiter) => {
      const place = openPlace();
      const given = delimiter === ' ' ? ['--delimiter', ' '] : [];
      const looked = await place.call('map', ...given, place.file('a.csv', `${textOf(delimiter)}\n`));
      expect([looked.code, looked.stderr]).toEqual([3, expect.stringContaining('[headerMissing]')]);
      const [, shown = ''] = /such as: (.*)$/m.exec(looked.stderr) ?? [];
      const line = looked.stderr.includes('with a tab in place of each comma') ? shown.replaceAll(',', '\t') : shown;
      const file = place.file('b.csv', `${line}\n${textOf(delimiter)}\n`);
      const again = await place.call('map', ...given, file);
      expect([again.code, again.stdout], again.stderr).toEqual([
        0,
        expect.stringContaining('it can be imported as it is'),
      ]);
      expect(again.stdout).toContain(
        'line 2: 1001  Anna Huber  a@example.com (email)  +49301234561 (phone)  +491701234561 (2)',
      );
    },
  );

  it('in a workbook is given a row, not a line', async () => {
    const place = openPlace();
    const { stderr } = await place.call('map', place.file('a.xlsx', workbookOf(rows)));
    expect(stderr).toContain(
      'Insert a row above it with the name of each column in its cell, such as: externalId, firstName, lastName, phone, phone 2, email, column 7',
    );
  });
});

describe('a column without a name', () => {
  const note = (position: number): string => `column ${position} has no name but holds values; it is ignored`;

  it('that the mapping picks by its position is not called ignored; another one is', async () => {
    const place = openPlace();
    const row = (n: number) => `A${n};Ann;+49 30 12345${n};+49 30 99345${n};a${n}@example.com;;;yes`;
    const file = place.file('a.csv', `Kundennr;Vorname;Telefon;;E-Mail;Ort;;\n${[1, 2, 3].map(row).join('\n')}\n`);
    const saved = await place.call('map', '--feed', 'a', '--save', file);
    expect(saved.stdout, saved.stderr).toMatch(/column 4 .*phone \(column 4\)/);
    expect(saved.stdout).not.toContain(note(4));
    expect(saved.stdout).toContain(note(8));
    expect((await place.call('map', '--feed', 'a', file)).stdout).not.toContain(note(4));
    const done = await place.call('import', '--sandbox', '--feed', 'a', file);
    expect(done.stdout, done.stderr).toContain('3 created');
    expect(done.stdout).toContain(note(8));
    expect(done.stdout).not.toContain(note(4));
  });
});
