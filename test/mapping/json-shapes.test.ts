import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { codesOf, desiredOf, mapJson, mapping, noContext, objectRow, problemsOf, warningsOf } from './support.ts';

const number = '+14155550101';

describe('a flat object', () => {
  test('has the names of the generic layout', () => {
    const row = mapJson({
      external_id: 7,
      FirstName: 'Ada',
      'phone mobile': '+14155550101',
      emailWork: 'a@example.com',
    });
    expect(desiredOf(row)).toMatchObject({
      key: '7',
      scalars: { firstName: 'Ada' },
      phones: [{ slot: 'phonemobile', items: [{ label: 'mobile', value: '+14155550101' }] }],
      emails: [{ slot: 'emailwork', items: [{ label: 'work', value: 'a@example.com' }] }],
    });
  });

  test.each(['phones', 'phoneNumbers', 'phone_numbers'])(
    'may hold %s as an array of strings or of {name, value}',
    (name) => {
      const row = mapJson({
        externalId: 'a',
        [name]: ['+14155550101', { name: 'home', value: '+14155550102' }, null, '', { name: 'old', value: null }],
      });
      expect(desiredOf(row).phones).toEqual([
        {
          slot: 'phones',
          whole: true,
          items: [
            { label: 'phone', value: '+14155550101' },
            { label: 'home', value: '+14155550102' },
          ],
        },
      ]);
    },
  );

  test('clears with null and with an empty array, and keeps what is absent or blank', () => {
    expect(
      desiredOf(mapJson({ externalId: 'a', firstName: null, emails: null, phones: [], lastName: '' })),
    ).toMatchObject({
      scalars: { firstName: null },
      emails: [{ slot: 'emails', items: [] }],
      // An array says the whole list, also what columns said before.
      phones: [{ slot: 'phones', whole: true, items: [] }],
    });
    expect(desiredOf(mapJson({ externalId: 'a' }))).toMatchObject({
      scalars: {},
      emails: [],
      phones: [],
      customFields: [],
    });
  });

  test('takes numbers for text, and refuses objects, lists and truth values', () => {
    expect(
      desiredOf(mapJson({ externalId: 'a', firstName: 5, phone: 14155550101 }, { defaultCountry: 'US' })),
    ).toMatchObject({
      scalars: { firstName: '5' },
      phones: [{ items: [{ value: '+14155550101' }] }],
    });
    expect(
      codesOf(mapJson({ externalId: 'a', firstName: {}, lastName: [], role: true, email: false, source: [] })),
    ).toEqual(Array(5).fill('notText'));
  });

  test('names the item that is wrong', () => {
    const problems = problemsOf(mapJson({ externalId: 'a', phones: ['x', { value: 'y' }, [], { name: 'home' }] }));
    expect(problems.map(({ field }) => field)).toEqual(['phones[0]', 'phones[1].value', 'phones[2]', 'phones[3]']);
  });

  test.each([
    ...[{ Value: number }, { type: 'home', Number: number }, { phone: number }, { phone_number: number, id: 7 }],
    ...[
      { name: 'home', value: null, phone: number },
      { number, phone: '+14155550199' },
      { phone: number, email: null },
    ],
  ])('reads the value of an element by each name that is known for it: %j', (element) => {
    const row = mapJson({ externalId: 'a', phones: [element] });
    expect(desiredOf(row).phones[0]?.items.map(({ value }) => value)).toEqual([number]);
  });

  test('reads the label of an element by names that differ in case: a fax is left out by it', () => {
    const row = mapJson({ externalId: 'a', phones: [{ Type: 'Fax', Number: number }] });
    expect([desiredOf(row).phones[0]?.items, warningsOf(row)]).toEqual([[], ['phoneLeftOut']]);
  });

  test.each([
    ...[{ name: 'work', nr: number }, { nr: number }, { name: 'work' }, { type: 'fax', nr: number }, {}],
    ...[
      { phone: number, phoneNumber: '+14155550199' },
      { Value: number, VALUE: number },
      { name: 'work', nr: null },
    ],
  ])('is rejected where no member of an element is surely its value, rather than read as without it: %j', (element) => {
    for (const phones of [[element], [{ value: '+14155550102' }, element]]) {
      const [problem, ...others] = problemsOf(mapJson({ externalId: 'a', phones }));
      expect(others).toEqual([]);
      expect(problem).toMatchObject({ code: 'shapeWrong', field: `phones[${phones.length - 1}]` });
    }
    expect(codesOf(mapJson({ externalId: 'a', defaultFields: { phoneNumbers: [element] } }))).toEqual(['shapeWrong']);
    const drops = mapping({ phones: [{ column: 'tel', onInvalid: 'drop' }] });
    const dropped = mapJson({ id: 'a', tel: [element] }, {}, drops);
    expect(desiredOf(dropped).phones).toEqual([{ slot: 'tel', items: [], partial: true }]);
    expect(warningsOf(dropped)).toEqual(['shapeWrong']);
  });

  test('says which members an element has, which are known, and an entry of a mapping that reads them', () => {
    const [problem] = problemsOf(
      mapJson({ externalId: 'a', emails: [{ kind: true, type: 'work', mail: 'a@b.example' }] }),
    );
    expect(problem?.value).toBe('{"kind":true,"type":"work","mail":"a@b.example"}');
    expect(problem?.message).toBe(
      'which member holds the value is not clear: it has "kind", "type", "mail"; known are value, number, email, address, phone, phoneNumber, emailAddress',
    );
    expect(problem?.hint).toBe(
      'Call the member "value", or name it in a mapping: emails: [{ column: "emails[].mail", label: { column: "emails[].type" } }]',
    );
  });

  test('names an entry for each name that the values of a list have, and these read it', () => {
    const record = { id: 'a', externalId: 'a', tel: [{ type: 'work', nr: number }, { value: '+14155550102' }] };
    const [problem] = problemsOf(mapJson(record, {}, mapping({ phones: [{ column: 'tel' }] })));
    expect(problem?.hint).toContain(
      'phones: [{ column: "tel[].nr", label: { column: "tel[].type" } }, { column: "tel[].value" }]',
    );
    const advised = mapping({
      phones: [{ column: 'tel[].nr', label: { column: 'tel[].type' } }, { column: 'tel[].value' }],
    });
    expect(desiredOf(mapJson(record, {}, advised)).phones.flatMap(({ items }) => items)).toHaveLength(2);
    const texts = mapJson({ externalId: 'a', phones: [{ nr: number }, '+14155550102'] });
    expect(problemsOf(texts)[0]?.hint).toBe('Write the value under the name "value", or leave the element out.');
  });

  test('that says one thing twice is dead', () => {
    expect(codesOf(mapJson({ externalId: 'a', phones: [], phoneNumbers: [] }))).toEqual(['memberTwice']);
  });

  test('may hold custom fields as custom.<key>, as an object, or as a list', () => {
    const object = {
      externalId: 'a',
      'custom.x': 1,
      custom: { y: 2 },
      customFields: [{ key: 'z', value: 3 }, { key: 'w' }],
    };
    expect(desiredOf(mapJson(object)).customFields).toEqual([
      { key: 'x', value: 1 },
      { key: 'y', value: 2 },
      { key: 'z', value: 3 },
    ]);
    expect(codesOf(mapJson({ externalId: 'a', custom: [], customFields: {} }))).toEqual(['shapeWrong', 'shapeWrong']);
  });

  test('with a hundred items is read, with more it is dead', () => {
    const emails = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.com`);
    expect(desiredOf(mapJson({ externalId: 'a', emails: emails(100) })).emails[0]?.items).toHaveLength(100);
    expect(codesOf(mapJson({ externalId: 'a', emails: emails(101) }))).toEqual(['tooManyItems']);
  });
});

describe('hostile member names', () => {
  test('are unknown members, listed, and pollute nothing', () => {
    const compiled = compileMapping(null, { columns: null }, noContext);
    const row = objectRow('{"externalId":"a","__proto__":{"polluted":1},"constructor":1,"toString":2}');
    // The builder of the test drops __proto__; the source's own object keeps it.
    const object = Object.create(null);
    for (const [name, value] of Object.entries(row.object)) object[name] = value;
    Object.defineProperty(object, '__proto__', { value: { polluted: 1 }, enumerable: true });
    expect(desiredOf(compiled.mapRow({ ...row, object })).key).toBe('a');
    expect([...compiled.unmappedColumns].sort()).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  test('are keys of custom fields like any other', () => {
    const row = mapJson('{"externalId":"a","custom":{"__proto__":"x","constructor":"y"}}');
    expect(desiredOf(row).customFields).toEqual([
      { key: '__proto__', value: 'x' },
      { key: 'constructor', value: 'y' },
    ]);
  });
});

describe("the interface's own contact shape", () => {
  const exported = {
    id: '65f000000000000000000001',
    externalId: 'demo-1',
    source: null,
    sourceUrl: 'https://crm.example.com/1',
    defaultFields: {
      firstName: 'Ada',
      lastName: null,
      company: 'Northwind',
      emails: [{ id: 'e1', name: 'work', value: 'ada@example.com' }],
      phoneNumbers: [
        { id: 'p1', name: 'mobile', value: '+14155550101' },
        { id: 'p2', name: 'old', value: null },
      ],
    },
    customFields: [{ id: 'c1', key: 'tags', name: 'Tags', type: 'multi-select', value: ['a', 'b'] }],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    createdByUserId: 'USabc',
  };

  test('goes back in: null clears, absent keeps, an item without value is left out', () => {
    expect(desiredOf(mapJson(exported))).toEqual({
      key: 'demo-1',
      scalars: { sourceUrl: 'https://crm.example.com/1', firstName: 'Ada', lastName: null, company: 'Northwind' },
      source: null,
      emails: [{ slot: 'emails', whole: true, items: [{ label: 'work', value: 'ada@example.com' }] }],
      phones: [{ slot: 'phones', whole: true, items: [{ label: 'mobile', value: '+14155550101' }] }],
      customFields: [{ key: 'tags', value: ['a', 'b'] }],
    });
  });

  test.each(['csv-v2', 'other', 'OpenPhone', ' device '])(
    'goes back in with the source %j, which the service wrote',
    (source) => {
      const row = mapJson({ ...exported, source }, { sourceLabel: 'crm' });
      expect([desiredOf(row).source, warningsOf(row)]).toEqual(['crm', ['sourceLeftOut']]);
      expect(codesOf(mapJson({ externalId: 'a', firstName: 'Ada', source }))).toEqual(['sourceRefused']);
    },
  );

  test('ignores silently what only the service writes, and lists the rest', () => {
    const compiled = compileMapping(null, { columns: null }, noContext);
    compiled.mapRow(objectRow(exported));
    expect(compiled.unmappedColumns).toEqual([]);
    compiled.mapRow(objectRow({ ...exported, firstName: 'x', defaultFields: { nickname: 'y' } }));
    expect(compiled.unmappedColumns).toEqual(['firstName', 'defaultFields.nickname']);
  });

  test('names the member that is wrong', () => {
    const row = mapJson({
      externalId: 'a',
      defaultFields: { phoneNumbers: [{ value: '12' }] },
      customFields: [{ value: 1 }],
    });
    expect(problemsOf(row).map(({ field }) => field)).toEqual([
      'customFields[0]',
      'defaultFields.phoneNumbers[0].value',
    ]);
    expect(codesOf(mapJson({ externalId: null, defaultFields: null }))).toEqual(['shapeWrong', 'keyMissing']);
  });
});

describe('JSON by a mapping', () => {
  const by = mapping({ fields: { firstName: 'First Name' }, phones: [{ column: 'Mobile', label: 'mobile' }] });

  test('reads members by the names of the columns; absent keeps, null clears, arrays are one slot', () => {
    expect(desiredOf(mapJson({ id: 1, first_name: null, Mobile: ['+14155550101'] }, {}, by))).toMatchObject({
      key: '1',
      scalars: { firstName: null },
      phones: [{ slot: 'mobile', items: [{ label: 'mobile', value: '+14155550101' }] }],
    });
    expect(desiredOf(mapJson({ id: 1 }, {}, by))).toMatchObject({ scalars: {}, phones: [] });
  });

  test('without its key is dead', () => {
    expect(problemsOf(mapJson({ x: 1 }, {}, by))).toMatchObject([{ code: 'keyMissing', field: 'id', value: null }]);
  });
});
