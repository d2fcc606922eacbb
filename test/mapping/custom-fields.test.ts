import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { policiesOf } from '#src/mapping/policies-of.ts';
import { allTypes, codesOf, desiredOf, mapJson, mapping, mapRecord, noContext, problemsOf } from './support.ts';

const context = { customFields: allTypes };
const readAs = (key: string, cell: string) =>
  desiredOf(mapRecord({ externalId: 'a', [`custom.${key}`]: cell }, context)).customFields[0]?.value;
const codes = (key: string, cell: string) => codesOf(mapRecord({ externalId: 'a', [`custom.${key}`]: cell }, context));

describe('a custom field is read by its type', () => {
  test('and holds up to 200 choices', () => {
    const choices = Array.from({ length: 201 }, (_, index) => `c${index}`);
    expect(readAs('tags', choices.slice(1).join(';'))).toEqual(choices.slice(1));
    expect(codes('tags', choices.join(';'))).toEqual(['tooManyItems']);
  });

  test.each([
    ['visits', '12', 12],
    ['visits', '-1.50', -1.5],
    ['visits', "'-3", -3],
    ['visits', '007', 7],
    ['vip', 'TRUE', true],
    ['vip', 'yes', true],
    ['vip', '1', true],
    ['vip', 'No', false],
    ['vip', '0', false],
    ['since', '2026-03-09', '2026-03-09T00:00:00.000Z'],
    ['since', '2026-03-09T14:30', '2026-03-09T14:30:00.000Z'],
    ['since', '2026-03-09 14:30:05+02:00', '2026-03-09T12:30:05.000Z'],
    ['since', '2026-03-09T14:30:05.25Z', '2026-03-09T14:30:05.250Z'],
    ['vip', 't', true],
    ['vip', 'f', false],
    ['since', '2024-03-05 14:30:00.123456+00', '2024-03-05T14:30:00.123Z'],
    ['since', '2024-03-05 14:30:00+02', '2024-03-05T12:30:00.000Z'],
    ['since', '2024-03-05 14:30:00-0330', '2024-03-05T18:00:00.000Z'],
    ['tags', 'VIP; Blog ;;VIP', ['VIP', 'Blog']],
    ['tags', '["tea", "maps; all"]', ['tea', 'maps; all']],
    ['tags', '[tea]', ['[tea]']],
    ['note', '["tea"]', '["tea"]'],
    ['home', 'https://example.com/a', 'https://example.com/a'],
    ['note', ' two\r\nlines ', 'two\nlines'],
    ['where', '1 Quay Road', '1 Quay Road'],
  ])('%s: %j', (key, cell, value) => {
    expect(readAs(key, cell)).toEqual(value);
  });

  test.each([
    ['visits', '1,5'],
    ['visits', '1.234,5'],
    ['visits', '1e5'],
    ['visits', 'many'],
    ['vip', 'maybe'],
    ['since', '09.03.2026'],
    ['since', '2026-02-30'],
    ['since', '2026-13-01'],
    ['since', '2026-03-09T25:00'],
    ['since', '0/0/00'],
    ['since', '2024-03-05 14:30:00+2'],
    ['since', '2024-03-05 14:30:00+15'],
    ['home', 'example.com'],
  ])('the wrong type kills the row and names the column: %s %s', (key, cell) => {
    const [problem] = problemsOf(mapRecord({ externalId: 'a', [`Custom.${key}`]: cell }, context));
    expect(problem).toMatchObject({ code: 'customFieldType', field: `Custom.${key}`, value: cell });
  });

  test.each([
    ['visits', '1.234,56', 'transform: [{ replace: ".", with: "" }, { replace: ",", with: "." }].'],
    ['visits', '12,5', 'A mapping can read such numbers: transform: [{ replace: ",", with: "." }].'],
    [
      'visits',
      '1.234.567',
      'If the points separate thousands, a mapping can read such numbers: transform: [{ replace: ".", with: "" }].',
    ],
    [
      'visits',
      '12,500',
      'If the comma separates thousands, a mapping can read such numbers: transform: [{ replace: ",", with: "" }].',
    ],
    [
      'visits',
      '1,234.56',
      'If the comma separates thousands, a mapping can read such numbers: transform: [{ replace: ",", with: "" }].',
    ],
    ['vip', 'ja', 'Write true, false, yes, no, 1 or 0. A mapping can read other words: transform: [{ values: '],
    ['since', '31.12.2025', 'A mapping can read other dates: transform: [{ date: DD.MM.YYYY }].'],
    ['home', 'https://shop.example/a b.pdf', 'A link holds no space or line break: write %20 in its place.'],
    ['home', 'https://shop.example/?f=a|b', 'A link holds no |: write %7C in its place.'],
    ['home', 'shop.example/a b', 'Write a link that begins with http:// or https://.'],
  ])('and says what to do: %s %s', (key, cell, hint) => {
    const [problem] = problemsOf(mapRecord({ externalId: 'a', [`custom.${key}`]: cell }, context));
    expect(problem?.hint).toContain(hint);
  });

  test('a link of the contact names the character that it cannot hold, too', () => {
    const [problem] = problemsOf(mapRecord({ externalId: 'a', sourceUrl: 'https://shop.example/a b' }));
    expect(problem?.hint).toBe('A link holds no space or line break: write %20 in its place.');
  });

  test('a number that would lose digits kills the row', () => {
    expect(codes('visits', '12345678901234567890')).toEqual(['precisionLost']);
  });

  test('a control character kills the row', () => {
    expect(codes('note', 'a\u0001')).toEqual(['controlCharacter']);
  });
});

describe('choices in one cell', () => {
  const tags = (cell: string, given: object = {}) =>
    mapRecord({ externalId: 'a', 'custom.tags': cell }, { ...context, ...given });

  test('an empty JSON list is a blank cell', () => {
    expect(desiredOf(tags('[]')).customFields).toEqual([]);
    expect(desiredOf(tags('[]', { onBlank: 'clear' })).customFields).toEqual([{ key: 'tags', value: null }]);
  });

  test('what is nothing in a JSON list is left out', () => {
    expect(desiredOf(tags('["tea", null, "maps"]')).customFields).toEqual([{ key: 'tags', value: ['tea', 'maps'] }]);
  });

  test('a JSON list of anything but texts and numbers kills the row', () => {
    expect(codesOf(tags('[{"x": "tea"}]'))).toEqual(['customFieldType']);
  });

  test.each([
    ['tea, maps', '","'],
    ['tea,maps', '","'],
    ['tea|maps', '"|"'],
    ['tea\nmaps', String.raw`"\n"`],
  ])('%j is read as one choice, with a warning that names the separator', (cell, separator) => {
    const row = tags(cell);
    expect(desiredOf(row).customFields).toEqual([{ key: 'tags', value: [cell] }]);
    expect(row.warnings).toMatchObject([
      { code: 'choicesInDoubt', hint: expect.stringContaining(`separator: ${separator} if`) },
    ]);
  });

  test.each(['tea; maps, all', 'tea', 'size 1,5', '["tea, green"]'])('%s has no warning', (cell) => {
    expect(tags(cell).warnings).toEqual([]);
  });

  test('the separator that the warning names reads them', () => {
    for (const [cell, separator] of [
      ['tea, maps', ','],
      ['tea\nmaps', '\n'],
    ] as const) {
      const by = mapping({ fields: { firstName: 'n' }, customFields: [{ column: 'tags', key: 'tags', separator }] });
      const row = mapRecord({ id: 'a', n: 'Ann', tags: cell }, context, by);
      expect([desiredOf(row).customFields, row.warnings]).toEqual([[{ key: 'tags', value: ['tea', 'maps'] }], []]);
    }
  });

  test('a code of HTML, which ends with ;, is cut, with a warning', () => {
    const row = tags('tea &amp; maps');
    expect(desiredOf(row).customFields).toEqual([{ key: 'tags', value: ['tea &amp', 'maps'] }]);
    expect(row.warnings).toMatchObject([{ code: 'textEscaped', message: expect.stringContaining('end of a choice') }]);
  });
});

describe('an unknown custom field', () => {
  test('as a CSV column stops the file and suggests a key', () => {
    expect(() => mapRecord({ externalId: 'a', 'custom.sinse': 'x' }, context)).toThrow(
      expect.objectContaining({ kind: 'file', code: 'customFieldUnknown', hint: 'Did you mean "since"?' }),
    );
  });

  const umsatz = { key: '66f0aa12bc34de56f7890001', name: 'Umsatz', type: 'number' };
  const tier = { key: 'tier', name: 'Tier', type: 'string' };

  test('whose name was written is told by its key, and fields are listed with their names', () => {
    expect(() => mapRecord({ externalId: 'a', 'custom.umsatz': '5' }, { customFields: [umsatz, tier] })).toThrow(
      expect.objectContaining({
        message:
          'column "custom.umsatz": the workspace has no custom field with the key "umsatz"; it has: "66f0aa12bc34de56f7890001" (Umsatz), "tier"',
        hint: '"umsatz" is the name of the field 66f0aa12bc34de56f7890001: write custom.66f0aa12bc34de56f7890001, or in a mapping key: "66f0aa12bc34de56f7890001".',
      }),
    );
  });

  test('whose name several fields have is told so', () => {
    const customFields = [umsatz, { ...umsatz, key: '66f0aa12bc34de56f7890002' }];
    expect(() => mapRecord({ externalId: 'a', 'custom.Umsatz': '5' }, { customFields })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('is the name of several fields') }),
    );
  });

  test('keeps its case: a key differs from another by case alone', () => {
    expect(() => mapRecord({ externalId: 'a', 'custom.Since': 'x' }, context)).toThrow(/"Since"/);
  });

  test('in JSON kills the row and names the member', () => {
    const [problem] = problemsOf(mapJson({ externalId: 'a', custom: { nope: 1 } }, context));
    expect(problem).toMatchObject({ code: 'customFieldUnknown', field: 'custom.nope' });
  });
});

describe('a key that ends with a space', () => {
  const field = (key: string) => ({ key, name: key, type: 'string' });
  const both = { customFields: [field('tier'), field('tier ')] };
  const one = { customFields: [field('tier')] };
  const by = (...keys: string[]) =>
    mapping({ fields: { firstName: 'n' }, customFields: keys.map((key, index) => ({ column: `c${index}`, key })) });
  const record = { id: 'a', n: 'Ann', c0: 'gold', c1: 'blue' };
  const keysOf = (row: ReturnType<typeof mapRecord>) => desiredOf(row).customFields.map(({ key }) => key);

  test('is that of the field which has it exactly so, in a mapping, a column and JSON', () => {
    expect(keysOf(mapRecord(record, both, by('tier ')))).toEqual(['tier ']);
    expect(keysOf(mapRecord(record, both, by('tier ', 'tier')))).toEqual(['tier ', 'tier']);
    expect(keysOf(mapRecord({ externalId: 'a', 'custom.tier ': 'gold', 'Custom. tier': 'blue' }, both))).toEqual([
      'tier ',
      'tier',
    ]);
    expect(keysOf(mapJson({ externalId: 'a', custom: { 'tier ': 'gold' } }, both))).toEqual(['tier ']);
    const customFields = [{ key: 'tier ', value: 'gold' }];
    expect(keysOf(mapJson({ externalId: 'a', defaultFields: {}, customFields }, both))).toEqual(['tier ']);
  });

  test('is otherwise that of the field without it', () => {
    expect(keysOf(mapRecord(record, one, by('tier ')))).toEqual(['tier']);
    expect(keysOf(mapRecord({ externalId: 'a', 'custom.tier ': 'gold' }, one))).toEqual(['tier']);
    expect(keysOf(mapRecord({ externalId: 'a', 'custom.tier ': 'gold' }))).toEqual(['tier']);
    expect(keysOf(mapJson({ externalId: 'a', custom: { 'tier ': 'gold' } }, one))).toEqual(['tier']);
  });

  test('is of no field where another entry of the mapping writes the one without it', () => {
    expect(() => mapRecord(record, one, by('tier ', 'tier'))).toThrow(
      expect.objectContaining({ code: 'customFieldUnknown' }),
    );
  });

  test('has the policy of its entry, whichever field it is', () => {
    const policyOf = (...entries: object[]) => [
      ...policiesOf(mapping({ fields: { firstName: 'n' }, customFields: entries })).fields,
    ];
    const source = { column: 'c', key: 'tier ', policy: 'source' };
    expect(policyOf(source)).toEqual([
      ['custom.tier', 'source'],
      ['custom.tier ', 'source'],
    ]);
    expect(policyOf(source, { column: 'd', key: 'tier' })).toEqual([['custom.tier ', 'source']]);
  });
});

describe('without definitions', () => {
  test('a cell travels as text and ; separates nothing', () => {
    const row = mapRecord({ externalId: 'a', 'custom.Any Key': 'x; y' });
    expect(desiredOf(row).customFields).toEqual([{ key: 'Any Key', value: 'x; y' }]);
  });

  test('a JSON value travels as it is', () => {
    const custom = { n: 1, b: false, s: 'x', l: ['x', 'y'], gone: null };
    expect(desiredOf(mapJson({ externalId: 'a', custom })).customFields).toEqual(
      Object.entries(custom).map(([key, value]) => ({ key, value })),
    );
    expect(codesOf(mapJson({ externalId: 'a', custom: { o: { x: 1 } } }))).toEqual(['customFieldType']);
  });
});

describe('a custom field in JSON', () => {
  test('may be of its own type, or a text that fits it', () => {
    const custom = { visits: 3, vip: false, tags: ['a', 'a', ' b '], since: '2026-03-09', note: 17 };
    expect(desiredOf(mapJson({ externalId: 'a', custom }, context)).customFields).toEqual([
      { key: 'visits', value: 3 },
      { key: 'vip', value: false },
      { key: 'tags', value: ['a', 'b'] },
      { key: 'since', value: '2026-03-09T00:00:00.000Z' },
      { key: 'note', value: '17' },
    ]);
  });

  test('is cleared by null and by an empty list', () => {
    expect(desiredOf(mapJson({ externalId: 'a', custom: { visits: null, tags: [] } }, context)).customFields).toEqual([
      { key: 'visits', value: null },
      { key: 'tags', value: null },
    ]);
  });

  test('of the wrong type kills the row', () => {
    const custom = { visits: true, vip: 1.5, note: ['x'], tags: [{}], where: {} };
    expect(codesOf(mapJson({ externalId: 'a', custom }, context))).toEqual(Array(5).fill('customFieldType'));
  });

  test('given twice kills the row', () => {
    expect(codesOf(mapJson({ externalId: 'a', 'custom.note': 'x', custom: { note: 'y' } }, context))).toEqual([
      'memberTwice',
    ]);
  });
});

test('a file says whether it uses custom fields', () => {
  const uses = (columns: readonly string[] | null) => compileMapping(null, { columns }, noContext).usesCustomFields;
  expect(uses(['externalId', 'phone'])).toBe(false);
  expect(uses(['externalId', 'custom.a'])).toBe(true);
  expect(uses(null)).toBe(true);
});
