import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { headerRule } from '#src/mapping/recognise.ts';
import { desiredOf, mapping, mapRecord, noContext } from './support.ts';

const compile = (columns: readonly string[]) => compileMapping(null, { columns }, noContext);

describe('the generic layout', () => {
  test.each(['externalId', 'EXTERNALID', 'External ID', 'external_id', ' external-id ', '\ufeffExternal\u2011Id'])(
    'knows its columns without regard to case, spaces, _ and -: %j',
    (header) => {
      expect(
        desiredOf(mapRecord({ [header]: 'a', FIRST_NAME: 'Ada', 'source url': 'https://example.com' })),
      ).toMatchObject({
        key: 'a',
        scalars: { firstName: 'Ada', sourceUrl: 'https://example.com' },
      });
    },
  );

  test('takes no address that a program shows for one, and may be an old one', () => {
    const columns = { externalId: 'a', email: 'new@example.com', 'E-mail Display Name': 'Ann (old@example.com)' };
    expect(desiredOf(mapRecord(columns)).emails.flatMap(({ items }) => items)).toEqual([
      { label: 'email', value: 'new@example.com' },
    ]);
  });

  test.each([
    ['email', 'email', 'email'],
    ['E-Mail', 'email', 'email'],
    ['Email Address', 'emailaddress', 'email'],
    ['Email Address [Required]', 'emailaddress[required]', 'email'],
    ['E-Mail privat (Pflichtfeld)', 'emailprivat(pflichtfeld)', 'privat'],
    ['emails', 'emails', 'email'],
    ['email work', 'emailwork', 'work'],
    ['Email_Work', 'emailwork', 'work'],
    ['e-mail-work', 'emailwork', 'work'],
    ['emailWork', 'emailwork', 'work'],
    ['EMAILWORK', 'emailwork', 'work'],
    ['email Head  Office', 'emailheadoffice', 'head office'],
    ['email2', 'email2', '2'],
    ['Email (home)', 'email(home)', 'home'],
    ['E-Mail 2: Adresse', 'email2:adresse', '2 adresse'],
    ['Email [ ]', 'email[]', 'email'],
  ])('%s is an e-mail column: slot %s, label %s', (header, slot, label) => {
    const { emails } = desiredOf(mapRecord({ externalId: 'a', [header]: 'a@example.com' }));
    expect(emails).toEqual([{ slot, items: [{ label, value: 'a@example.com' }] }]);
  });

  test.each([
    ['phone', 'phone', 'phone'],
    ['Phone Number', 'phonenumber', 'phone'],
    ['phoneNumbers', 'phones', 'phone'],
    ['phone mobile', 'phonemobile', 'mobile'],
    ['PHONE-MOBILE', 'phonemobile', 'mobile'],
    ['phone Büro', 'phonebüro', 'büro'],
    ['Phone : work', 'phone:work', 'work'],
  ])('%s is a phone column: slot %s, label %s', (header, slot, label) => {
    const { phones } = desiredOf(mapRecord({ externalId: 'a', [header]: '+14155550101' }));
    expect(phones).toEqual([{ slot, items: [{ label, value: '+14155550101' }] }]);
  });

  test('keeps the case of a custom key', () => {
    const { customFields } = desiredOf(mapRecord({ externalId: 'a', 'CUSTOM.Customer_Since': 'x' }));
    expect(customFields).toEqual([{ key: 'Customer_Since', value: 'x' }]);
  });

  test('lists the columns that nothing maps, also those that are called as in a fix-file, but not empty headers', () => {
    const columns = ['_id', 'Notes', 'externalId', '', 'emailed', 'phonetic', '_hint', 'custom.'];
    expect(compile(columns).unmappedColumns).toEqual(['_id', 'Notes', 'emailed', 'phonetic', '_hint', 'custom.']);
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('takes %s for an unknown column', (header) => {
    const compiled = compile(['externalId', header]);
    expect(compiled.unmappedColumns).toEqual([header]);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  test('refuses two columns that mean the same', () => {
    expect(() => compile(['externalId', 'email work', 'E-Mail-Work'])).toThrow(
      expect.objectContaining({ kind: 'file', code: 'columnTwice', message: expect.stringContaining('"E-Mail-Work"') }),
    );
  });

  test('without its key column says what was found and suggests the one that looks similar', () => {
    expect(() => compile(['Contact ID', 'First Name'])).toThrow(
      expect.objectContaining({
        kind: 'file',
        code: 'keyColumnMissing',
        message: 'no column is called externalId; found: "Contact ID", "First Name"',
        hint: expect.stringContaining('"Contact ID" looks like the key'),
      }),
    );
    expect(() => compile(['extrenalId', 'x'])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('extrenalId') }),
    );
    expect(() => compile(['Surname'])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Add a column') }),
    );
    expect(() => compile([])).toThrow(/found: none/);
  });

  test('tells the header row by the key column', () => {
    const generic = headerRule(null);
    expect(generic).toMatchObject({ wanted: 'column externalId', hint: expect.stringContaining('Add the column') });
    expect(
      [
        ['a', ' EXTERNAL_id '],
        ['a', 'externalIds'],
      ].map((cells) => generic?.isHeader(cells)),
    ).toEqual([true, false]);
    const own = headerRule(mapping({ key: 'Kunden-Nr', fields: { company: 'Company' } }));
    expect(own).toMatchObject({
      wanted: 'column Kunden-Nr',
      hint: expect.stringContaining('The mapping names Kunden-Nr'),
    });
    expect([['kunden nr'], ['Company']].map((cells) => own?.isHeader(cells))).toEqual([true, false]);
    expect(headerRule(mapping({ key: 1 }))).toBeNull();
  });
});

describe('a configured layout', () => {
  const by = mapping({
    fields: { firstName: 'First Name' },
    emails: [{ column: 'E-mail' }],
    phones: [{ column: 'Mobile', label: 'mobile' }],
    customFields: [{ column: 'Since', key: 'customer_since' }],
  });

  test('finds its columns by their exact names, else without regard to case, spaces, _ and -', () => {
    const row = mapRecord(
      { ID: 'a', first_name: 'Ada', EMAIL: 'a@example.com', mobile: '+14155550101', since: '2026', Other: '' },
      {},
      by,
    );
    expect(desiredOf(row)).toEqual({
      key: 'a',
      scalars: { firstName: 'Ada' },
      source: null,
      emails: [{ slot: 'email', items: [{ label: 'email', value: 'a@example.com' }] }],
      phones: [{ slot: 'mobile', items: [{ label: 'mobile', value: '+14155550101' }] }],
      customFields: [{ key: 'customer_since', value: '2026' }],
    });
  });

  test('prefers the exact name, and refuses to choose between two others', () => {
    const one = mapping({ fields: { firstName: 'Name' } });
    expect(desiredOf(mapRecord({ id: 'a', NAME: 'no', Name: 'yes' }, {}, one)).scalars.firstName).toBe('yes');
    expect(() => mapRecord({ id: 'a', NAME: 'x', name: 'y' }, {}, one)).toThrow(
      expect.objectContaining({ code: 'columnAmbiguous' }),
    );
  });

  test('stops the file that lacks configured columns, names them all, and says what was found', () => {
    expect(() => mapRecord({ id: 'a', 'First Name': 'x', Mobil: '' }, {}, by)).toThrow(
      expect.objectContaining({
        kind: 'file',
        code: 'columnMissing',
        message:
          'mapping "test": the file lacks the columns "E-mail", "Mobile", "Since"; found: "id", "First Name", "Mobil"',
      }),
    );
    expect(() => mapRecord({ id: 'a' }, {}, mapping({ fields: { role: '__proto__' } }))).toThrow(
      /lacks the column "__proto__"/,
    );
  });

  test('lists what it leaves out', () => {
    const compiled = compileMapping(mapping({}), { columns: ['id', 'firstName', '_id'] }, noContext);
    expect(compiled).toMatchObject({ name: 'test', unmappedColumns: ['firstName', '_id'], duplicateKeys: 'dead' });
  });
});

describe('the version', () => {
  const columns = ['externalId', 'phone work', 'custom.a'];
  const version = (context = {}, names: readonly string[] = columns) =>
    compileMapping(null, { columns: names }, { ...noContext, ...context }).version;

  test('is the same for the same mapping, flags, header and definitions', () => {
    expect(version()).toMatch(/^[0-9a-f]{16}$/);
    expect(version()).toBe(version());
    expect(version({ sourceLabel: 'crm' })).toBe(version());
  });

  test('differs with anything that may change what a cell means', () => {
    const versions = [
      version(),
      version({ defaultCountry: 'DE' }),
      version({ onBlank: 'clear' }),
      version({ customFields: [{ key: 'a', type: 'number' }] }),
      version({}, ['externalId', 'phone home', 'custom.a']),
      version({}, ['phone work', 'externalId', 'custom.a']),
      compileMapping(null, { columns: null }, noContext).version,
      compileMapping(mapping({}), { columns: null }, noContext).version,
      compileMapping(mapping({ keyPrefix: 'x' }), { columns: null }, noContext).version,
    ];
    expect(new Set(versions).size).toBe(versions.length);
  });
});
