/** Values that are put together from several cells: what is said where a part is blank, or the whole is wrong. */
import { describe, expect, it } from 'vitest';
import { desiredOf, mapping, mapRecord, problemsOf, warningsOf } from './support.ts';

describe('a key that is put together', () => {
  const keyed = (key: unknown, record: Readonly<Record<string, string>>) =>
    mapRecord({ Name: 'Ann', ...record }, {}, mapping({ key, fields: { firstName: 'Name' } }));

  it.each([
    ['a template', { template: '{Branch}-{No}' }, 'Nord-'],
    ['a join', { join: ['Branch', 'No'], with: '-' }, 'Nord'],
    ['a template that is changed', { template: '{Branch}-{No}', transform: ['lowerCase'] }, 'nord-'],
  ])('has a warning where a part of %s is blank', (_, key, made) => {
    const row = keyed(key, { Branch: 'Nord', No: ' ' });
    expect(desiredOf(row).key).toBe(made);
    expect(row.warnings).toMatchObject([{ code: 'keyPartBlank', field: 'No', value: made }]);
    expect(row.warnings[0]?.message).toMatch(/in one file they are rejected, and a later file overwrites$/);
    expect(warningsOf(keyed(key, { Branch: 'Nord', No: '7' }))).toEqual([]);
    expect(problemsOf(keyed(key, { Branch: '', No: '' }))).toMatchObject([{ code: 'keyMissing' }]);
  });

  it('has none where it is a last resort, and other values take blank parts as ever', () => {
    const choice = { firstOf: ['Mail', { template: '{First}|{Last}' }] };
    expect(warningsOf(keyed(choice, { Mail: '', First: 'Ann', Last: '' }))).toEqual([]);
    const named = mapping({ fields: { firstName: { template: '{First} {Middle}' } } });
    expect(warningsOf(mapRecord({ id: '7', First: 'Ann', Middle: '' }, {}, named))).toEqual([]);
  });
});

describe('a link that is put together', () => {
  const linked = (template: string, id: string) =>
    mapRecord({ Id: id, F: 'Ann' }, {}, mapping({ key: 'Id', fields: { firstName: 'F', sourceUrl: { template } } }));

  it('is reported for its field, with what to change in the template', () => {
    expect(problemsOf(linked('crm.example.com/p/{Id}', '7'))).toEqual([
      {
        ...{ line: 2, code: 'sourceUrlInvalid', field: 'sourceUrl', value: 'crm.example.com/p/7' },
        message: expect.stringContaining('since the template does not begin with one'),
        hint: 'Correct the template of sourceUrl in the mapping: write https:// in front of "crm.example.com/p/".',
      },
    ]);
    expect(problemsOf(linked('https://crm.example.com/p/{Id}', 'a b'))).toMatchObject([
      { field: 'sourceUrl', hint: 'Correct the template of sourceUrl in the mapping, or what the row holds for Id.' },
    ]);
    expect(desiredOf(linked('https://crm.example.com/p/{Id}', '7')).scalars.sourceUrl).toBe(
      'https://crm.example.com/p/7',
    );
  });
});
