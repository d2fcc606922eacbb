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
