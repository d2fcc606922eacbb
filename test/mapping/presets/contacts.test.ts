/** What becomes of the samples of known exports: every contact, every skipped row, every column that is not used. */
import { describe, expect, test } from 'vitest';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import { runFixtures } from '#src/mapping/show/preview.ts';
import { desiredOf, mapJson, mapRecord, warningsOf } from '#test/mapping/support.ts';
import { mapSample, presetNamed, samples } from './support.ts';

const mara = { firstName: 'Mara', lastName: 'Lindqvist', company: 'Nordlicht Optics', role: 'Head of Sales' };
const joerg = { firstName: 'Jörg', lastName: 'Weißhaupt' };
const noor = { firstName: 'Noor', lastName: 'Haddad' };

test.each(samples)(
  '%s goes in whole: no row is rejected, and the number of a fax alone causes a warning',
  async (name) => {
    const { contacts, rejected, warnings } = await mapSample(name);
    expect([rejected, warnings]).toEqual([
      [],
      ['google', 'google-old'].includes(name.replace('.csv', '')) ? ['2: phoneLeftOut'] : [],
    ]);
    expect(contacts.length).toBeGreaterThan(0);
  },
);

test('a vCard with addresses in two countries says none', async () => {
  const preset = await presetNamed('vcard');
  const read = (...countries: readonly string[]) =>
    mapJson(
      { UID: 'a', TEL: [{ name: 'work', value: '020 1234567' }], ADR: countries.map((country) => ({ country })) },
      { defaultCountry: 'DE' },
      preset,
    );
  expect(desiredOf(read('Germany', 'Netherlands')).phones[0]?.items).toEqual([]);
  expect(warningsOf(read('Germany', 'Netherlands'))).toEqual(['phoneCountryMissing']);
  expect(desiredOf(read('NL', 'Netherlands', '')).phones[0]?.items).toEqual([{ label: 'work', value: '+31201234567' }]);
  expect(desiredOf(read()).phones[0]?.items).toEqual([{ label: 'work', value: '+49201234567' }]);
});

describe('Google Contacts', () => {
  test('current: labels from their columns, several values in a cell, no fax', async () => {
    const { contacts, ignored } = await mapSample('google.csv');
    expect(contacts).toEqual([
      {
        key: 'google-mara.lindqvist@example.com',
        ...mara,
        firstName: 'Mara J.',
        emails: ['work: Mara.Lindqvist@example.com', 'work: mara@example.com', 'home: mara.l@example.net'],
        phones: ['mobile: +14155550101', 'work: +14155550102', 'work: +14155550103'],
      },
      {
        key: 'google-joerg@example.com',
        ...joerg,
        emails: ['email: joerg@example.com'],
        phones: ['home: +14155550104'],
      },
      { key: 'google-14155550105', firstName: 'Pia', phones: ['phone: +14155550105'] },
      { key: 'google-hello@example.org', company: 'Bakery Thyme & Co.', emails: ['email: hello@example.org'] },
      { key: 'google-noor|haddad|blue door films', ...noor, company: 'Blue Door Films' },
    ]);
    expect(ignored).toEqual(['Birthday', 'Notes', 'Address 1 - Formatted', 'Website 1 - Value']);
  });

  test.each([
    ['bob@example.com (Vertretung: ann@example.com)', []],
    ['bob@example.com -> ann@example.com', ['emailInvalid']],
    ['bob@example.com cc ann@example.com', ['emailInvalid']],
  ])('the address of another person is neither key nor e-mail: %s', async (text, warnings) => {
    const google = await presetNamed('google');
    const row = mapRecord({ 'First Name': 'Bob', 'E-mail 1 - Label': '', 'E-mail 1 - Value': text }, {}, google);
    expect(desiredOf(row).key).toBe('google-bob@example.com');
    expect(desiredOf(row).emails[0]?.items.map(({ value }) => value)).toEqual(['bob@example.com']);
    expect(warningsOf(row)).toEqual(warnings);
  });

  test.each([
    'bob,smith@example.com',
    'bob[at]example[dot]com; ann@example.com',
    'bob at example dot com; ann@example.com',
    'bob(at)example(dot)com, ann@example.com',
  ])('a misspelt address gives the row no key of another person: %s', async (text) => {
    const google = await presetNamed('google');
    const row = mapRecord({ 'First Name': 'Bob', 'E-mail 1 - Label': '', 'E-mail 1 - Value': text }, {}, google);
    expect(desiredOf(row).key).toBe('google-bob||');
  });

  test.each(['google', 'google-old'])('addresses in two countries say none: %s', async (name) => {
    const preset = await presetNamed(name);
    const read = (second: string) =>
      mapRecord(
        {
          ...{ 'E-mail 1 - Value': 'bob@example.com', 'Phone 1 - Value': '020 1234567' },
          ...{ 'Address 1 - Country': 'Germany', 'Address 2 - Country': second },
        },
        { defaultCountry: 'DE' },
        preset,
      );
    expect(desiredOf(read('Netherlands')).phones[0]?.items).toEqual([]);
    expect(warningsOf(read('Netherlands'))).toEqual(['phoneCountryMissing']);
    expect(desiredOf(read('')).phones[0]?.items).toEqual([{ label: 'phone', value: '+49201234567' }]);
  });

  test('old: the same keys', async () => {
    const { contacts, ignored } = await mapSample('google-old.csv');
    expect(contacts).toEqual([
      {
        key: 'google-mara.lindqvist@example.com',
        ...mara,
        firstName: 'Mara J.',
        emails: ['work: Mara.Lindqvist@example.com', 'home: mara.l@example.net'],
        phones: ['mobile: +14155550101', 'mobile: +14155550102'],
      },
      { key: 'google-14155550104', ...joerg, phones: ['phone: +14155550104'] },
      { key: 'google-hello@example.org', company: 'Bakery Thyme & Co.', emails: ['email: hello@example.org'] },
    ]);
    expect(ignored).toEqual(['Birthday', 'Location', 'Occupation', 'Hobby', 'Subject', 'Notes', 'Website 1 - Value']);
  });
});

describe('Outlook', () => {
  test('desktop: 92 columns; no fax, no pager, no address inside Exchange; countries by address', async () => {
    const { contacts, ignored } = await mapSample('outlook.csv');
    expect(contacts).toEqual([
      {
        key: 'outlook-mara.lindqvist@example.com',
        ...mara,
        firstName: 'Mara J.',
        emails: ['email: Mara.Lindqvist@example.com', 'email 2: mara@example.net'],
        phones: ['mobile: +14155550103', 'work: +14155550101', 'work 2: +14155550102', 'assistant: +14155550108'],
      },
      { key: 'outlook-4155550104', ...joerg, company: 'Nordlicht Optics', phones: ['home: +14155550104'] },
      { key: 'outlook-||bakery thyme & co.', company: 'Bakery Thyme & Co.', phones: ['company: +14155550105'] },
      { key: 'outlook-noor|haddad|', ...noor },
    ]);
    expect(ignored).toEqual([
      ...['Business Street', 'Business City', 'Home Street', 'Home City', 'Other Street', 'Other City'],
      ...['Anniversary', 'Birthday', 'Hobby', 'Notes', 'Spouse', 'Web Page'],
    ]);
  });

  test('on the web, newer and older', async () => {
    const keys = { key: 'outlook-mara@example.com', ...mara };
    const phones = ['mobile: +14155550103', 'work: +14155550101'];
    expect((await mapSample('outlook-web.csv')).contacts).toEqual([
      { ...keys, emails: ['email: mara@example.com', 'email 2: mara@example.net'], phones },
      { key: 'outlook-14155550104', ...joerg, phones: ['home: +14155550104'] },
    ]);
    expect((await mapSample('outlook-com.csv')).contacts).toEqual([
      { ...keys, emails: ['email: mara@example.com'], phones },
      { key: 'outlook-4155550104', ...joerg, phones: ['home: +14155550104'] },
    ]);
  });
});

describe('HubSpot', () => {
  test('contacts: the primary company, several numbers in a cell', async () => {
    const { contacts, ignored } = await mapSample('hubspot.csv');
    expect(contacts).toEqual([
      {
        key: 'hubspot-51',
        ...mara,
        emails: ['email: Mara.Lindqvist@example.com'],
        phones: ['phone: +14155550101', 'mobile: +14155550102'],
      },
      {
        key: 'hubspot-101',
        ...joerg,
        company: 'Weißhaupt & Söhne',
        role: 'Buyer',
        emails: ['email: joerg@example.com'],
        phones: ['phone: +14155550103', 'phone: +14155550104'],
      },
      { key: 'hubspot-151', emails: ['email: hello@example.org'] },
      {
        key: 'hubspot-201',
        firstName: 'Noor',
        company: 'Blue Door Films',
        emails: ['email: noor@example.com'],
        phones: ['phone: +14155550105'],
      },
    ]);
    expect(ignored).toEqual([
      ...['Lead Status', 'Lifecycle Stage', 'Create Date', 'Last Activity Date', 'Marketing contact status'],
    ]);
  });

  test('API: the same keys; archived records are skipped', async () => {
    const { contacts, notes, ignored } = await mapSample('hubspot-api.json');
    expect(contacts).toEqual([
      {
        key: 'hubspot-51',
        ...mara,
        emails: ['email: mara.lindqvist@example.com'],
        phones: ['phone: +14155550101', 'mobile: +14155550102'],
      },
      { key: 'hubspot-151', emails: ['email: hello@example.org'] },
    ]);
    expect(notes).toEqual(['skipped 1 row: archived is "true" (line 37)']);
    expect(ignored).toEqual([]);
  });
});

describe('Salesforce', () => {
  const report = { ...joerg, company: 'Nordlicht Optics' };

  test('report: derived keys; the footer is skipped, with its lines', async () => {
    const { contacts, notes, ignored } = await mapSample('salesforce-report.csv');
    expect(contacts).toEqual([
      {
        key: 'salesforce-mara.lindqvist@example.com',
        ...mara,
        emails: ['email: Mara.Lindqvist@example.com'],
        phones: ['work: +14155550101', 'mobile: +14155550102'],
      },
      { key: 'salesforce-14155550103', ...report, phones: ['work: +14155550103'] },
      {
        key: 'salesforce-noor@example.com',
        ...noor,
        company: 'Blue Door Films',
        role: 'Producer',
        emails: ['email: noor@example.com'],
      },
    ]);
    expect(notes).toEqual(['skipped 5 rows: footer or total of the export (lines 9, 10, 11, 12, 13)']);
    expect(ignored).toEqual(['Mailing Street', 'Mailing City']);
  });

  test('report of any columns: known by ids, which differ in case alone, or by the footer', async () => {
    expect((await mapSample('salesforce-report-ids.csv')).contacts).toEqual([
      {
        key: 'salesforce-003Dn00000AbCdEIAV',
        ...mara,
        role: undefined,
        emails: ['email: mara@example.com'],
        phones: ['work: +14155550101'],
      },
      { key: 'salesforce-003Dn00000AbCdeIAF', ...report, emails: ['email: joerg@example.com'] },
    ]);
    expect((await mapSample('salesforce-report-footer.csv')).contacts).toEqual([
      {
        key: 'salesforce-mara@example.com',
        ...mara,
        role: undefined,
        emails: ['email: mara@example.com'],
        phones: ['mobile: +14155550101'],
      },
      { key: 'salesforce-14155550105', ...noor, company: 'Blue Door Films', phones: ['mobile: +14155550105'] },
    ]);
  });

  test('export with API names: deleted records are skipped', async () => {
    const { contacts, notes, ignored } = await mapSample('salesforce.csv');
    expect(contacts).toEqual([
      {
        key: 'salesforce-003Dn00000AbCdEIAV',
        ...mara,
        company: undefined,
        emails: ['email: Mara.Lindqvist@example.com'],
        phones: ['work: +14155550101', 'mobile: +14155550102'],
      },
      { key: 'salesforce-003Dn00000AbCdeIAF', ...joerg, phones: ['other: +14155550104'] },
    ]);
    expect(notes).toEqual(['skipped 1 row: IsDeleted is "true" (line 5)']);
    expect(ignored).toEqual([
      ...['MailingStreet', 'MailingCity', 'Department', 'AssistantName', 'LeadSource', 'Birthdate', 'Description'],
    ]);
  });

  test.each([
    ['salesforce-data-loader.csv', 'Mara.Lindqvist@example.com'],
    ['salesforce-api.json', 'mara.lindqvist@example.com'],
  ])('%s has the same keys as a report', async (name, email) => {
    const { contacts, ignored } = await mapSample(name);
    expect(contacts).toEqual([
      { key: 'salesforce-003Dn00000AbCdEIAV', ...mara, emails: [`email: ${email}`], phones: ['work: +14155550101'] },
      { key: 'salesforce-003Dn00000AbCdeIAF', ...report, phones: ['mobile: +14155550104'] },
    ]);
    expect(ignored).toEqual([]);
  });
});

describe('Pipedrive', () => {
  test('people: the label is in the header, names are split, .0 is taken off the id', async () => {
    const { contacts, ignored } = await mapSample('pipedrive.csv');
    expect(contacts).toEqual([
      {
        key: 'pipedrive-17',
        ...mara,
        emails: ['work: Mara.Lindqvist@example.com', 'home: mara@example.net'],
        phones: ['work: +14155550101', 'mobile: +14155550102'],
      },
      {
        key: 'pipedrive-18',
        ...joerg,
        company: 'Nordlicht Optics',
        emails: ['other: joerg@example.com', 'other: j.w@example.org'],
        phones: ['home: +14155550103'],
      },
      { key: 'pipedrive-19', firstName: 'Noor' },
    ]);
    expect(ignored).toEqual(['Person - Label']);
  });

  test('people of a German account: as those of an English one', async () => {
    const [english, german] = [await mapSample('pipedrive.csv'), await mapSample('pipedrive-de.csv')];
    expect(german.contacts).toEqual(english.contacts);
    expect(german.ignored).toEqual(['Person - Offene Deals']);
  });

  test('older files: all addresses in one cell', async () => {
    expect((await mapSample('pipedrive-old.csv')).contacts).toEqual([
      {
        key: 'pipedrive-17',
        firstName: 'Mara',
        lastName: 'van der Berg',
        company: 'Nordlicht Optics',
        emails: ['email: mara@example.com', 'email: mara@example.net'],
        phones: ['phone: +14155550101', 'phone: +14155550102'],
      },
      { key: 'pipedrive-19', ...noor },
    ]);
  });

  test('API: lists with labels; people who were deleted are skipped', async () => {
    const { contacts, notes, ignored } = await mapSample('pipedrive-api.json');
    expect(contacts).toEqual([
      {
        key: 'pipedrive-17',
        ...mara,
        emails: ['work: Mara.Lindqvist@example.com'],
        phones: ['work: +14155550101', 'mobile: +14155550102'],
      },
      { key: 'pipedrive-19', firstName: 'Noor' },
    ]);
    expect(notes).toEqual([expect.stringMatching(/^skipped 1 row: active_flag is "false" /)]);
    expect(ignored).toEqual(['open_deals_count']);
  });
});

test('Zoho CRM: pairs of look-ups, several numbers', async () => {
  const { contacts, ignored } = await mapSample('zoho.csv');
  expect(contacts).toEqual([
    {
      key: 'zoho-zcrm_554023000000527001',
      ...mara,
      emails: ['email: Mara.Lindqvist@example.com', 'other: mara@example.net'],
      phones: ['work: +14155550101', 'mobile: +14155550102'],
    },
    { key: 'zoho-zcrm_554023000000527002', lastName: 'Weißhaupt', phones: ['home: +14155550103'] },
  ]);
  expect(ignored).toEqual([
    'Lead Source',
    'Department',
    'Date of Birth',
    'Mailing Street',
    'Mailing City',
    'Description',
  ]);
});

test('Mailchimp: subscribed and unsubscribed members; headers that occur twice do not matter', async () => {
  const { contacts, ignored } = await mapSample('mailchimp.csv');
  expect(contacts).toEqual([
    {
      key: 'mailchimp-8a1b2c3d4e',
      firstName: 'Mara',
      lastName: 'Lindqvist',
      emails: ['email: Mara.Lindqvist@example.com'],
      phones: ['phone: +14155550101'],
    },
    { key: 'mailchimp-9b2c3d4e5f', emails: ['email: joerg@example.com'] },
  ]);
  expect(ignored).toEqual(['Address', 'Birthday', 'NOTES', 'TAGS']);
  expect((await mapSample('mailchimp-unsubscribed.csv')).contacts).toEqual([
    { key: 'mailchimp-0c3d4e5f60', ...noor, emails: ['email: noor@example.com'] },
  ]);
});

test('LinkedIn: below three lines; people who left are skipped', async () => {
  const { contacts, notes, ignored } = await mapSample('linkedin.csv');
  expect(contacts).toEqual([
    {
      key: 'linkedin-mara-lindqvist-0a1b2c',
      ...mara,
      sourceUrl: 'https://www.linkedin.com/in/mara-lindqvist-0a1b2c',
      emails: ['email: mara@example.com'],
    },
    {
      key: 'linkedin-j%c3%b6rg-wei%c3%9fhaupt-0123',
      firstName: 'Jörg',
      lastName: 'Weißhaupt 🚀',
      company: 'Weißhaupt & Söhne, GmbH',
      role: 'Buyer',
      sourceUrl: 'https://www.linkedin.com/in/j%C3%B6rg-wei%C3%9Fhaupt-0123',
    },
    { key: 'linkedin-noor-haddad', ...noor, sourceUrl: 'https://www.linkedin.com/in/noor-haddad' },
  ]);
  expect(notes).toEqual(['skipped 1 row: people who left LinkedIn, of whom only the date is exported (line 7)']);
  expect(ignored).toEqual([]);
});

test('Shopify: the apostrophe is no part of an id or a number', async () => {
  const { contacts, ignored } = await mapSample('shopify.csv');
  expect(contacts).toEqual([
    {
      key: 'shopify-7309457916160',
      ...mara,
      role: undefined,
      emails: ['email: Mara.Lindqvist@example.com'],
      phones: ['phone: +14155550101', 'address: +14155550101'],
    },
    {
      key: 'shopify-7309457916161',
      firstName: 'Jörg',
      emails: ['email: joerg@example.com'],
      phones: ['address: +14155550102'],
    },
    { key: 'shopify-7309457916162', emails: ['email: hello@example.org'] },
  ]);
  expect(ignored).toEqual([
    ...['Default Address Address1', 'Default Address City', 'Total Spent', 'Total Orders', 'Note', 'Tags'],
  ]);
});

describe('Stripe', () => {
  test('customers: one name, two numbers', async () => {
    const { contacts, ignored } = await mapSample('stripe.csv');
    expect(contacts).toEqual([
      {
        key: 'stripe-cus_ExAmPlE00001',
        firstName: 'Mara J.',
        lastName: 'Lindqvist',
        emails: ['email: Mara.Lindqvist@example.com'],
        phones: ['phone: +14155550101', 'shipping: +14155550102'],
      },
      { key: 'stripe-cus_ExAmPlE00002', emails: ['email: hello@example.org'] },
    ]);
    expect(ignored).toEqual(['Description', 'company_size (metadata)']);
  });

  test('API: the same keys', async () => {
    const { contacts } = await mapSample('stripe-api.json');
    expect(contacts).toEqual([
      {
        key: 'stripe-cus_ExAmPlE00001',
        firstName: 'Mara J.',
        lastName: 'Lindqvist',
        emails: ['email: mara.lindqvist@example.com'],
        phones: ['phone: +14155550101', 'shipping: +14155550102'],
      },
      { key: 'stripe-cus_ExAmPlE00002', emails: ['email: hello@example.org'] },
    ]);
  });
});

test('the fixtures of every preset show what becomes of their rows', async () => {
  for (const preset of await loadPresets()) {
    expect([preset.name, runFixtures(preset).filter(({ ok }) => !ok)]).toEqual([preset.name, []]);
  }
});

test('the presets of one system give their contacts the same keys', async () => {
  const prefixes = new Map((await loadPresets()).map(({ name, keyPrefix }) => [name, keyPrefix]));
  const families = [
    ['google', 'google-old'],
    ['outlook', 'outlook-com'],
    ['hubspot', 'hubspot-api'],
    ['salesforce', 'salesforce-report'],
    ['pipedrive', 'pipedrive-api'],
    ['stripe', 'stripe-api'],
  ];
  for (const family of families) expect(new Set(family.map((name) => prefixes.get(name))).size).toBe(1);
  expect((await presetNamed('zoho')).keyPrefix).toBe('zoho-');
});
