/** `patchbay map --save --force` where people have edited the mapping of the feed, as a user types it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { writeWorkbook } from '#test/support/workbook.ts';

const edited = [
  '# Ask Jo before you change this.',
  'name: crm',
  'key: { template: "{Nr}/{Handy}" }',
  'defaultCountry: DE',
  'skipRows: [{ column: Art, equals: Lieferant, why: suppliers }]',
  'fields: { lastName: Name, company: { column: Firma, policy: seed } }',
  'phones: [{ column: Telefon, label: office }, { column: Handy, label: mobile }]',
  '',
].join('\n');
const week1 = [
  'Nr;Name;Firma;Art;Telefon;Handy',
  '1;Eins;A GmbH;Kunde;030 901821;0171 2345671',
  '2;Zwei;B GmbH;Lieferant;030 901822;0171 2345672',
  '',
].join('\n');
const week2 = week1.replace('Handy', 'Mobilnummer');

async function openPlace() {
  const folder = tempFolder();
  const call = (...args: readonly string[]) => callPatchbay(args, {}, folder);
  writeFileSync(join(folder, 'week1.csv'), week1);
  writeFileSync(join(folder, 'week2.csv'), week2);
  await call('map', 'week1.csv', '--feed', 'crm', '--save');
  const path = join(folder, 'data', 'import', 'crm', '_mapping.yaml');
  writeFileSync(path, edited);
  return { call, path };
}

describe('a mapping that people have edited', () => {
  it('is kept beside the one that replaces it, which has what still fits; what does not is named before', async () => {
    const { call, path } = await openPlace();
    const looked = await call('map', 'week2.csv', '--feed', 'crm');
    const lost = 'note: what the mapping which is there says of these does not stay: phones (Handy)';
    expect(looked.stdout, looked.stderr).toContain(lost);
    expect(looked.stdout).toContain('policies: company seed');
    expect(looked.stdout).toContain('the row can be imported');
    expect(looked.stdout).toContain('suppliers');
    const saved = await call('map', 'week2.csv', '--feed', 'crm', '--save', '--force');
    expect(saved.stdout.split(lost), saved.stderr).toHaveLength(2);
    expect(saved.stdout).toContain('kept: data/import/crm/_mapping.yaml.bak (the mapping that was there)');
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(edited);
    const now = readFileSync(path, 'utf8');
    expect(now).toContain('company: {"column":"Firma","policy":"seed"}');
    expect(now).toContain('{"column":"Telefon","label":"office"}');

    writeFileSync(path, `${now}# again\n`);
    const again = await call('--json', 'map', 'week2.csv', '--feed', 'crm', '--save', '--force');
    expect(JSON.parse(again.stdout)).toMatchObject({ saved: path, replaced: `${path}.bak2` });
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(edited);
    await call('map', 'week2.csv', '--feed', 'crm', '--save', '--force');
    expect(existsSync(`${path}.bak3`)).toBe(false);
  });

  it('is looked at with the change of keys before anything is saved, whatever would take its place', async () => {
    const { call, path } = await openPlace();
    const change = 'the key changes: it was key: {"template":"{Nr}/{Handy}"}, and is key: ';
    const looked = await call('map', 'week2.csv', '--feed', 'crm');
    expect(looked.stdout, looked.stderr).toContain(`note: ${change}`);
    const { remarks } = JSON.parse((await call('--json', 'map', 'week2.csv', '--feed', 'crm')).stdout);
    expect(remarks).toContainEqual(expect.stringContaining(change));
    const other = join(path, '..', '..', 'other.yaml');
    writeFileSync(other, 'name: other\nkey: Nr\nfields: { lastName: Name }\n');
    const named = await call('map', 'week1.csv', '--feed', 'crm', '--mapping', other);
    expect(named.stdout, named.stderr).toContain(`note: ${change}`);
    expect(named.stdout).not.toContain('does not stay');
    expect((await call('map', 'week1.csv', '--feed', 'crm')).stdout).not.toContain('the key changes');
  });

  it('is read in its sheet, where the file has it', async () => {
    const { call, path } = await openPlace();
    const folder = join(path, '..', '..', '..', '..');
    const sheets = (name: string) => [
      {
        name: 'Info',
        rows: [
          ['Stand', 'Autor'],
          ['2026', 'Jo'],
        ],
      },
      {
        name,
        rows: week2
          .trim()
          .split('\n')
          .map((line) => line.split(';')),
      },
    ];
    writeFileSync(join(folder, 'a.xlsx'), writeWorkbook({ sheets: sheets('Kunden') }));
    writeFileSync(join(folder, 'b.xlsx'), writeWorkbook({ sheets: sheets('Leute') }));
    writeFileSync(path, `${edited}sheet: Kunden\n`);
    const own = await call('map', 'a.xlsx', '--feed', 'crm');
    expect(own.stdout, own.stderr).toContain('phone (office)');
    const saved = await call('map', 'a.xlsx', '--feed', 'crm', '--save', '--force', '--quiet');
    expect(saved.stdout, saved.stderr).not.toContain('sheet');
    expect(readFileSync(path, 'utf8')).toContain('\nsheet: Kunden\n');
    const other = await call('map', 'b.xlsx', '--feed', 'crm', '--save', '--force');
    expect(other.stdout, other.stderr).toContain('does not stay: sheet');
    expect(other.stdout).toContain('phone (office)');
    expect(readFileSync(path, 'utf8')).not.toContain('sheet');
    writeFileSync(path, `${edited}sheet: Kunden\n`);
    const named = await call('map', 'b.xlsx', '--feed', 'crm', '--save', '--force', '--sheet', 'Leute');
    expect(named.stdout, named.stderr).toContain('does not stay: sheet');
    expect(readFileSync(path, 'utf8')).toContain('\nsheet: Leute\n');
  });

  it('is read in its encoding only where the file is in that', async () => {
    const { call, path } = await openPlace();
    const folder = join(path, '..', '..', '..', '..');
    const accented = week2.replace('Eins', 'Größe');
    writeFileSync(join(folder, 'week2.csv'), accented);
    writeFileSync(join(folder, 'west.csv'), Buffer.from(accented, 'latin1'));
    const mapped = async (encoding: string, file: string, ...more: readonly string[]) => {
      writeFileSync(path, `${edited}encoding: ${encoding}\n`);
      const { stdout, stderr } = await call('map', file, '--feed', 'crm', '--save', '--force', ...more);
      const now = /^encoding: (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? null;
      expect(stdout, stderr).toContain('phone (office)');
      expect(stdout).toContain('Größe');
      return { now, isNamed: stdout.includes('does not stay: encoding') };
    };
    expect(await mapped('utf-8', 'west.csv')).toEqual({ now: null, isNamed: true });
    expect(await mapped('utf-16le', 'week2.csv')).toEqual({ now: null, isNamed: true });
    expect(await mapped('windows-1252', 'west.csv')).toEqual({ now: 'windows-1252', isNamed: false });
    expect(await mapped('utf-8', 'west.csv', '--encoding', 'windows-1252')).toMatchObject({ now: 'windows-1252' });
    writeFileSync(join(folder, 'week2.csv'), accented.replace('Nr;', 'Nummer;'));
    expect(await mapped('utf-16le', 'week2.csv')).toEqual({ now: null, isNamed: true });
    writeFileSync(join(folder, 'west.csv'), Buffer.from(accented.replace('Nr;', 'Nummer;'), 'latin1'));
    expect(await mapped('windows-1252', 'west.csv')).toEqual({ now: 'windows-1252', isNamed: false });
  });
});
