/** vCards from the dropped file to the contact, and back through the fix-file (`docs/mapping.md`, "vCard"). */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const card = (...lines: string[]): string => ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n');
const byUid = mapping({
  key: 'UID',
  fields: { firstName: 'FN' },
  phones: [{ column: 'TEL', label: 'phone', optional: true }],
  emails: [{ column: 'EMAIL', label: 'email', optional: true }],
});

const sample = (name: string): Promise<string> =>
  readFile(new URL(`../../config/samples/exports/${name}`, import.meta.url), 'utf8');

/** What each card of the samples becomes: key, names, company, role, and the items with their labels. */
const samples: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  [
    'icloud.vcf',
    {
      '0C8F3A52-7D14-4E0B-9B3E-5F2E6A1D7C01': {
        firstName: 'Astrid Karin',
        lastName: 'Lindqvist',
        company: 'Nordhavn Boats',
        role: 'Sales Manager',
        emails: ['work astrid.lindqvist@example.com', 'home astrid@example.com'],
        phoneNumbers: ['mobile +14155550111', 'main +14155550112'],
      },
      '6B1D5E90-2C47-4F7A-8E55-B1C9D0F2A302': {
        ...{ firstName: null, lastName: null, company: 'Café Métropole', role: null },
        ...{ emails: [], phoneNumbers: ['Reservations +14155550114'] },
      },
      'E7A4C1B8-93F6-4D21-A0D8-3C5B7F9E6403': {
        ...{ firstName: 'Chidi', lastName: 'Okonkwo', company: null, role: null },
        ...{ emails: [], phoneNumbers: ['mobile +14155550115'] },
      },
    },
  ],
  [
    'google.vcf',
    {
      'benedikt.sommer@example.com': {
        ...{ firstName: 'Benedikt', lastName: 'Sommer', company: 'Sommer & Söhne', role: 'Geschäftsführer' },
        emails: ['work Benedikt.Sommer@example.com'],
        phoneNumbers: ['mobile +14155550121', 'work +14155550122'],
      },
      '14155550123': {
        ...{ firstName: 'Priya Raman', lastName: null, company: null, role: null },
        ...{ emails: [], phoneNumbers: ['Reception +14155550123'] },
      },
    },
  ],
  [
    'outlook.vcf',
    {
      'zoe.gruenwald@example.com': {
        ...{ firstName: 'Zoë', lastName: 'Grünwald', company: 'Northwind Clinic', role: 'Head of Department' },
        emails: ['email zoe.gruenwald@example.com'],
        phoneNumbers: ['work +14155550131', 'mobile +14155550132'],
      },
      '14155550134': {
        ...{ firstName: 'Tomás', lastName: 'Ferreira', company: null, role: null },
        ...{ emails: [], phoneNumbers: ['home +14155550134'] },
      },
    },
  ],
  [
    'nextcloud.vcf',
    {
      'b0a3c5d7-12f4-4a86-9c3d-7e5f1a2b3c41': {
        ...{ firstName: 'Mireille', lastName: 'Dubois', company: 'Atelier Dubois', role: 'Gérante' },
        emails: ['work mireille.dubois@example.com'],
        phoneNumbers: ['mobile +14155550141', 'work +14155550142'],
      },
      'c1b4d6e8-23a5-4b97-8d4e-8f6a2b3c4d52': {
        ...{ firstName: 'Johanna', lastName: 'van der Berg', company: null, role: null },
        ...{ emails: [], phoneNumbers: ['home +14155550143'] },
      },
    },
  ],
];

describe('vCards without a mapping', () => {
  it.each(samples)('%s: each card becomes a contact', async (name, people) => {
    const bench = await openRunsBench({ mapping: null });
    const run = await bench.import(name, await sample(name));
    const count = Object.keys(people).length;
    expectCounts(run, { rows: count, created: count });
    for (const [key, person] of Object.entries(people)) {
      const { defaultFields } = await bench.world.contactOf(`vcard-${key}`);
      const { emails, phoneNumbers, ...names } = defaultFields;
      const shown = (items: typeof emails) => items.map((item) => `${item.name} ${item.value}`);
      expect({ ...names, emails: shown(emails), phoneNumbers: shown(phoneNumbers) }).toEqual(person);
    }
  });

  it("has the further numbers of Outlook, and makes no key of a company's", async () => {
    const bench = await openRunsBench({ mapping: null });
    const company = [
      'ORG:Adler GmbH',
      'X-MS-TEL;VOICE;COMPANY:+1 415 555 0160',
      'X-MS-TEL;VOICE;TTYTDD:+1 415 555 0169',
    ];
    const text = [
      card('N:Adler;Ida', 'TEL;WORK:+1 415 555 0161', ...company, 'X-MS-TEL;VOICE;ASSISTANT:+1 415 555 0162'),
      card('N:Bussard;Max', ...company),
      card('N:Bussard;Eva', ...company),
    ].join('');
    expectCounts(await bench.import('outlook.vcf', text), { rows: 3, created: 3 });
    const shown = async (key: string) =>
      (await bench.world.contactOf(key)).defaultFields.phoneNumbers.map(({ name, value }) => `${name} ${value}`);
    expect(await shown('vcard-14155550161')).toEqual([
      'work +14155550161',
      'company +14155550160',
      'assistant +14155550162',
    ]);
    expect(await shown('vcard-max|bussard||adler gmbh')).toEqual(['company +14155550160']);
  });

  it('stops where a mapping reads numbers and leaves out those of Outlook', async () => {
    const bench = await openRunsBench({ mapping: byUid });
    const run = await bench.import('outlook.vcf', card('UID:a', 'FN:Ida', 'X-MS-TEL;VOICE;CALLBACK:+1 415 555 0163'));
    expect(run).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardUnmapped', facts: { unmappedCount: 1 } },
    });
  });

  it('goes in again from its fix-file, which has no format of its own', async () => {
    const bench = await openRunsBench({ mapping: null });
    const text = [
      card('N:Brandt;Mara', 'UID:a', 'TEL:+14155550101', 'EMAIL:mara@example.com'),
      card('N:Okafor;Nils', 'UID:b', 'TEL:+14155550102', `ORG:${'x'.repeat(70_000)}`),
      card('NOTE:nothing else'),
    ].join('');
    const run = await bench.import('people.vcf', text);
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    const fix = await bench.fixFile(run);
    expect(
      fix.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)._code),
    ).toEqual(['cellTooLong', 'keyMissing']);
    const mended = fix.text
      .replace(/x{70000}/, 'Leuchtturm')
      .replace('"NOTE"', '"UID":"c","FN":"Ada","nameOnly":"Ada","NOTE"');
    expectCounts(await bench.import('mended.ndjson', mended), { rows: 2, created: 2 });
    const { defaultFields } = await bench.world.contactOf('vcard-b');
    expect(defaultFields).toMatchObject({ firstName: 'Nils', company: 'Leuchtturm' });
  });
});

describe('the fix-file of vCards', () => {
  it('is lines of JSON, names the line of the card, and goes in again by the same mapping', async () => {
    const bench = await openRunsBench({ mapping: byUid });
    const text = [
      card('UID:a', 'FN:Mara', 'TEL;type=CELL:+1 415 555 0101'),
      card('UID:b', 'FN:Nils', 'item1.TEL:call me', 'item1.X-ABLabel:Praxis', 'EMAIL:nils@example.com'),
    ].join('');
    const run = await bench.import('people.vcf', text);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    const fix = await bench.fixFile(run);
    expect(fix.path).toMatch(/people\.ndjson$/);
    expect(JSON.parse(fix.text)).toMatchObject({ UID: 'b', TEL: [{ name: 'Praxis', value: 'call me' }], _line: 7 });
    expectCounts(await bench.import('again.ndjson', fix.text), { rows: 1, dead: 1 });
    expectCounts(await bench.import('mended.ndjson', fix.text.replace('call me', '+1 415 555 0102')), {
      rows: 1,
      created: 1,
    });
    expect((await bench.world.contactOf('b')).defaultFields).toMatchObject({
      firstName: 'Nils',
      phoneNumbers: [{ name: 'Praxis', value: '+14155550102' }],
      emails: [{ name: 'email', value: 'nils@example.com' }],
    });
  });

  it('takes the id of macOS as the key, and says so where the person is known by the e-mail address', async () => {
    const bench = await openRunsBench({ mapping: null });
    const ids = ['11', '22'].map((one) => `X-ABUID:7F3A1C52-0000-4D0E-8C21-6B5E2A9D44${one}\\:ABPerson`);
    const mara = (mail: string, ...id: string[]) => card('N:Brandt;Mara', `EMAIL:${mail}`, 'TEL:+14155550101', ...id);
    const nils = card('N:Okafor;Nils', 'EMAIL:nils@example.com', ids[1] ?? '');
    expectCounts(await bench.import('mac.vcf', nils + mara('mara@example.com', ids[0] ?? '')), { rows: 2, created: 2 });
    await bench.world.contactOf('vcard-7F3A1C52-0000-4D0E-8C21-6B5E2A9D4411');
    expectCounts(await bench.import('moved.vcf', nils + mara('brandt@example.com', ids[0] ?? '')), {
      ...{ rows: 2, updated: 1, unchanged: 1 },
    });
    const before = await openRunsBench({ mapping: null });
    await before.import('phone.vcf', mara('mara@example.com'));
    const run = await before.import('mac.vcf', nils + mara('mara@example.com', ids[0] ?? ''));
    expectCounts(run, { rows: 2, created: 2 });
    expect(run.notes.join('\n')).toContain('of a person whom this workspace knows under another key');
  });

  it('says of colleagues with one number that they are different people, also where they are far apart', async () => {
    const bench = await openRunsBench({ mapping: null });
    const at = (name: string) => card(`N:${name}`, 'ORG:Kran', 'TEL:+14155550101');
    const others = Array.from({ length: 600 }, (_, index) => card(`N:Roe;Zoe`, `UID:${index}`)).join('');
    const text = at('Amsel;Anna') + at('Bussard;Ben') + others + at('Celik;Cem');
    const run = await bench.stage(await bench.submit('people.vcf', text));
    expectCounts(run, { rows: 603, pending: 600, dead: 3 });
    const problems = (await bench.deadRows(run)).flatMap((row) => row.problems);
    expect(problems.map(({ message }) => message).toSorted()).toEqual([
      'lines 1 and 3013 have the same key, and are different people by their names',
      'lines 1 and 7 have the same key, and are different people by their names',
      'lines 1 and 7 have the same key, and are different people by their names',
    ]);
    expect(problems[0]?.hint).toContain('Different people need different keys: give each an id');
  });

  it('does not let a card in that never ended, until somebody says that it is complete', async () => {
    const bench = await openRunsBench({ mapping: byUid });
    const open = 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:a\r\nFN:Mara\r\n';
    const run = await bench.import('people.vcf', `${open}${card('UID:b', 'FN:Nils')}FN:lost\r\nEND:VCARD\r\n`);
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('again.ndjson', text), { rows: 2, dead: 2 });
    expect((await bench.letters()).map(({ code }) => code).toSorted()).toEqual(['cardNeverBegins', 'cardNeverEnds']);
    const said = text.replace('"_code":"cardNeverEnds"', '"_code":""');
    expectCounts(await bench.import('said.ndjson', said), { rows: 2, created: 1, dead: 1 });
  });
});

describe('one card for each file of a feed', () => {
  const person = (number: number) => card(`UID:p${number}`, `N:Person;P${number}`, `TEL:+1415555017${number}`);
  const all = [1, 2, 3, 4].map(person).join('');
  const openFeed = (settings: object) =>
    openRunsBench({ mapping: null, configured: { cards: { onMissing: 'clear phones', ...settings } } });
  const inFeed = { feed: 'cards' };
  const numberOf = async (bench: RunsBench, number: number) =>
    (await bench.world.contactOf(`vcard-p${number}`)).defaultFields.phoneNumbers.map(({ value }) => value);

  it('stops before it empties those whom a file with one card lacks, with a list or another card before it', async () => {
    const bench = await openFeed({});
    await bench.import('1.vcf', person(1), inFeed);
    const second = await bench.import('2.vcf', person(2), inFeed);
    expect(second).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates', facts: { updatesCount: 1 } } });
    expect(second.reason?.hint).toContain(
      'Where each file holds one person, write kind: delta into the configuration of feed cards, or join them to one file (cat *.vcf > all.vcf).',
    );
    expect(second.reason?.message).toBe(
      'stopped before the first write: the file holds one card alone, and would change 1 contact of people whom it no longer has, since a full file says that all others have left',
    );
    expect(second.reason?.hint).not.toContain('--max-change');
    expect(await numberOf(bench, 1)).toEqual(['+14155550171']);
    const whole = await bench.import('all.vcf', all, inFeed);
    expect([whole.state, whole.counts.created]).toEqual(['done', 3]);
    const third = await bench.import('3.vcf', person(3), inFeed);
    expect([third.state, third.shape?.missing?.count]).toEqual(['stopped', 3]);
    expect(await numberOf(bench, 4)).toEqual(['+14155550174']);
  });

  it('lets one person leave a list of two', async () => {
    const bench = await openFeed({});
    await bench.import('both.vcf', person(1) + person(2), inFeed);
    const run = await bench.import('one.vcf', person(1), inFeed);
    expect(run.state).toBe('done');
    expect(await numberOf(bench, 2)).toEqual([]);
  });

  it('says in a note that others count as having left, where nothing becomes of them; not in a delta', async () => {
    const bench = await openFeed({ onMissing: 'report' });
    await bench.import('1.vcf', person(1), inFeed);
    const run = await bench.import('2.vcf', person(2), inFeed);
    expect([run.state, run.notes.filter((note) => note.includes('kind: delta')).length]).toEqual(['done', 1]);
    const delta = await openFeed({ kind: 'delta', onMissing: 'report' });
    await delta.import('1.vcf', person(1), inFeed);
    const later = await delta.import('2.vcf', person(2), inFeed);
    expect(later.notes.filter((note) => note.includes('kind: delta'))).toEqual([]);
  });
});
