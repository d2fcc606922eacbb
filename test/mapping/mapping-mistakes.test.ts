/** What people mistype in mappings, and what they are told: the place, what is wrong, and where it is known what was meant. */
import { describe, expect, test } from 'vitest';
import { keysAt } from '#src/mapping/mapping-schema.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';

/** The mistakes in the third line of a mapping, without the name of the file. */
function mistakesIn(text: string): readonly string[] {
  try {
    parseMapping(`name: a\nkey: id\n${text}\n`, 'm');
    return [];
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(/^m:3:/gm, '').split('\n') : [];
  }
}

const source = 'a value needs one of column, firstOf, join, template or constant';
const single = 'a value has exactly one of column, firstOf, join, template or constant';
const pattern = 'a pattern with {n} or {label} belongs in the column of emails and phones only';
const kinds = 'a value is a column, or an object such as { column: Phone } or { firstOf: [Mobile, Phone] }';

describe('a mistake in a value', () => {
  test.each([
    ['fields: { company: { colum: A } }', '22: unknown key "colum" in fields.company; did you mean "column"?'],
    ['fields: { company: {} }', `20: fields.company: ${source}`],
    [
      'fields: { company: { column: A, constant: x } }',
      `20: fields.company: column and constant exclude each other: ${single}`,
    ],
    ['fields: { company: [A] }', `20: fields.company: ${kinds}`],
    ['fields: { company: true }', `20: fields.company: ${kinds}`],
    ['fields: { company: { firstOf: [] } }', '31: fields.company.firstOf: a list of at least one value is needed'],
    ['fields: { company: { firstOf: A } }', '31: fields.company.firstOf: a list of values is needed'],
    [
      'fields: { company: { firstOf: [A, { colunm: B }] } }',
      '37: unknown key "colunm" in fields.company.firstOf[2]; did you mean "column"?',
    ],
    [
      'fields: { company: { join: [A, B], wiht: "-" } }',
      '36: unknown key "wiht" in fields.company; did you mean "with"?',
    ],
    ['fields: { company: { column: A, with: "-" } }', '39: fields.company.with: with is used only together with join'],
    [
      'fields: { company: { template: "{A" } }',
      '32: fields.company.template: a brace is not closed, or not opened; write {{ for a brace of the text',
    ],
    [
      'fields: { company: { template: "plain" } }',
      '32: fields.company.template: a template holds at least one column in braces, such as {Name}; without one, write constant',
    ],
    ['fields: { company: { column: A, part: 0 } }', '39: fields.company.part: a part is 1 to 100, or -1 to -100'],
    ['fields: { company: { column: A, part: first } }', '39: fields.company.part: a part is a number'],
    [
      'fields: { company: { column: A, separator: ";" } }',
      '44: fields.company.separator: separator is used only together with part',
    ],
    [
      'fields: { company: { column: A, transform: lowerCase } }',
      '44: fields.company.transform: expected a list, found a text',
    ],
    [
      'fields: { company: { column: A, transform: [lowercase] } }',
      '45: fields.company.transform[1]: not a transform; did you mean "lowerCase"?',
    ],
    [
      'fields: { company: { column: A, transform: [{ befor: x }] } }',
      '47: unknown key "befor" in fields.company.transform[1]; did you mean "before"?',
    ],
    [
      'fields: { company: { column: A, transform: [{ date: 5 }] } }',
      '53: fields.company.transform[1].date: a date format is a text such as DD.MM.YYYY, or a list of them',
    ],
    [
      'fields: { company: { column: A, transform: [{ values: [a] }] } }',
      '55: fields.company.transform[1].values: expected pairs such as { key: value }, found a list',
    ],
    ['fields: { company: { column: "Phone {n}" } }', `30: fields.company.column: ${pattern}`],
    [
      'fields: { company: { firstOf: [{ firstOf: [{ firstOf: [{ firstOf: [{ firstOf: [A] }] }] }] }] } }',
      '20: fields.company: values are nested at most 4 deep, and at most 50 in one value',
    ],
    [
      `fields: { company: { join: [${Array(50).fill('A').join(', ')}] } }`,
      '20: fields.company: values are nested at most 4 deep, and at most 50 in one value',
    ],
  ])('%s', (text, mistake) => {
    expect(mistakesIn(text)).toEqual([mistake]);
  });
});

describe('a mistake in an entry of a list', () => {
  test.each([
    ['phones: { column: A }', '9: phones: a list is needed, such as [{ column: Phone, label: work }]'],
    ['phones: [A]', '10: phones[1]: expected an object such as { key: value }, found a text'],
    ['phones: [{ column: A, label: "" }]', '30: phones[1].label: a label is needed'],
    [
      'phones: [{ column: A, label: { colum: B } }]',
      '32: unknown key "colum" in phones[1].label; did you mean "column"?',
    ],
    [
      'phones: [{ column: A, label: { column: "B {n}" } }]',
      '40: phones[1].label.column: {n} needs a pattern in the column of the entry, such as Phone {n}',
    ],
    ['phones: [{ column: "A {n} {n}" }]', '20: phones[1].column: a pattern holds {n} and {label} once each'],
    ['emails: [{ firstOf: ["Mail {n}"] }]', `22: emails[1].firstOf[1]: ${pattern}`],
    [
      'phones: [{ column: A }, { column: B, country: Germany }]',
      '47: phones[2].country: not a country code: use the two letters of ISO 3166-1, e.g. DE, AT or GB',
    ],
    [
      'phones: [{ column: A, country: { column: B, default: UK } }]',
      '54: phones[1].country.default: not a country code: use the two letters of ISO 3166-1, e.g. DE, AT or GB',
    ],
    ['phones: [{ column: A, skip: { equals: [] } }]', '39: phones[1].skip.equals: a text is needed'],
    [
      'phones: [{ column: A, skip: { equals: a, contains: b } }]',
      '29: phones[1].skip: equals and contains exclude each other: a condition has exactly one of equals, beginsWith, contains, isBlank or isFilled',
    ],
    ['emails: [{ column: A, onInvalid: keep }]', '34: emails[1].onInvalid: write reject or drop'],
    ['customFields: [{ column: A }]', '16: "customFields[1].key" is missing'],
    ['customFields: [{ key: k }]', `16: customFields[1]: ${source}`],
  ])('%s', (text, mistake) => {
    expect(mistakesIn(text)).toEqual([mistake]);
  });
});

describe('a mistake elsewhere', () => {
  test.each([
    ['onInvalid: ignore', '12: onInvalid: write reject or drop'],
    ['optional: yes', '11: optional: write true or false'],
    ['duplicateKeys: first', '16: duplicateKeys: write dead, lastWins or firstWins'],
    ['sheet: 5', '8: sheet: a text is needed'],
    [
      'encoding: klingon',
      '11: encoding: no encoding is called that; write utf-8, windows-1252, shift_jis, gb18030 and so on',
    ],
    ['delimiter: ";;"', '12: delimiter: write one character, or tab'],
    [
      'skipRows: [{ column: A }]',
      '12: skipRows[1]: a condition needs one of equals, beginsWith, contains, isBlank or isFilled',
    ],
    ['skipRows: [{ isBlank: true }]', '23: skipRows[1].isBlank: isBlank needs a column'],
    ['keepRows: [{ equals: x }]', '12: keepRows[1]: a condition in keepRows needs a column'],
    ['fixtures: [{ row: {} }]', '12: fixtures[1]: a fixture needs one of contact, problems or skipped'],
    [
      'fixtures: [{ row: {}, contact: { externalId: "1", emials: [] } }]',
      '51: unknown key "emials" in fixtures[1].contact; did you mean "emails"?',
    ],
    [
      'defaultCountry: 49',
      '17: defaultCountry: a country is its code, such as DE, or { column: Country, default: DE }',
    ],
    ['\tonBlank: keep', '1: YAML is indented by spaces, not by tabs'],
    ['fields: { company: @x }', '20: a text that begins with this character needs quotes'],
    [
      'fields: { company: A: x }',
      '20: a second colon begins a pair inside of a pair; put a text with a colon in quotes',
    ],
    ['--- \nb: 1', '1: the file holds one YAML document; remove the line "---"'],
  ])('%s', (text, mistake) => {
    expect(mistakesIn(text)).toEqual([mistake]);
  });

  test('in the key', () => {
    expect(() => parseMapping('name: a\nkey: { firstOf: [Id], hashlong: true }\n', 'm')).toThrow(
      'm:2:23: unknown key "hashlong" in key; did you mean "hashLong"?',
    );
  });

  test('an empty file, and one that holds something else', () => {
    expect(() => parseMapping('# nothing\n', 'm')).toThrow(
      'm:1:1: the mapping is empty; it needs at least name and key',
    );
    expect(() => parseMapping('[a]', 'm')).toThrow('m:1:1: expected an object such as { key: value }, found a list');
  });

  test('an alias without its anchor, and lists without end', () => {
    expect(() => parseMapping('a: *b', 'm')).toThrow(
      'm:1:1: an alias (*name) stands for nothing: no &name comes before it',
    );
    expect(() => parseMapping('['.repeat(10_000), 'm')).toThrow('lists or objects are nested too deep');
  });
});

test('the keys at a place are known for "did you mean"', () => {
  expect(keysAt(['fields', 'company', 'firstOf', 0, 'join', 1])).toContain('template');
  expect(keysAt(['phones', 3, 'label'])).toEqual(['column', 'transform', 'values', 'default']);
  expect(keysAt(['phones', 3, 'country'])).toEqual(['column', 'others', 'default']);
  expect(keysAt(['key'])).toContain('hashLong');
  expect(keysAt(['skipRows', 0])).toContain('isAlone');
  expect(keysAt(['fixtures', 0, 'row'])).toEqual([]);
  expect(keysAt(['nothing', 'here'])).toEqual([]);
});
