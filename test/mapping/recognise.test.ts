import { describe, expect, test } from 'vitest';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import {
  headerRule,
  isKnownHeader,
  isKnownKey,
  needsEnd,
  type Recognition,
  recognise,
} from '#src/mapping/recognise.ts';
import type { Row } from '#src/sources/row.ts';
import { cellsRow, mapping, objectRow } from './support.ts';

const preset = (name: string, ...ways: readonly object[]): Mapping => mapping({ name, recognise: ways });
const crm = preset('crm', { headers: ['Record ID', 'First Name'] });
const shop = preset('shop', { headers: ['Customer ID', 'First Name'] });

const named = (found: Recognition): string =>
  found.kind === 'preset'
    ? found.mapping.name
    : found.kind === 'ambiguous'
      ? found.mappings.map(({ name }) => name).join('+')
      : found.kind;
const table = (columns: readonly string[], presets: readonly Mapping[], rows: readonly (readonly string[])[] = []) =>
  named(recognise({ columns, format: 'csv', sample: rows.map((cells) => cellsRow(columns, cells)) }, presets));
const json = (records: readonly object[], presets: readonly Mapping[], wrapper: string | null = null) =>
  named(recognise({ columns: null, format: 'json', wrapper, sample: records.map((one) => objectRow(one)) }, presets));

describe('a table is recognised', () => {
  test('when all signature headers are there, in any order, among others', () => {
    expect(table(['x', 'First Name', 'Record ID'], [crm, shop])).toBe('crm');
    expect(table(['First Name'], [crm, shop])).toBe('unknown');
    expect(table(['Record ID'], [crm, shop])).toBe('unknown');
    expect(table([], [crm, shop])).toBe('unknown');
  });

  test('without regard to case, outer spaces and a byte order mark; inner spaces matter', () => {
    expect(table(['\ufeffRECORD id ', ' first name'], [crm])).toBe('crm');
    expect(table(['RecordID', 'First Name'], [crm])).toBe('unknown');
  });

  test('by any of several ways', () => {
    const google = preset('google', { headers: ['A', 'B'] }, { headers: ['A', 'C'] });
    expect(
      [
        ['A', 'C'],
        ['A', 'B'],
        ['B', 'C'],
      ].map((columns) => table(columns, [google])),
    ).toEqual(['google', 'google', 'unknown']);
  });

  test('as two: both are named and none is taken', () => {
    expect(table(['Record ID', 'Customer ID', 'First Name'], [crm, shop])).toBe('crm+shop');
  });

  test('not when it has a header of another export', () => {
    const without = preset('crm', { headers: ['Record ID', 'First Name'], without: ['Owner.id'] });
    expect(table(['Record ID', 'First Name'], [without])).toBe('crm');
    expect(table(['Record ID', 'First Name', 'OWNER.ID'], [without])).toBe('unknown');
  });

  test('as generic before any preset, where it has a column externalId', () => {
    expect(table(['External ID', 'Record ID', 'First Name'], [crm])).toBe('generic');
  });

  test('only by mappings that say what they are recognised by', () => {
    expect(table(['id', 'First Name'], [mapping({ name: 'own' })])).toBe('unknown');
  });

  test('by what its cells are like: every filled one, and at least one', () => {
    const ids = preset('ids', { headers: ['ID'], cells: [{ column: 'id', beginsWith: '003', lengths: [4, 6] }] });
    expect(table(['ID'], [ids], [['0031'], [''], [' 003123 ']])).toBe('ids');
    expect(table(['ID'], [ids], [['0031'], ['0041']])).toBe('unknown');
    expect(table(['ID'], [ids], [['0031'], ['00312']])).toBe('unknown');
    expect(table(['ID'], [ids], [['']])).toBe('unknown');
    expect(table(['ID'], [ids])).toBe('unknown');
  });

  test('by its footer, which is shorter than the header', () => {
    const report = preset('report', { headers: ['Name'], footer: ['Confidential'] });
    const columns = ['Name', 'Email'];
    expect(table(columns, [report], [['Ann', ''], ['CONFIDENTIAL information']])).toBe('report');
    expect(table(columns, [report], [['Ann', 'Confidential']])).toBe('unknown');
    expect([['Name'], ['Mail']].map((own) => needsEnd({ columns: own }, [report]))).toEqual([true, false]);
    expect([needsEnd({ columns }, [crm]), needsEnd({ columns: null }, [report])]).toEqual([false, false]);
  });
});

describe('JSON is recognised', () => {
  const api = preset('api', { members: ['id', 'properties.email'] });

  test('when each member is in some record, at the end of its path', () => {
    expect(json([{ id: '1', properties: {} }, { properties: { email: null } }], [api])).toBe('api');
    expect(json([{ id: '1', properties: {} }], [api])).toBe('unknown');
    expect(json([{ id: '1', 'properties.email': 'a@example.com' }], [api])).toBe('api');
  });

  test('by the list that holds it, and by what its members are', () => {
    const wrapped = preset('wrapped', {
      members: ['id'],
      wrapper: 'data',
      cells: [{ column: 'kind.name', equals: 'customer' }],
    });
    const records = [{ id: 1, kind: { name: 'Customer' } }];
    expect(json(records, [wrapped], 'data')).toBe('wrapped');
    expect(json(records, [wrapped])).toBe('unknown');
    expect(json([{ id: 1, kind: { name: 'invoice' } }], [wrapped], 'data')).toBe('unknown');
  });

  test('as generic where some record has an externalId or the shape of the service', () => {
    expect(json([{ id: 1 }, { External_ID: 'a', id: 2, properties: { email: '' } }], [api])).toBe('generic');
    expect(json([{ id: 1, defaultFields: {} }], [api])).toBe('generic');
  });

  test('not as a table, and a table not as JSON', () => {
    expect(json([{ 'Record ID': 1, 'First Name': 'Ann' }], [crm])).toBe('unknown');
    expect(table(['id', 'properties.email'], [api])).toBe('unknown');
  });
});

test('a format is recognised by itself', () => {
  const card = preset('card', { format: 'vcf' });
  expect(named(recognise({ columns: null, format: 'vcf', sample: [] }, [card]))).toBe('card');
  expect(named(recognise({ columns: null, format: 'json', sample: [] as Row[] }, [card]))).toBe('unknown');
});

test('the header of a table is a line with externalId, or with all headers of a preset', () => {
  const rule = isKnownHeader([crm, preset('api', { members: ['id', 'properties.email'] })]);
  const isHeader = (cells: readonly string[]) => rule(cells);
  expect([['a', 'EXTERNAL ID'], ['First Name', 'record id', ''], ['First Name']].map(isHeader)).toEqual([
    true,
    true,
    false,
  ]);
  // An object that is the whole file.
  expect(
    [
      ['id', 'properties', 'x'],
      ['id', 'x'],
    ].map(isHeader),
  ).toEqual([true, false]);
});

test('the key of a row is in the columns of its key that are nothing else', () => {
  const names = ['externalId', 'Branch', 'No.', 'E-Mail', 'Last Name'];
  const keys = (key: unknown) => {
    const made = mapping({ key, fields: { lastName: 'Last Name' }, emails: [{ column: 'E-Mail', label: 'email' }] });
    return [headerRule(made)?.isKey, isKnownKey([made])].map((isKey) => names.filter((name) => isKey?.(name)).join());
  };
  expect(keys('No.')).toEqual(['No.', 'externalId,No.']);
  expect(keys('E-Mail')).toEqual(['E-Mail', 'externalId,E-Mail']);
  expect(keys({ template: '{Branch}-{No.}' })).toEqual(['Branch,No.', 'externalId,Branch,No.']);
  expect(keys({ firstOf: ['No.', 'E-Mail', { template: '{Last Name}' }] })).toEqual(['No.', 'externalId,No.']);
  expect(headerRule(null)?.isKey?.('External ID')).toBe(true);
});
