import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { keysAt } from '#src/mapping/mapping-schema.ts';
import { cellsRow, codesOf, desiredOf, noContext, objectRow, warningsOf } from './support.ts';

const config = new URL('../../config/', import.meta.url);
const read = (name: string) => readFileSync(new URL(`samples/${name}`, config), 'utf8');
const load = (name: string) => loadMapping(new URL(`mappings/${name}.yaml`, config).pathname);

function mapCsv(name: string, delimiter: string, by: Mapping | null) {
  const [columns = [], ...records]: string[][] = parse(read(name), { delimiter });
  const compiled = compileMapping(by, { columns }, noContext);
  return { compiled, rows: records.map((cells, index) => compiled.mapRow(cellsRow(columns, cells, index + 2))) };
}

describe('the samples', () => {
  test('contacts.csv is clean with no options: no dead row, no warning, nothing unmapped', () => {
    const { compiled, rows } = mapCsv('contacts.csv', ',', null);
    expect(rows).toHaveLength(12);
    expect(rows.flatMap((row) => [...codesOf(row), ...warningsOf(row)])).toEqual([]);
    expect(compiled).toMatchObject({ unmappedColumns: [], usesCustomFields: false });
  });

  test('contacts.json is clean with no options', () => {
    const compiled = compileMapping(null, { columns: null }, noContext);
    const objects: object[] = JSON.parse(read('contacts.json'));
    const rows = objects.map((object) => compiled.mapRow(objectRow(object)));
    expect(rows.flatMap((row) => [...codesOf(row), ...warningsOf(row)])).toEqual([]);
    expect(compiled.unmappedColumns).toEqual([]);
  });

  test('contacts-with-mistakes.csv shows one mistake after the other', () => {
    const { rows } = mapCsv('contacts-with-mistakes.csv', ',', null);
    expect(rows.map(codesOf)).toEqual([
      [],
      ['phoneLetters'],
      ['keyMissing'],
      ['emailInvalid'],
      ['phoneDamaged'],
      ['phoneCountryMissing'],
      ['keyDamaged'],
      [],
      ['emailInvalid', 'phoneImpossible'],
      [],
    ]);
    expect(rows.flatMap(warningsOf)).toEqual(['placeholderText', 'phoneExtensionDropped']);
  });

  test('crm-export.csv fits the mapping example-crm', async () => {
    const { compiled, rows } = mapCsv('crm-export.csv', ';', await load('example-crm'));
    expect(rows.flatMap((row) => [...codesOf(row), ...warningsOf(row)])).toEqual([]);
    expect(compiled.unmappedColumns).toEqual(['Notiz']);
    expect(desiredOf(rows[2] ?? expect.fail('no third row'))).toEqual({
      key: 'crm-1003',
      scalars: { firstName: 'Cosima', lastName: 'Rüdesheim', company: 'Leuchtturm Verlag', role: 'Lektorin' },
      source: 'crm',
      emails: [{ slot: 'email', items: [{ label: 'work', value: 'Cosima@example.com' }] }],
      phones: [
        { slot: 'telefon', items: [{ label: 'work', value: '+14155550143' }] },
        { slot: 'mobil', items: [{ label: 'mobile', value: '+14155550183' }] },
      ],
      customFields: [],
    });
  });

  test('the mapping generic says the same as the generic layout', async () => {
    const generic = await load('generic');
    const columns = ['externalId', 'firstName', 'lastName', 'company', 'role', 'email work', 'phone mobile'];
    const row = cellsRow(columns, ['a', 'Ada', 'W', '', 'Owner', 'a@example.com', '+14155550101']);
    const [one, other] = [generic, null].map((by) => compileMapping(by, { columns }, noContext).mapRow(row));
    expect(one).toEqual(other);
  });

  test('the mapping generic shows every key', () => {
    const text = readFileSync(new URL('mappings/generic.yaml', config), 'utf8');
    const paths = [[], ['fields'], ['fields', 'role'], ['emails', 0], ['phones', 0], ['customFields', 0]];
    const missing = paths.flatMap(keysAt).filter((key) => !text.includes(`${key}:`));
    expect(missing).toEqual([]);
  });
});
