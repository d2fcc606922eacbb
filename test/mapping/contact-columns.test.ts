import { describe, expect, test } from 'vitest';
import { contactColumnOf } from '#src/mapping/contact-columns.ts';

const kinds = (text: string) => text.split(', ').map((header) => [header, contactColumnOf(header)?.kind ?? null]);
const all = (kind: string | null, text: string) => text.split(', ').map((header) => [header, kind]);

describe('a header that names contact data', () => {
  test.each([
    [
      'phone',
      'Mobile, Telephone, Tel, Tel., Cell, Handy, Phone, Phone 2, Phone Number, Work Phone, homePhone, Mobile Phone, Cell Phone',
    ],
    [
      'phone',
      'Telefon privat, Telefon geschäftlich, Mobil, Mobilnummer, Rufnummer, Téléphone, Tél. portable, Teléfono móvil, Celular',
    ],
    [
      'email',
      'E-Mail, E-Mail-Adresse, email, Email 2, E-mail 1 - Value, Work Email, Mail, Courriel, Correo electrónico',
    ],
    ['phone', 'Mobiltelefonnummer, Diensttelefon, Téléphone cellulaire, Tél. pro, Mobile perso'],
    ['phone', 'Hauptrufnummer, Telefonzentrale, Hauptrufnummer Firma, Switchboard, Company Switchboard Number'],
    ['phone', 'Standard téléphonique, Centralita, Main Phone'],
    ['phone', 'X-MS-TEL, X-MS-TEL 2, X-TEL'],
    ['email', 'Adresse de messagerie, Adresse de messagerie 2, Adresse e-mail professionnelle'],
    ['firstName', 'First Name, first_name, Vorname, Prénom, Nombre, Given Name'],
    ['lastName', 'Last Name, Surname, Nachname, Familienname, Nom, Apellidos'],
    ['fullName', 'Name, Full Name, Contact Name, Nom complet, Nombre completo, Vor- und Nachname'],
    [
      'fullName',
      'Display Name, displayName, Complete Name, Anzeigename, Vollständiger Name, Nom affiché, Nombre mostrado',
    ],
    ['firstName', 'First Name [Required], Vorname (Pflichtfeld), Prénom (obligatoire), *First Name [optional] '],
  ])('is a %s: %s', (kind, headers) => {
    expect(kinds(headers)).toEqual(all(kind, headers));
  });

  test.each([
    'Email Type, E-mail Display Name, Email Opt Out, Phone Verified, Phone 1 - Label, Phone Country Code, Phone Extension',
    'Accepts Email Marketing, Email Domain, Last Email Sent Date, Owner Email, Do Not Call, Mobile App, Mail Merge',
    "Nom complet de l'adresse de messagerie, E-Mail: Angezeigter Name, Nombre de pantalla de correo electrónico",
    'Standard, Zentrale, Zentrale Fax, Switchboard Extension, Hauptstandort, Switchboard Manager',
    'Type de messagerie, Messagerie, Messagerie instantanée',
    'Account Name, Company Name, File Name, Notes, Id, Nominal, Telltale, Cellar, Handycap, Region, 電話, _id',
  ])('is none of: %s', (headers) => {
    expect(kinds(headers)).toEqual(all(null, headers));
  });

  test('comes with the line of a mapping, and with its name in the generic layout', () => {
    const headers = ['Mobile', 'E-Mail privat', 'Nachname', 'Name', 'Hauptrufnummer'];
    expect(headers.map((header) => contactColumnOf(header))).toMatchObject([
      { line: 'phones: [{ column: "Mobile", label: mobile }]', generic: 'phone mobile' },
      { line: 'emails: [{ column: "E-Mail privat", label: home }]', generic: 'email home' },
      { line: 'fields: { lastName: "Nachname" }', generic: 'lastName' },
      { line: 'fields: { firstName: "Name" }', generic: 'firstName' },
      { line: 'phones: [{ column: "Hauptrufnummer", label: work }]', generic: 'phone work' },
    ]);
  });
});
