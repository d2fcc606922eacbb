/**
 * What an element of a JSON list that lacks the member of the mapping may hold under another name: a row is rejected for what may be a value, and
 * for nothing else (`docs/mapping.md`, "Paths in JSON").
 */
import { describe, expect, test } from 'vitest';
import { codesOf, mapJson, mapping } from './support.ts';

const number = '+14155550101';

const phoneCodes = (element: object) =>
  codesOf(
    mapJson({ id: 7, people: [{ mobile: number }, element] }, {}, mapping({ phones: [{ column: 'people[].mobile' }] })),
  );
const emailCodes = (element: object) =>
  codesOf(
    mapJson(
      { id: 7, people: [{ mail: 'ada@example.com' }, element] },
      {},
      mapping({ emails: [{ column: 'people[].mail' }] }),
    ),
  );

describe('beside a phone number', () => {
  test.each<object>(
    [
      ...[
        '+49 30 901820',
        '(+49) 30 901820',
        '030 901820',
        '030/901820',
        '(415) 555-0101',
        '415.555.0101',
        '14155550101',
      ],
      ...['004930901820', '5550101', '555-0101', 'Tel. 030 901820', 'mobile: +49 170 1234567', '4.15E+09'],
      ...[
        '030 901820 x12',
        '030 901820; 030 901821',
        '0711 1234/567890',
        'Frau Meier: 030 901820',
        'tel:+49-30-901820',
      ],
      ...['+49 30 901820, ada@example.com', 'https://example.com/7 +49 30 901820', 'since 2026-03-09: 030 901820'],
    ].map((nr) => ({ name: 'work', nr })),
  )('a text that may be one rejects the row: %j', (element) => {
    expect(phoneCodes(element)).toEqual(['shapeWrong']);
  });

  test.each<object>([
    ...[{ nr: 14155550101 }, { nr: 4930901820 }, { landline: [number] }, { contact: { nr: number } }, { name: number }],
    ...[
      { label: '030 901820' },
      { type: number },
      { id: number },
      { contactId: number },
      { whatsapp: '4915112345678' },
    ],
    ...[{ list: [{ zip: '10115', tel: '030 901820' }] }, { number: '5550101' }],
    ...[
      { wa_id: '4917112345678' },
      { callerId: '0171 2345678' },
      { viberId: 4917112345678 },
      { prepaid: '0171 2345678' },
    ],
  ])('so does one under any name, at any depth, and a number of JSON: %j', (element) => {
    expect(phoneCodes(element)).toEqual(['shapeWrong']);
  });

  test.each<object>([
    ...[{}, { firstName: 'Bob', email: 'bob1985@example.com' }, { firstName: 'Bob', contactId: 70231 }],
    ...[
      { contactId: 7309457916160 },
      { contactId: '7309457916160' },
      { external_id: '0012345678' },
      { ids: [10023456] },
    ],
    ...[{ ref: '0e984725-c51c-4bf4-9960-e1c80e27aba0' }, { ref: '01234567-1234-4bf4-9960-e1c80e27aba0' }],
    ...[{ ref: '003Dn00000AbCdEIAV' }, { photo: `/9j/4AAQSkZJRgABAQ${'0123456789+/0123456789'.repeat(20)}` }],
    ...[{ address: { zip: '94105', city: 'San Francisco' } }, { zip: '94105-1234' }, { postalCode: '0123-4567' }],
    ...[{ url: 'https://example.com/people/1234567890' }, { site: 'See https://example.com/0301234567' }],
    ...[
      { since: '2026-03-09' },
      { since: '2026-03-09T10:00:00.000+02:00' },
      { since: '09.03.2026' },
      { on: '03/09/2026' },
    ],
    ...[{ since: '2026-03-09 10:00:00' }, { note: 'Born 09.03.1980, joined 2020-01-02' }, { createdAt: 1732696535000 }],
    ...[
      { name: 'Bob', age: 41, visits: 1200, rank: -12345678, lat: 52.52000812 },
      { primary: true, order: 2, note: null },
    ],
    ...[
      { street: 'Hauptstraße 12, 10115 Berlin' },
      { note: 'Order 12345678 was sent' },
      { room: 'B 204', floor: '02' },
    ],
    ...[
      { label: 'Phone 2', type: 'work' },
      { handle: '@ada19851985' },
      { hours: '08:00-16:30' },
      { nr: '-' },
      { nr: '12' },
    ],
  ])('ids, places, dates, links and addresses do not: %j', (element) => {
    expect(phoneCodes(element)).toEqual([]);
  });
});

describe('beside an e-mail address', () => {
  test.each<object>([
    ...[{ address: 'x', other: 'bob@example.com' }, { id: 'bob@example.com' }, { contact: ['Bob <bob@example.com>'] }],
    ...[{ name: 'mailto:bob@example.com' }, { note: 'write to bob@example.com, please' }, { broken: 'bob@example' }],
  ])('a text with one rejects the row: %j', (element) => {
    expect(emailCodes(element)).toEqual(['shapeWrong']);
  });

  test.each<object>([
    ...[{}, { phone: number }, { handle: '@bob' }, { url: 'https://social.example/@bob' }, { note: 'lunch @ noon' }],
    ...[{ feed: 'https://bob@example.com/7' }],
  ])('anything else does not: %j', (element) => {
    expect(emailCodes(element)).toEqual([]);
  });
});

test('a long text is looked through in a moment', () => {
  const texts = [
    '0 '.repeat(200_000),
    '0-'.repeat(200_000),
    `${'x@'.repeat(200_000)}`,
    '(0'.repeat(200_000),
    '+ '.repeat(200_000),
    '1, '.repeat(100_000),
    '1/'.repeat(100_000),
    '12;\n'.repeat(100_000),
  ];
  expect(texts.map((text) => phoneCodes({ text }).length)).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
});
