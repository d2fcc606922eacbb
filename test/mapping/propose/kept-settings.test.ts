/** A mapping that is proposed in the place of another keeps what people wrote, where the file has the columns for it. */
import { describe, expect, it } from 'vitest';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { changesBetween } from '#src/mapping/propose/kept-settings.ts';
import { jsonFacts, propose, six, tableFacts } from './support/proposals.ts';

const week2 = tableFacts(
  ['Nr', 'Vorname', 'Nachname', 'Name 2', 'Firma', 'Telefon', 'Mobilnummer', 'Art', 'Seit', 'Fax'],
  six((n) => [
    `A-${n}`,
    `Ann${n}`,
    `Eins${n}`,
    `Kurz${n}`,
    `A${n} GmbH`,
    `030 90182${n}`,
    `+49 171 234567${n}`,
    'Kunde',
    `202${n}`,
    `+49 30 90183${n}`,
  ]),
);
const earlier = (text: string) => parseMapping(`name: crm\nkey: Nr\n${text}`, 'before.yaml');
const mended = (text: string) => {
  const old = earlier(text);
  const { mapping, draft } = propose(week2, { feed: 'crm', before: old });
  const columns = Object.fromEntries(draft.columns.map(({ column, target }) => [column, target]));
  return { mapping, columns, draft, lost: changesBetween(old, mapping) };
};

describe('what people wrote into the mapping', () => {
  it('stays: settings of the whole file, policies, transforms, labels and custom fields', () => {
    const { mapping, columns, lost } = mended(`
title: Our CRM
onBlank: clear
items: all
duplicateKeys: lastWins
skipRows: [{ column: Art, equals: Lieferant }]
defaultCountry: { column: Art, default: DE }
fields: { firstName: Vorname, lastName: { column: Nachname, transform: [titleCase] }, company: { column: Firma, policy: seed } }
phones: [{ column: Telefon, label: office, country: AT }, { column: Handy, label: mobile }]
customFields: [{ column: Seit, key: since }]
`);
    expect(mapping).toMatchObject({
      title: 'Our CRM',
      onBlank: 'clear',
      items: 'all',
      duplicateKeys: 'lastWins',
      skipRows: [{ column: 'Art', equals: 'Lieferant' }],
      defaultCountry: { column: 'Art', default: 'DE' },
      fields: {
        firstName: { column: 'Vorname' },
        lastName: { transform: ['titleCase'] },
        company: { column: 'Firma', policy: 'seed' },
      },
      customFields: [{ column: 'Seit', key: 'since' }],
    });
    expect(mapping.phones).toEqual([
      { column: 'Telefon', label: 'office', country: 'AT' },
      { column: 'Mobilnummer', label: 'mobile' },
    ]);
    expect(columns).toMatchObject({ Telefon: 'phone (office)', Seit: 'custom.since', Nr: 'key' });
    expect(lost).toEqual(['what the mapping which is there says of these does not stay: phones (Handy)']);
  });

  it('decides what a column is that it reads, and what a field is filled from', () => {
    const { mapping, columns } = mended('fields: { firstName: Vorname, lastName: Name 2, role: Firma }\n');
    expect(mapping.fields).toEqual({
      firstName: { column: 'Vorname' },
      lastName: { column: 'Name 2' },
      role: { column: 'Firma' },
    });
    expect(columns).toMatchObject({ Nachname: null, 'Name 2': 'lastName', Firma: 'role' });
  });

  it('keeps a whole name whole, and columns out that it ignores', () => {
    const names = tableFacts(
      ['Nr', 'Name', 'Telefon', 'Mobil'],
      six((n) => [`A-${n}`, `Ann${n} Eins${n}`, `+49 30 90182${n}`, `+49 171 234567${n}`]),
    );
    const old = earlier('ignore: [mobil]\nfields: { firstName: Name }\n');
    const { mapping, draft } = propose(names, { before: old });
    expect(mapping.fields).toEqual({ firstName: { column: 'Name' } });
    expect(mapping.phones).toMatchObject([{ column: 'Telefon' }]);
    expect(draft.columns[3]).toMatchObject({ target: null, reason: 'ignored by the mapping which is there' });
    expect(changesBetween(old, mapping)).toEqual([]);
  });

  it('stays where files may lack a column, or have one of several', () => {
    const { mapping, lost } = mended(
      'fields: { role: { firstOf: [Rolle, Art] }, sourceUrl: { column: Profil, optional: true } }\n',
    );
    expect(mapping.fields).toMatchObject({ role: { firstOf: ['Rolle', 'Art'] }, sourceUrl: { column: 'Profil' } });
    expect(lost).toEqual([]);
  });

  it('gives way where the file lacks an optional column of it, and has another one for the field', () => {
    const of = (text: string, header = 'Unternehmen') => {
      const file = tableFacts(
        ['Nr', 'Vorname', 'Nachname', header],
        six((n) => [`A-${n}`, `Ann${n}`, `Eins${n}`, `A${n} GmbH`]),
      );
      const old = earlier(text);
      const { mapping, draft } = propose(file, { before: old });
      return { mapping, target: draft.columns[3]?.target, lost: changesBetween(old, mapping) };
    };
    const gone = ['what the mapping which is there says of these does not stay: fields.company'];
    const own = of('fields: { company: { column: Firma, optional: true } }\n');
    expect(own.mapping.fields.company).toEqual({ column: 'Unternehmen' });
    expect(own).toMatchObject({ target: 'company', lost: gone });
    const whole = of('optional: true\nfields: { company: { firstOf: [Firma, Betrieb] }, role: Rolle }\n');
    expect(whole.mapping.fields).toMatchObject({ company: { column: 'Unternehmen' }, role: { column: 'Rolle' } });
    expect(whole).toMatchObject({ target: 'company', lost: gone });
    const alone = of('optional: true\nfields: { company: Firma, role: Unternehmen }\n');
    expect(alone.mapping.fields).toMatchObject({ company: { column: 'Firma' }, role: { column: 'Unternehmen' } });
    expect(alone.lost).toEqual([]);
    const partly = of('optional: true\nfields: { company: { join: [Nachname, Firma] } }\n');
    expect(partly.mapping.fields.company).toEqual({ join: ['Nachname', 'Firma'] });
    const custom = of(
      'customFields: [{ column: Seit, key: since, optional: true }, { column: Klasse, key: tier, optional: true }]\n',
      'custom.since',
    );
    expect(custom.mapping.customFields).toEqual([
      { column: 'Klasse', key: 'tier', optional: true },
      { column: 'custom.since', key: 'since' },
    ]);
    expect(custom.lost).toEqual(['what the mapping which is there says of these does not stay: customFields (Seit)']);
  });

  it('loses of the rows to skip only those of which the file lacks the column', () => {
    const rows = 'skipRows: [{ column: Art, equals: x }, { column: Status, equals: y }, { contains: Summe }]\n';
    const some = mended(rows);
    expect(some.mapping.skipRows).toEqual([{ column: 'Art', equals: 'x' }, { contains: 'Summe' }]);
    expect(some.lost).toEqual(['what the mapping which is there says of these does not stay: skipRows (Status)']);
    const none = mended('skipRows: [{ column: Status, equals: y }]\n');
    expect(none.mapping.skipRows).toBeUndefined();
    expect(none.lost).toEqual(['what the mapping which is there says of these does not stay: skipRows (Status)']);
    const all = mended(`optional: true\n${rows}`);
    expect(all.mapping.skipRows).toHaveLength(3);
    expect(all.lost).toEqual([]);
  });

  it('gives way to the country that a person names, and decides which column holds it', () => {
    const file = tableFacts(
      ['Nr', 'Name', 'Telefon', 'Land', 'Lieferland'],
      six((n) => [`A-${n}`, `Eins${n}`, `030 90182${n}`, 'Germany', 'Austria']),
    );
    const of = (text: string, given = {}) => propose(file, { feed: 'crm', before: earlier(text), ...given });
    const own = of('defaultCountry: { column: Lieferland, default: AT }\n');
    expect(own.mapping.defaultCountry).toEqual({ column: 'Lieferland', default: 'AT' });
    expect(own.draft.columns.map(({ target }) => target)).toEqual([
      'key',
      'firstName and lastName',
      'phone',
      null,
      'country of phone numbers',
    ]);
    const named = of('defaultCountry: { column: Lieferland }\n', { country: 'CH' });
    expect(named.mapping.defaultCountry).toEqual({ column: 'Land', default: 'CH' });
  });

  it('proposes a column that tells which rows are read for something as well', () => {
    const { mapping, columns } = mended('skipRows: [{ column: Telefon, isBlank: true }, { column: Art, equals: x }]\n');
    expect(mapping.phones).toMatchObject([{ column: 'Telefon' }, { column: 'Mobilnummer' }]);
    expect(columns).toMatchObject({ Telefon: 'phone', Art: 'which rows are read' });
  });

  it('is named where the file lacks a column of it, or where it cannot be checked', () => {
    const { mapping, lost } = mended(`
sheet: Kunden
keepRows: [{ column: Status, equals: aktiv }]
fields: { company: { join: [Firma, Abteilung] }, role: { column: 8 } }
phones: [{ column: Telefon, label: { column: Telefonart, default: work } }]
fixtures: [{ row: { Nr: "1" }, problems: [rowEmpty] }]
`);
    expect(mapping.fields.company).toEqual({ column: 'Firma' });
    expect(lost).toEqual([
      'what the mapping which is there says of these does not stay: keepRows, sheet, fixtures, fields.company, fields.role, phones (Telefon)',
    ]);
  });

  it('stays in JSON, for each element of a list', () => {
    const file = jsonFacts(
      [1, 2, 3, 4, 5, 6].map((n) => ({ id: `a${n}`, name: `Ann${n}`, phones: [{ nr: `+49 30 90182${n}` }] })),
    );
    const old = parseMapping(
      'name: crm\nkey: id\nfields: { lastName: name }\nphones: [{ column: "phones[].nr", label: office }]\n',
      'before.yaml',
    );
    const { mapping } = propose(file, { before: old });
    expect(mapping.phones).toEqual([{ column: 'phones[].nr', label: 'office' }]);
    expect(mapping.fields).toEqual({ lastName: { column: 'name' } });
  });

  it('stays in JSON where it names one element of a list, or each, and where no record of the file has a member to skip by', () => {
    const file = jsonFacts(
      [1, 2, 3, 4, 5, 6].map((n) => ({
        id: `a${n}`,
        name: `Ann${n}`,
        mails: [`ann${n}@example.com`],
        tags: ['Kunde'],
        phones: [{ nr: `+49 30 90182${n}` }, { nr: `+49 171 234567${n}` }],
      })),
    );
    const of = (text: string) => {
      const old = parseMapping(`name: crm\nkey: id\n${text}`, 'before.yaml');
      const { mapping } = propose(file, { before: old });
      return { mapping, lost: changesBetween(old, mapping) };
    };
    const each = of(`
skipRows: [{ column: deleted, equals: "true" }, { column: "tags[0]", equals: Lieferant }]
fields: { lastName: name, role: "tags[0]" }
emails: [{ column: "mails[]", label: office }]
phones: [{ column: "phones[0].nr", label: office }, { column: "phones[1].nr", label: mobile }]
`);
    expect(each.mapping).toMatchObject({
      skipRows: [{ column: 'deleted' }, { column: 'tags[0]' }],
      fields: { role: { column: 'tags[0]' } },
    });
    expect(each.mapping.emails).toEqual([{ column: 'mails[]', label: 'office' }]);
    expect(each.mapping.phones).toEqual([
      { column: 'phones[0].nr', label: 'office' },
      { column: 'phones[1].nr', label: 'mobile' },
    ]);
    expect(each.lost).toEqual([]);
    const one = of(
      'emails: [{ column: "mails[0]" }]\nphones: [{ column: "phones[1].nr", label: mobile }, { column: "fax[0].nr" }]\n',
    );
    expect(one.mapping.emails).toMatchObject([{ column: 'mails[0]' }]);
    expect(one.mapping.phones).toMatchObject([{ column: 'phones[1].nr' }]);
    expect(one.lost).toEqual(['what the mapping which is there says of these does not stay: phones (fax[0].nr)']);
    const blank = of('skipRows: [{ column: mail, isBlank: true }]\n');
    expect(blank.lost).toEqual(['what the mapping which is there says of these does not stay: skipRows (mail)']);
  });
});
