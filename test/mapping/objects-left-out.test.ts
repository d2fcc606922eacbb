/** Members of JSON that are objects or lists of objects: which of them hold contact data that nothing maps, and which are wrapped values. */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { columnUses } from '#src/mapping/show/explain-row.ts';
import { jsonFacts, propose, six, tableFacts } from './propose/support/proposals.ts';
import { codesOf, desiredOf, mapJson, mapping, mapRecord, noContext, objectRow } from './support.ts';

function leftOut(record: object): readonly (readonly string[])[] {
  const compiled = compileMapping(mapping({ fields: { company: 'company' } }), { columns: null }, noContext);
  compiled.see(objectRow({ id: '7', company: 'Nordlicht GmbH', ...record }));
  return compiled.leftOut.map(({ column, line }) => [column, line]);
}

describe('a member that nothing maps', () => {
  test.each<[string, object, string]>([
    ['phone', { phone: { cc: '49', nsn: '30901801' } }, 'phones: [{ column: "phone.…", label: phone }]'],
    ['phone', { phone: { $numberLong: '4930901801' } }, 'phones: [{ column: "phone", label: phone }]'],
    ['mobile', { mobile: { nr: 4_930_901_801 } }, 'phones: [{ column: "mobile.nr", label: mobile }]'],
    [
      'phones',
      { phones: [{ cc: '49', area: '30', local: '901803' }] },
      'phones: [{ column: "phones[].…", label: phone }]',
    ],
    ['phones', { phones: [{ kind: 'work', number: '+4930901801' }] }, 'phones: [{ column: "phones", label: phone }]'],
    ['phones', { phones: [{ art: 'x', nr: '+4930901801' }] }, 'phones: [{ column: "phones[].nr", label: phone }]'],
    ['phone', { phone: { id: 12345678, number: '030 901820' } }, 'phones: [{ column: "phone.number", label: phone }]'],
    [
      'phone',
      { phone: { checkedAt: 1_710_000_000, us: '+14155550101' } },
      'phones: [{ column: "phone.us", label: phone }]',
    ],
    ['phone', { phone: { countryCode: 49, number: '30901801' } }, 'phones: [{ column: "phone.…", label: phone }]'],
    ['phone', { phone: { prefix: '030', line: '901820' } }, 'phones: [{ column: "phone.…", label: phone }]'],
    ['mobile', { mobile: { e164: '+4917112345678' } }, 'phones: [{ column: "mobile.e164", label: mobile }]'],
    [
      'emails',
      { emails: [{ from: 'news@shop.example', mail: 'ada@example.com' }] },
      'emails: [{ column: "emails[].mail", label: email }]',
    ],
    ['email', { email: { primary: 'ada@example.com' } }, 'emails: [{ column: "email.primary", label: email }]'],
    ['name', { name: { first: 'Ada', last: 'Lee' } }, 'fields: { firstName: "name.…" }'],
  ])('%s holds contact data in %j', (name, record, line) => {
    expect(leftOut(record)).toEqual([[name, line]]);
  });

  test.each([
    { phone: { verified: true, count: 3 } },
    { phone: { checked: '2026-03-09', by: 'web' } },
    { phones: [] },
    { phones: [{ count: 2 }] },
    { email: { verified: true, bounces: 3 } },
    { emails: [{ opened: 4 }] },
    { last: { at: '2026-03-09T14:30:00Z', event: 'login' } },
    { phone: { checkedAt: 1_710_000_000 } },
    { phone: { id: 12_345_678, verified: true } },
    { phone: { imei: 359_881_234_567_890, serial: '0012345678' } },
    { mobile: { os: 'ios', deviceId: 88_120_034 } },
    { cell: { row: 12_345_678 } },
    { cell: { row: 1_234_567, col: 12 } },
    { phone: { seen: '09.03.2026' } },
    { phone: { plan: '2026/03/09' } },
    { phone: { code: '123456', primary: 1 } },
    { phone: { code: '123456', sentAt: 1_710_000_000 } },
    { phones: Array.from({ length: 9 }, (_, index) => ({ rank: index + 1 })) },
    { phones: [{ area: '30' }, { area: '40' }, { area: '89' }, { area: '30' }] },
    { email: { sender: 'news@shop.example' } },
    { email: { verifiedBy: 'it@shop.example', template: 'news@shop.example' } },
    { emails: [{ from: 'news@shop.example' }, { from: 'it@shop.example' }] },
    { last: { name: 'Order 5' } },
    { first: { value: 'visit' } },
    { address: { street: 'Hauptstr. 1', number: '4930901801' } },
  ])('%j holds none', (record) => {
    expect(leftOut(record)).toEqual([]);
  });
});

describe('a value that MongoDB wraps', () => {
  const number = '4930901801';

  test('is what it holds, by its name and by its path', () => {
    const record = { externalId: { $oid: 'a1' }, Telefon: { $numberLong: number }, company: { $numberInt: '7' } };
    const expected = { key: 'a1', scalars: { company: '7' }, phones: [{ items: [{ value: `+${number}` }] }] };
    expect(desiredOf(mapJson(record, { defaultCountry: 'DE' }))).toMatchObject(expected);
    const by = mapping({ key: '_id.$oid', phones: [{ column: 'phone.$numberLong' }] });
    const byPath = mapJson({ _id: { $oid: 'a1' }, phone: { $numberLong: number } }, { defaultCountry: 'DE' }, by);
    expect(desiredOf(byPath)).toMatchObject({ key: 'a1', phones: expected.phones });
  });

  test('is the column of a mapping that names its path: its key is kept, and its use is shown', () => {
    const facts = jsonFacts([{ _id: { $oid: 'a1' }, phone: { $numberLong: number } }]);
    expect(facts.columns.map(({ name }) => name)).toEqual(['_id', 'phone']);
    const by = mapping({ key: '_id.$oid', phones: [{ column: 'phone.$numberLong', label: 'phone' }] });
    expect(columnUses(by, ['_id', 'phone'])).toEqual([['key'], ['phone']]);
    expect(propose(facts, { before: by }).mapping.key).toBe('_id.$oid');
  });

  test.each([
    [
      'a column of a table',
      tableFacts(
        ['_id.$oid', 'E-Mail'],
        six((n) => [`a${n}`, `p${n}@example.com`]),
      ),
    ],
    ['a member of that name', jsonFacts([{ '_id.$oid': 'a1', email: 'ada@example.com' }])],
    ['a member beside others', jsonFacts([{ _id: { $oid: 'a1', from: 'x' }, email: 'ada@example.com' }])],
  ])('is no matter of a key whose path is %s as it is written', (_, facts) => {
    const [name = ''] = facts.columns.map((column) => column.name);
    expect(name).toBe('_id.$oid');
    for (const key of ['_id.$oid', '_ID.$oid']) {
      const by = mapping({ key, fields: { company: 'Firma' } });
      expect(columnUses(by, [name])).toEqual([['key']]);
      expect(propose(facts, { before: by }).mapping.key).toBe(key);
    }
  });

  test('may be the value of an element, and of a custom field', () => {
    const customFields = [
      { key: 'since', type: 'date' },
      { key: 'visits', type: 'number' },
    ];
    const record = {
      ...{ externalId: 'a', phones: [{ type: 'work', number: { $numberLong: number } }] },
      custom: { since: { $date: { $numberLong: '1773066600000' } }, visits: { $numberLong: '12' } },
    };
    expect(desiredOf(mapJson(record, { defaultCountry: 'DE', customFields }))).toMatchObject({
      phones: [{ items: [{ label: 'work', value: `+${number}` }] }],
      customFields: [
        { key: 'since', value: '2026-03-09T14:30:00.000Z' },
        { key: 'visits', value: 12 },
      ],
    });
  });

  test('may be an element of a list, also of one in a cell', () => {
    const phones = [{ $numberLong: number }, { $numberInt: '4930901802' }];
    const expected = [{ items: [{ value: `+${number}` }, { value: '+4930901802' }] }];
    const context = { defaultCountry: 'DE' } as const;
    expect(desiredOf(mapJson({ externalId: 'a', phones }, context)).phones).toMatchObject(expected);
    const cell = mapRecord({ externalId: 'a', phones: JSON.stringify(phones) }, context);
    expect(desiredOf(cell).phones).toMatchObject(expected);
  });

  test('that is an id is text in keys, custom fields and links alone: elsewhere it is the id of another document', () => {
    const id = { $oid: '507f1f77bcf86cd799439011' };
    const flat = { externalId: id, firstName: 'Ada', organization: id, custom: { ref: id } };
    const phones = [{ type: id, number: `+${number}` }];
    expect(desiredOf(mapJson({ ...flat, phones }))).toMatchObject({
      ...{ key: id.$oid, customFields: [{ key: 'ref', value: id.$oid }] },
      ...{ scalars: { firstName: 'Ada' }, phones: [{ items: [{ label: 'phone' }] }] },
    });
    expect(codesOf(mapJson({ ...flat, company: id, phone: id }))).toEqual(['notText', 'notText']);
    const by = mapping({
      key: { template: 'm-{_id}', transform: ['lowerCase'] },
      fields: { sourceUrl: { template: 'https://crm.example.com/{_id}' } },
      phones: [{ column: 'phone', label: { column: 'type' }, country: { column: 'country' } }],
    });
    const record = { _id: id, phone: `0${number.slice(2)}`, type: id, country: id };
    expect(desiredOf(mapJson(record, { defaultCountry: 'DE' }, by))).toMatchObject({
      ...{ key: `m-${id.$oid}`, scalars: { sourceUrl: `https://crm.example.com/${id.$oid}` } },
      phones: [{ items: [{ label: 'phone', value: `+${number}` }] }],
    });
    expect(leftOut({ organization: id })).toEqual([]);
  });

  test('that is an id is proposed as the key alone', () => {
    const id = (n: number) => ({ $oid: `507f1f77bcf86cd79943901${n}` });
    const record = (n: number) => ({
      organization: id(n),
      name: id(n),
      position: id(n),
      phones: [{ type: id(n), number: `+4930901801${n}` }],
    });
    const facts = jsonFacts([0, 1, 2, 3, 4, 5].map((n) => ({ _id: id(n), ...record(5 - n) })));
    const { mapping: made } = propose(facts);
    expect([made.key, made.fields]).toEqual(['_id', {}]);
  });

  test.each([{ $numberLong: '1', more: 2 }, { $other: 'x' }, { $numberLong: null }])('%j is an object', (company) => {
    expect(codesOf(mapJson({ externalId: 'a', company }))).toEqual(['notText']);
  });
});
