import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { memberFinder } from '#src/mapping/json-path.ts';
import { codesOf, desiredOf, mapJson, mapping, noContext, objectRow, problemsOf, warningsOf } from './support.ts';

const find = (path: string, object: object) => memberFinder(path)(objectRow(object).object).raw;

describe('a path', () => {
  test('leads into nested objects, whatever the case of its names', () => {
    expect(find('properties.email', { properties: { email: 'a' } })).toBe('a');
    expect(find('Account.Name', { account: { name: 'ACME' } })).toBe('ACME');
    expect(find('a.b.c', { a: { b: { c: 1 } } })).toBe(1);
  });

  test('leads to an element of a list, or to all of them', () => {
    const object = { emails: [{ value: 'a' }, { value: 'b' }, {}] };
    expect(find('emails[0].value', object)).toBe('a');
    expect(find('emails[9].value', object)).toBeUndefined();
    expect(find('emails[].value', object)).toEqual(['a', 'b']);
    expect(find('a[0][1]', { a: [[1, 2]] })).toBe(2);
    expect(find('a[].b[].c', { a: [{ b: [{ c: 1 }] }, { b: [{ c: 2 }, { c: 3 }] }] })).toEqual([1, 2, 3]);
  });

  test('into a list of lists leads to an empty list where the inner ones are empty or null, and nowhere where no element has the member', () => {
    const inner = (...phones: readonly unknown[]) => ({ people: phones.map((one) => ({ phones: one })) });
    const nulls = [inner(null), inner(null, []), inner(null, undefined), { people: null }];
    for (const object of [inner([]), ...nulls, { people: [] }, { people: [null] }]) {
      expect(find('people[].phones[].nr', object)).toEqual([]);
    }
    for (const object of [inner([{ number: 'a' }]), { people: [{}] }, { people: ['a'] }]) {
      expect(find('people[].phones[].nr', object)).toBeUndefined();
    }
  });

  test('of a member whose own name has the dot or brackets leads to that member', () => {
    expect(find('a.b', { 'a.b': 1, a: { b: 2 } })).toBe(1);
    expect(find('x.a.b', { x: { 'a.b': 1, a: { b: 2 } } })).toBe(1);
    expect(find('a[0]', { 'a[0]': 1, a: [2] })).toBe(1);
    expect(find('a.b', { 'a.c': 1, a: { b: 2 } })).toBe(2);
  });

  test('leads nowhere where a step is missing or is no object', () => {
    for (const object of [{}, { a: null }, { a: 'text' }, { a: [1] }, { a: {} }]) {
      expect(find('a.b', object)).toBeUndefined();
    }
  });

  test('meets no inherited member', () => {
    expect(find('constructor.name', {})).toBeUndefined();
    expect(find('__proto__.x', {})).toBeUndefined();
  });

  test('of two members that are equally similar is refused for its row', () => {
    const by = mapping({ fields: { company: 'p.Firm Name' } });
    expect(codesOf(mapJson({ id: '7', p: { firm_name: 'a', 'firm-name': 'b' } }, {}, by))).toEqual(['memberTwice']);
  });

  test('a member that has exactly the name in the mapping wins: its namesakes are unmapped, and may be contact data', () => {
    const by = mapping({ emails: [{ column: 'email' }], fields: { company: 'firm.name' } });
    const compiled = compileMapping(by, { columns: null }, noContext);
    const row = objectRow({
      ...{ id: '7', email: 'a@example.com', Email: 'b@example.com', 'e-mail': 'c@example.com' },
      firm: { name: 'A', Name: 'B' },
    });
    compiled.see(row);
    expect(desiredOf(compiled.mapRow(row)).emails[0]?.items).toHaveLength(1);
    expect(compiled.unmappedColumns).toEqual(['Email', 'e-mail', 'firm.Name']);
    expect(compiled.leftOut.map(({ column }) => column)).toEqual(['Email', 'e-mail']);
    const other = compileMapping(by, { columns: null }, noContext);
    const cased = objectRow({ id: '7', Email: 'b@example.com', firm: { Name: 'B' } });
    other.see(cased);
    other.mapRow(cased);
    expect([other.unmappedColumns, other.leftOut]).toEqual([[], []]);
  });
});

describe('a path into each element of a list', () => {
  const phones = (...kinds: readonly (readonly [kind: string, nr: string | null])[]) => ({
    id: 7,
    contact: { phones: kinds.map(([kind, nr]) => ({ kind, nr })) },
  });
  const column = 'contact.phones[].nr';
  const [first, second, third] = ['+14155550101', '+14155550102', '+14155550103'] as const;
  const itemsOf = (row: ReturnType<typeof mapJson>) =>
    desiredOf(row).phones[0]?.items.map((one) => [one.label, one.value]);

  test('takes the label of each, and leaves a fax out by it', () => {
    const values = { Handy: 'mobile' };
    const by = mapping({ phones: [{ column, label: { column: 'Contact.phones[].kind', values, default: 'work' } }] });
    const row = mapJson(phones(['fax', first], ['Handy', second], ['', third]), {}, by);
    expect(itemsOf(row)).toEqual([
      ['mobile', second],
      ['work', third],
    ]);
    expect(row.warnings).toMatchObject([{ code: 'phoneLeftOut', field: 'contact.phones[0].nr', value: first }]);
  });

  test('takes the country and the condition of each', () => {
    const by = mapping({
      phones: [{ column: 'p[].nr', country: { column: 'p[].c' }, skip: { column: 'p[].k', equals: 'old' } }],
    });
    const list = [{ nr: '030 901820', c: 'DE' }, { nr: '020 7946 0958', c: 'GB' }, { k: 'old', nr: 'x' }, { k: 'old' }];
    expect(itemsOf(mapJson({ id: 7, p: list }, {}, by))?.map(([, value]) => value)).toEqual([
      '+4930901820',
      '+442079460958',
    ]);
  });

  test('leads into lists in lists, and goes through transforms and separators', () => {
    const by = mapping({
      phones: [
        { column: 'a[].b[].nr', label: { column: 'a[].k' }, transform: [{ withoutPrefix: 'p:' }], separator: '~' },
      ],
    });
    const a = [
      { k: 'x', b: [{ nr: `p:${first}~${second}` }, null] },
      { k: 'y', b: [{ nr: third }] },
    ];
    expect(itemsOf(mapJson({ id: 7, a }, {}, by))).toEqual([
      ['x', first],
      ['x', second],
      ['y', third],
    ]);
  });

  test('rejects the row of an element without the member, rather than read it as without a value', () => {
    const by = mapping({ phones: [{ column }] });
    const lacking = { id: 7, contact: { phones: [{ nr: first }, { number: second }] } };
    expect(problemsOf(mapJson(lacking, {}, by))).toMatchObject([
      {
        ...{ code: 'shapeWrong', field: 'contact.phones[1]', value: `{"number":"${second}"}` },
        message: 'the element has no member "nr"; it has "number"',
      },
    ]);
    expect(codesOf(mapJson({ id: 7, contact: { phones: [first] } }, {}, by))).toEqual(['shapeWrong']);
    const drops = mapping({ phones: [{ column, onInvalid: 'drop' }] });
    expect(desiredOf(mapJson(lacking, {}, drops)).phones).toMatchObject([{ items: [{ value: first }], partial: true }]);
  });

  test('says that nothing is there where the list is empty or holds null, and nothing where it is absent', () => {
    const by = mapping({ phones: [{ column }] });
    expect(itemsOf(mapJson(phones(), {}, by))).toEqual([]);
    expect(itemsOf(mapJson(phones(['work', null], ['work', '']), {}, by))).toEqual([]);
    expect(itemsOf(mapJson({ id: 7, contact: { phones: [null] } }, {}, by))).toEqual([]);
    expect(itemsOf(mapJson({ id: 7, contact: { phones: null } }, {}, by))).toEqual([]);
    for (const contact of [{}, null]) expect(desiredOf(mapJson({ id: 7, contact }, {}, by)).phones).toEqual([]);
  });

  test('reads a hundred values, however many elements have none', () => {
    const by = mapping({ phones: [{ column }] });
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ nr: `+1415555${1000 + index}`, kind: 'work' }));
    const others = Array.from({ length: 150 }, () => ({ firstName: 'Bob' }));
    const read = (count: number) => mapJson({ id: 7, contact: { phones: [...others, ...many(count)] } }, {}, by);
    expect(itemsOf(read(100))).toHaveLength(100);
    expect(problemsOf(read(101))).toMatchObject([
      { code: 'tooManyItems', field: column, message: 'the list has more than 100 values' },
    ]);
  });

  test('names the element whose value cannot be read', () => {
    const row = mapJson(phones(['work', first], ['home', 'call me']), {}, mapping({ phones: [{ column }] }));
    expect(problemsOf(row)).toMatchObject([{ code: 'phoneLetters', field: 'contact.phones[1].nr', value: 'call me' }]);
  });

  test('of a label warns where the value is read from no such elements', () => {
    const by = mapping({ phones: [{ column: 'tel', label: { column: 'contact.phones[].kind' } }] });
    const row = mapJson({ ...phones(['fax', first]), tel: second }, {}, by);
    expect([itemsOf(row), warningsOf(row)]).toEqual([[['phone', second]], ['labelIsList']]);
  });

  test('of a label warns where an element of the list has none of its own', () => {
    const by = mapping({ phones: [{ column: 'phones', label: { column: 'phones[].type', default: 'work' } }] });
    const read = (...list: readonly unknown[]) => mapJson({ id: 7, phones: list }, {}, by);
    const labelled = read({ number: first, type: 'mobile' }, { number: second, type: 'work' }, { number: null }, null);
    expect(itemsOf(labelled)).toEqual([
      ['mobile', first],
      ['work', second],
    ]);
    expect(warningsOf(labelled)).toEqual([]);
    for (const other of [{ number: second }, { number: second, type: ' ' }, second]) {
      const row = read({ number: first, type: 'mobile' }, other);
      expect([itemsOf(row)?.[1], warningsOf(row)]).toEqual([['work', second], ['labelIsList']]);
    }
    const apart = mapping({ phones: [{ column: 'tel', label: { column: 'kinds[].type' } }] });
    expect(warningsOf(mapJson({ id: 7, tel: first, kinds: [] }, {}, apart))).toEqual([]);
  });

  test('says that nothing is there where the lists in a list are empty', () => {
    const by = mapping({
      phones: [{ column: 'people[].phones[].nr' }],
      customFields: [{ column: 'people[].roles[].name', key: 'roles' }],
    });
    const compiled = compileMapping(by, { columns: null }, noContext);
    const row = objectRow({ id: 7, people: [{ phones: [], roles: [] }] });
    compiled.see(row);
    expect(desiredOf(compiled.mapRow(row))).toMatchObject({
      phones: [{ slot: 'people[].phones[].nr', items: [] }],
      customFields: [{ key: 'roles', value: null }],
    });
    expect(() => compiled.refuseLacking()).not.toThrow();
  });

  test.each<[object[], (readonly [string, string])[]]>([
    [[{ phones: [{ nr: first }] }, { phones: null }, {}, { phones: [] }], [['phone', first]]],
    [[{ phones: [null] }, {}], []],
    [[{ phones: [] }, { phones: null }], []],
  ])('reads no values of an element whose own list is null, absent or empty: %j', (people, items) => {
    for (const column of ['people[].phones[].nr', 'Data.people[].phones[].nr']) {
      const record = column.startsWith('Data') ? { data: { people } } : { people };
      expect(itemsOf(mapJson({ id: 7, ...record }, {}, mapping({ phones: [{ column }] })))).toEqual(items);
    }
    const deep = mapping({ phones: [{ column: 'groups[].people[].phones[].nr' }] });
    expect(itemsOf(mapJson({ id: 7, groups: [{ people }, {}] }, {}, deep))).toEqual(items);
  });

  test('says nothing where no element has the list, and that nothing is there where one has null in its place', () => {
    const by = mapping({ phones: [{ column: 'people[].phones[].nr' }] });
    const said = (...people: readonly object[]) => desiredOf(mapJson({ id: 7, people }, {}, by)).phones;
    expect(said({})).toEqual([]);
    expect(said({ name: 'x' }, {})).toEqual([]);
    const renamed = mapJson({ id: 7, people: [{ telephones: [{ nr: first }] }] }, {}, by);
    expect(codesOf(renamed)).toEqual(['shapeWrong']);
    for (const people of [[{ phones: null }], [{}, { phones: null }]])
      expect(said(...people)).toEqual([{ slot: 'people[].phones[].nr', items: [] }]);
  });

  test('leaves an element out that lacks the member where another entry reads its value, or the entry is optional', () => {
    const people = [{ mobile: first }, { landline: second }];
    const pair = mapping({ phones: [{ column: 'people[].mobile', label: 'mobile' }, { column: 'people[].landline' }] });
    expect(desiredOf(mapJson({ id: 7, people }, {}, pair)).phones.map(({ items }) => items)).toEqual([
      [{ label: 'mobile', value: first }],
      [{ label: 'phone', value: second }],
    ]);
    const mails = mapping({ phones: [{ column: 'people[].mobile' }], emails: [{ column: 'people[].mail' }] });
    const mixed = [{ mobile: first }, { mail: 'a7312@example.com' }];
    expect(itemsOf(mapJson({ id: 7, people: mixed }, {}, mails))).toEqual([['phone', first]]);
    const alone = (optional: boolean) => mapping({ phones: [{ column: 'people[].mobile', optional }] });
    expect(itemsOf(mapJson({ id: 7, people }, {}, alone(true)))).toEqual([['phone', first]]);
    expect(desiredOf(mapJson({ id: 7, people: [{ landline: second }] }, {}, alone(true))).phones).toEqual([]);
    expect(problemsOf(mapJson({ id: 7, people }, {}, alone(false)))).toMatchObject([
      { code: 'shapeWrong', field: 'people[1]', hint: expect.stringContaining('write optional: true in its entry') },
    ]);
    const other = mapping({ phones: [{ column: 'people[].mobile' }, { column: 'tel' }] });
    expect(codesOf(mapJson({ id: 7, people, tel: third }, {}, other))).toEqual(['shapeWrong']);
    const label = mapping({ phones: [{ column: 'people[].mobile', label: { column: 'people[].landline' } }] });
    expect(codesOf(mapJson({ id: 7, people }, {}, label))).toEqual(['shapeWrong']);
  });

  test('says what is wrong with an element of another form than the path', () => {
    const messageOf = (column: string, element: unknown) =>
      problemsOf(mapJson({ id: 7, people: [element] }, {}, mapping({ phones: [{ column }] }))).map(
        ({ message }) => message,
      );
    const noObject = 'the element is no object, and the path in the mapping names a member of it';
    expect(messageOf('people[].nr', first)).toEqual([noObject]);
    expect(messageOf('people[].phones[].nr', first)).toEqual([noObject]);
    expect(messageOf('people[].phones[].nr', { phones: { nr: first } })).toEqual([
      'its member "phones" has another form than the path in the mapping',
    ]);
    expect(messageOf('people[].contact.nr', { contact: first })).toEqual([
      'its member "contact" has another form than the path in the mapping',
    ]);
    expect(messageOf('people[].contact.nr', { contact: { tel: first } })).toEqual([
      'the element has no member "contact.nr"; it has "contact"',
    ]);
  });

  test('to no custom field takes a value away where no element has the member', () => {
    const by = mapping({ customFields: [{ column: 'tags[].label', key: 'tags' }] });
    expect(desiredOf(mapJson({ id: 7, tags: [{ name: 'a' }] }, {}, by)).customFields).toEqual([]);
    expect(desiredOf(mapJson({ id: 7, tags: [{ label: 'a' }] }, {}, by)).customFields).toEqual([
      { key: 'tags', value: ['a'] },
    ]);
  });
});

describe('the JSON of an API', () => {
  test('HubSpot: properties', () => {
    const by = mapping({
      key: 'id',
      fields: { firstName: 'properties.firstname' },
      emails: [{ column: 'properties.email', label: 'work' }],
    });
    const record = {
      id: '251',
      properties: { firstname: 'Ada', email: 'ada@example.com', hs_lead: 'x' },
      archived: false,
    };
    const compiled = compileMapping(by, { columns: null }, noContext);
    expect(desiredOf(compiled.mapRow(objectRow(record)))).toMatchObject({
      key: '251',
      scalars: { firstName: 'Ada' },
      emails: [{ slot: 'properties.email', items: [{ label: 'work', value: 'ada@example.com' }] }],
    });
    expect(compiled.unmappedColumns).toEqual(['properties.hs_lead', 'archived']);
  });

  test('Pipedrive: lists of objects, with the label and the value by their usual names', () => {
    const by = mapping({
      fields: { company: 'org.name' },
      phones: [{ column: 'phone' }],
      emails: [{ column: 'email' }],
    });
    const record = {
      ...{ id: 7, org: { name: 'ACME' } },
      phone: [
        { label: 'mobile', value: '+14155550101', primary: true },
        { type: 'work', number: '+14155550102' },
      ],
      email: [{ label: 'work', email: 'ada@example.com' }],
    };
    expect(desiredOf(mapJson(record, {}, by))).toMatchObject({
      phones: [
        {
          slot: 'phone',
          items: [
            { label: 'mobile', value: '+14155550101' },
            { label: 'work', value: '+14155550102' },
          ],
        },
      ],
      emails: [{ slot: 'email', items: [{ label: 'work', value: 'ada@example.com' }] }],
    });
  });

  test('a list of texts has the label of the mapping; transforms go through each', () => {
    const by = mapping({ emails: [{ column: 'emails[].value', label: 'work', transform: ['lowerCase'] }] });
    const record = { id: 7, emails: [{ value: 'ADA@EXAMPLE.COM' }, { value: 'B@example.com' }] };
    expect(desiredOf(mapJson(record, {}, by)).emails[0]?.items).toEqual([
      { label: 'work', value: 'ada@example.com' },
      { label: 'work', value: 'b@example.com' },
    ]);
  });

  test('transforms go through the values of objects, which keep their labels', () => {
    const by = mapping({ phones: [{ column: 'tel', transform: [{ withoutPrefix: 'p:' }] }] });
    const record = { id: 7, tel: [{ type: 'home', number: 'p:+14155550101' }] };
    expect(desiredOf(mapJson(record, {}, by)).phones[0]?.items).toEqual([{ label: 'home', value: '+14155550101' }]);
  });

  test('part picks an element of a list, join puts its elements together', () => {
    const by = mapping({ fields: { company: { column: 'names', part: -1 }, role: { join: ['names'], with: ', ' } } });
    expect(desiredOf(mapJson({ id: 7, names: ['a', 'b'] }, {}, by)).scalars).toEqual({ company: 'b', role: 'a b' });
  });

  test('a pattern picks members, also nested ones', () => {
    const by = mapping({ phones: [{ column: 'properties.phone_{label}' }] });
    const record = { id: 7, properties: { phone_work: '+14155550101', phone_home: '+14155550102' } };
    expect(desiredOf(mapJson(record, {}, by)).phones).toEqual([
      { slot: 'properties.phonework', items: [{ label: 'work', value: '+14155550101' }] },
      { slot: 'properties.phonehome', items: [{ label: 'home', value: '+14155550102' }] },
    ]);
  });

  test('an absent member says nothing, null clears', () => {
    const by = mapping({ fields: { company: 'a.b', role: { firstOf: ['x', 'y'] } } });
    expect(desiredOf(mapJson({ id: 7 }, {}, by)).scalars).toEqual({});
    expect(desiredOf(mapJson({ id: 7, a: { b: null }, x: null }, {}, by)).scalars).toEqual({
      company: null,
      role: null,
    });
    expect(desiredOf(mapJson({ id: 7, x: null, y: 'z' }, {}, by)).scalars).toEqual({ role: 'z' });
  });

  test('a table of values reads true and false', () => {
    const by = mapping({ fields: { role: { column: 'vip', transform: [{ values: { true: 'VIP', false: '' } }] } } });
    expect(desiredOf(mapJson({ id: 7, vip: true }, {}, by)).scalars).toEqual({ role: 'VIP' });
    expect(desiredOf(mapJson({ id: 7, vip: false }, {}, by)).scalars).toEqual({});
  });

  test('of each required value some record has a member: one of firstOf, each of a template', () => {
    const lacking = (input: object, record: object): string => {
      const compiled = compileMapping(mapping(input), { columns: null }, noContext);
      compiled.see(objectRow(record));
      try {
        compiled.refuseLacking();
      } catch (error) {
        return String(error);
      }
      return '';
    };
    const record = { id: 7, a: { b: 'x' }, phone1: '+14155550101' };
    expect(lacking({ fields: { company: { firstOf: ['z', 'a.b'] } } }, record)).toBe('');
    expect(lacking({ fields: { company: { template: '{z} {a.b}' } } }, record)).toContain('has the member "z"; found:');
    expect(lacking({ phones: [{ column: 'phone{n}' }] }, record)).toBe('');
    expect(lacking({ phones: [{ column: 'tel{n}' }] }, record)).toContain('"tel{n}"');
    const list = { phones: [{ column: 'people[].phones[].nr' }] };
    for (const people of [[], [{}], [{ phones: null }], [{ phones: [{ type: 'x' }] }], null])
      expect(lacking(list, { id: 7, people })).toBe('');
    for (const people of [{}, 'x', undefined])
      expect(lacking(list, { id: 7, people })).toContain('people[].phones[].nr');
    const ofPeople = { id: 7, people: [{ first: 'Ada' }] };
    expect(lacking({ fields: { firstName: 'people[].givenName' } }, ofPeople)).toContain('people[].givenName');
    expect(lacking({ customFields: [{ key: 'tags', column: 'people[].tag' }] }, ofPeople)).toContain('people[].tag');
    expect(lacking({ optional: true, fields: { company: 'z', role: 'a.b' } }, record)).toBe('');
  });
});
