/** What the columns of the generic layout are called elsewhere, and the rules where several names meet. */
import { describe, expect, test } from 'vitest';
import { namesColumn } from '#src/mapping/bind-mapping.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { contactColumnOf } from '#src/mapping/contact-columns.ts';
import { cellsRow, desiredOf, mapJson, mapRecord, noContext, objectRow } from './support.ts';

const compile = (columns: readonly string[]) => compileMapping(null, { columns }, noContext);
const readingsOf = (header: string) => compile(['externalId', ...header.split(', ')]).readings.join(', ');
const contact = (record: Readonly<Record<string, string>>) => desiredOf(mapRecord({ externalId: 'a', ...record }));

/** The columns that stop the file, all of them being filled. */
function stopping(header: string): readonly string[] {
  const columns = ['externalId', ...header.split(', ')];
  const compiled = compile(columns);
  compiled.see(cellsRow(columns, ['a', ...columns.slice(1).map(() => 'x')]));
  return compiled.leftOut.map(({ column }) => column);
}

describe('a synonym', () => {
  test.each([
    [
      'phone',
      'Telephone, Telefon, Tel., Téléphone, Teléfono, Rufnummer, Festnetz, Nº de teléfono, Numéro de téléphone',
    ],
    ['phone (mobile)', 'Mobile, Handy, Portable, Móvil, Celular, Cell, Mobilnummer, Mobile Number, Tél. portable, GSM'],
    ['phone (mobile)', 'Mobiltelefonnummer, Mobilrufnummer, Téléphone cellulaire'],
    ['phone (work)', 'Work Phone, Telefon geschäftlich, Business Phone, Tél. bureau, Company Phone, workphone'],
    ['phone (home)', 'Home Phone, Telefon privat, Teléfono particular, Téléphone personnel, homePhone'],
    ['email', 'Courriel, Correo electrónico, Mail, Mailadresse, Adresse e-mail, Adresse de messagerie'],
    ['email (work)', 'Work Email, Mail geschäftlich, Courriel professionnel, workemail'],
    ['firstName', 'Vorname, Prénom, Nombre, Given Name, Forename'],
    [
      'lastName',
      'Nachname, Surname, Apellidos, Family Name, Nom de famille, Last Name [Required], Nachname (Pflichtfeld)',
    ],
    [
      'company',
      'Organisation, Organization, Firma, Unternehmen, Société, Entreprise, Empresa, Company Name, Razón social',
    ],
    ['role', 'Job Title, JobTitle, Position, Funktion, Poste, Fonction, Cargo, Puesto, Rôle'],
  ])('is read as %s: %s', (meaning, headers) => {
    for (const header of headers.split(', ')) expect(readingsOf(header)).toBe(`${header} → ${meaning}`);
  });

  test.each([
    'Title, Titel, Titre, Anrede, Fax, Telefax, Fax Number, Pager, Notes, Account Name, Company 2',
    'Display Name, Complete Name, Telefon Empfang, Handy Chef, Nombre completo, Nombre y apellidos, Nachname Vorname, Kundenname, First, Last',
    'Télécopie (bureau), Téléphone ATS/TTY, Fax del trabajo, Localizador, Faxnummer, Work Fax, TTY/TDD Phone',
    'Hauptrufnummer, Telefonzentrale, Zentrale, Switchboard, Standard, Standard téléphonique',
    '__proto__, constructor, 電話, _id, Mobile App, Do Not Call, Assistant Telephone',
  ])('is none of: %s', (headers) => {
    for (const header of headers.split(', ')) {
      expect(readingsOf(header)).toBe('');
    }
  });

  test.each(['Télécopie (bureau)', 'Téléphone ATS/TTY', 'TTY/TDD Phone', 'Telefon Fax', 'Teléfono localizador'])(
    'a number that cannot be called is no contact data: %s',
    (header) => {
      expect(contactColumnOf(header)).toBeNull();
    },
  );

  test.each([
    'Dienstfax Telefon',
    'Telefon geschäftsfax',
    'Telefon FaxGeschäftlich',
    'Phone HomeFax',
    'Phone faxNumber',
    'Telefon Bestellfax',
    'Telefon Faxszám',
  ])('nor is one of a fax in one word with what it is of: %s', (header) => {
    expect(contactColumnOf(header)).toBeNull();
  });

  test.each([
    ...['Fairfax Phone', 'Telefon Halifax', 'Colfax Mobile Phone', 'Phone Equifax', 'Telefon Faxälven'],
    ...[
      'Phone/Fax',
      'Fax / Telefon',
      'Tel/Fax',
      'Telefon und Fax',
      'Téléphone et fax',
      'Tel. & Fax (work)',
      'Telefon Empfang/Fax',
      'Teléfono o Fax',
      'Tel.-Fax',
      'Fon/Fax',
    ],
  ])(
    'a place that ends like it, or a phone beside a fax, suggests a phone number, and is none by itself: %s',
    (header) => {
      expect(contactColumnOf(header)?.kind).toBe('phone');
      expect(readingsOf(header)).toBe('');
    },
  );

  test('of a directory means what it does there beside its other names alone', () => {
    const names = { givenName: 'Ada', sn: 'Lee', o: 'Engine AG' };
    expect(contact(names).scalars).toEqual({ firstName: 'Ada', lastName: 'Lee', company: 'Engine AG' });
    expect(desiredOf(mapJson({ externalId: 'a', ...names })).scalars).toEqual(contact(names).scalars);
    expect(contact({ ...names, company: 'Nordlicht GmbH' }).scalars).toMatchObject({ company: 'Nordlicht GmbH' });
    expect(contact({ ...names, Surname: 'Lovelace' }).scalars).toMatchObject({ lastName: 'Lovelace' });
    expect(contact({ firstName: 'Ada', sn: '4711', o: 'x' }).scalars).toEqual({ firstName: 'Ada' });
    expect(stopping('firstName, lastName, sn, o')).toEqual([]);
    expect(stopping('givenName, familyName, sn, o')).toEqual([]);
  });

  test('of a directory is none beside a name that may be the last one, unless the file is surely of a directory', () => {
    const names = { givenName: 'Ada', name: 'Lee', sn: 'S-4711', o: 'x' };
    const { name, ...others } = names;
    for (const record of [names, { ...others, Nom: name }]) {
      expect(contact(record).scalars).toEqual({ firstName: 'Ada', lastName: 'Lee' });
      expect(desiredOf(mapJson({ externalId: 'a', ...record })).scalars).toEqual(contact(record).scalars);
    }
    for (const mark of ['cn', 'dn', 'displayName', 'uid', 'sAMAccountName', 'objectClass']) {
      const directory = { ...others, name: 'Ada Lee', sn: 'Lee', [mark]: 'y' };
      expect(contact(directory).scalars, mark).toEqual({ firstName: 'Ada', lastName: 'Lee', company: 'x' });
    }
  });

  test('gives the contact its values, phones and e-mails with their labels', () => {
    const columns = {
      ...{ Vorname: 'Ada', Nachname: 'Lovelace', Firma: 'Engine AG', Funktion: 'Rechnerin' },
      ...{ 'E-Mail-Adresse': 'ada@example.com', 'Mail privat': 'a@example.com', Handy: '+14155550101' },
      'Telefon geschäftlich': '+14155550102',
    };
    expect(contact(columns)).toMatchObject({
      scalars: { firstName: 'Ada', lastName: 'Lovelace', company: 'Engine AG', role: 'Rechnerin' },
      emails: [
        { slot: 'emailadresse', items: [{ label: 'email', value: 'ada@example.com' }] },
        { slot: 'mailprivat', items: [{ label: 'home', value: 'a@example.com' }] },
      ],
      phones: [
        { slot: 'handy', items: [{ label: 'mobile', value: '+14155550101' }] },
        { slot: 'telefongeschäftlich', items: [{ label: 'work', value: '+14155550102' }] },
      ],
    });
  });

  test('counts among the mapped columns, and a guard that misses it knows that it has a meaning', () => {
    expect(compile(['externalId', 'Name', 'Mobile', 'Notes'])).toMatchObject({
      mappedColumns: ['externalId', 'Name', 'Mobile'],
      unmappedColumns: ['Notes'],
    });
    expect(['Mobile', 'Name', 'Organisation', 'Notes'].map((name) => namesColumn(null, name))).toEqual([
      ...[true, true, true],
      false,
    ]);
  });

  test('changes the version, so that a file that was read before is read again', () => {
    const [plain, other] = [compile(['externalId', 'Mobile']), compile(['externalId', 'Notes'])];
    expect(plain.version).not.toBe(other.version);
  });
});

describe('names that meet', () => {
  test.each([
    ['the own name of the layout wins', 'company, Organisation', '', []],
    ['of contact data, the other stops the file', 'firstName, Vorname', '', ['Vorname']],
    ['two synonyms of one field stop it, both named', 'Organisation, Firma', '', ['Organisation', 'Firma']],
    ['of the job, too', 'Job Title, Position, Mobile', 'Mobile → phone (mobile)', ['Job Title', 'Position']],
    ['Name is the last name beside a first name', 'Vorname, Name', 'Vorname → firstName, Name → lastName', []],
    ['in French, too', 'Nom, Prénom', 'Nom → lastName, Prénom → firstName', []],
    ["beside the layout's own first name", 'firstName, Name', 'Name → lastName', []],
    ['Name alone is a whole name', 'Name', 'Name → firstName and lastName', []],
    ['so is a full name', 'Vor- und Nachname', 'Vor- und Nachname → firstName and lastName', []],
    ['Name beside a last name may be either', 'Name, Nachname', 'Nachname → lastName', ['Name']],
    ['two whole names', 'Name, Full Name', '', ['Name', 'Full Name']],
    ['a whole name beside first and last is not needed', 'firstName, lastName, Full Name', '', []],
    ['a display name may hold a company, and is not split', 'Display Name, Company', '', ['Display Name']],
    ['nor is it needed beside first and last', 'firstName, lastName, Display Name', '', []],
    ['nor beside one of both', 'firstName, Display Name', '', []],
    [
      'columns that a template requires',
      'First Name [Required], Nachname (Pflichtfeld), displayName',
      'First Name [Required] → firstName, Nachname (Pflichtfeld) → lastName',
      [],
    ],
    ['First and Last count together', 'First, Last', 'First → firstName, Last → lastName', []],
    ['or beside the other part of the name', 'Given, Surname', 'Given → firstName, Surname → lastName', []],
    ['Spanish whole names are not split', 'Nombre completo', '', ['Nombre completo']],
  ])('%s: %s', (_, header, readings, stops) => {
    expect(readingsOf(header)).toBe(readings);
    expect(stopping(header)).toEqual(stops);
  });
});

describe('in JSON', () => {
  test('members are read by the same names, each record by its own members', () => {
    const row = mapJson({
      externalId: 'a',
      Vorname: 'Ada',
      Name: 'Lovelace',
      mobile: ['+14155550101', '+14155550102'],
    });
    expect(desiredOf(row)).toMatchObject({
      scalars: { firstName: 'Ada', lastName: 'Lovelace' },
      phones: [{ slot: 'mobile', items: [{ label: 'mobile' }, { label: 'mobile' }] }],
    });
    expect(desiredOf(mapJson({ externalId: 'a', name: 'Ada van Dyke' })).scalars).toEqual({
      firstName: 'Ada',
      lastName: 'van Dyke',
    });
  });

  test('objects, truths and lists of a single field are no values of a synonym', () => {
    const json = { externalId: 'a', firstName: 'A', organisation: { id: 1 }, mobile: true, position: ['x'], name: {} };
    expect(desiredOf(mapJson(json))).toMatchObject({ scalars: { firstName: 'A' }, phones: [] });
  });

  test('readings and rivals are known after the last row', () => {
    const compiled = compileMapping(null, { columns: null }, noContext);
    for (const one of [
      { externalId: '1', Mobile: '+14155550101' },
      { externalId: '2', Firma: 'A', Organisation: 'B', Mobile: null },
    ]) {
      compiled.see(objectRow(one));
      compiled.mapRow(objectRow(one));
    }
    expect(compiled.readings).toEqual(['Mobile → phone (mobile)']);
    expect(compiled.leftOut.map(({ column }) => column)).toEqual(['Firma', 'Organisation']);
    expect(compiled.unmappedColumns).toEqual(['Firma', 'Organisation']);
  });
});

describe('a synonym beside defaultFields', () => {
  const seen = (...objects: readonly object[]) => {
    const compiled = compileMapping(null, { columns: null }, noContext);
    for (const [index, object] of objects.entries()) {
      const row = objectRow(object, index + 1);
      compiled.see(row);
      compiled.mapRow(row);
    }
    return compiled;
  };
  const inShape = { externalId: 'b', defaultFields: { firstName: 'Bo' }, Mobile: '+14155550102' };

  test('is not read, and not said to be: it stops the file, and is called by its place in that shape', () => {
    const compiled = seen(inShape);
    expect([compiled.readings, compiled.unmappedColumns]).toEqual([[], ['Mobile']]);
    expect(compiled.leftOut).toMatchObject([{ column: 'Mobile', generic: 'defaultFields.phoneNumbers' }]);
  });

  test('is told from one of a flat record in the same file, which is read', () => {
    const compiled = seen({ externalId: 'a', firstName: 'Ann', Mobile: '+14155550101' }, inShape);
    expect(compiled.readings).toEqual(['Mobile → phone (mobile)']);
    expect(compiled.unmappedColumns).toEqual(['Mobile (beside defaultFields)']);
    expect(compiled.leftOut.map(({ column }) => column)).toEqual(['Mobile']);
  });

  test('is nothing in an export of the service itself', () => {
    const exported = { id: '1', createdAt: 'x', source: 'a', sourceUrl: 'https://example.com', customFields: [] };
    expect(seen({ ...inShape, Mobile: undefined, ...exported }).leftOut).toEqual([]);
  });
});
