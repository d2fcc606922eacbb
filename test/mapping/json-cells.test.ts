/** Cells of a table that hold what a database or a program writes for a list, and escapes in place of characters. */
import { describe, expect, test } from 'vitest';
import { lines, propose, six, tableFacts } from './propose/support/proposals.ts';
import { codesOf, desiredOf, mapping, mapRecord, problemsOf, warningsOf } from './support.ts';

const number = '+14155550101';
const other = '+14155550102';
const row = (cells: Record<string, string>, context = {}) =>
  mapRecord({ externalId: 'a', firstName: 'Ada', ...cells }, context);
const listed = (...elements: readonly unknown[]) => JSON.stringify(elements);

describe('a list of JSON in a cell', () => {
  test('is read element by element, with the labels in it', () => {
    const phones = listed({ type: 'work', number }, { type: 'mobile', number: other });
    const expected = {
      items: [
        { label: 'work', value: number },
        { label: 'mobile', value: other },
      ],
    };
    expect(desiredOf(row({ phones })).phones).toEqual([{ slot: 'phones', ...expected }]);
    const by = mapping({ phones: [{ column: 'phones', label: 'phone' }] });
    expect(desiredOf(mapRecord({ id: 'a', phones }, {}, by)).phones).toMatchObject([expected]);
  });

  test('may hold texts, and one object may stand alone', () => {
    const mapped = row({
      emails: listed('ada@example.com', 'a@example.com'),
      phone: JSON.stringify({ value: number }),
    });
    expect(desiredOf(mapped)).toMatchObject({
      emails: [{ items: [{ value: 'ada@example.com' }, { value: 'a@example.com' }] }],
      phones: [{ items: [{ label: 'phone', value: number }] }],
    });
  });

  test('says nothing where nothing is left of it, as any other cell', () => {
    const fax = listed({ type: 'fax', number });
    expect([desiredOf(row({ phones: fax })).phones, warningsOf(row({ phones: fax }))]).toEqual([[], ['phoneLeftOut']]);
    for (const empty of ['[]', '[{}]', '[""]', '{}'])
      expect(warningsOf(row({ phones: empty })), empty).toEqual(['placeholderText']);
    expect(desiredOf(row({ phones: fax }, { onBlank: 'clear' })).phones).toEqual([{ slot: 'phones', items: [] }]);
  });

  test('names its column where it cannot be read, and no path into the cell', () => {
    const [problem] = problemsOf(row({ phones: listed({ nr: number }) }));
    expect(problem).toMatchObject({ code: 'shapeWrong', field: 'phones', value: listed({ nr: number }) });
    expect(problem?.hint).not.toContain('phones[]');
  });

  test('is proposed for what it holds', () => {
    const facts = tableFacts(
      ['id', 'phones', 'emails'],
      six((n) => [`a${n}`, listed({ type: 'work', number: `+1415555010${n}` }), listed(`${n}@example.com`)]),
    );
    expect(lines(facts).slice(1)).toEqual(['phones → phone (certain)', 'emails → email (certain)']);
    expect(propose(facts).mapping.phones).toEqual([{ column: 'phones', label: 'phone' }]);
  });
});

test.each([`[{'type': 'work', 'number': '${number}'}]`, '{type=work, number=x}', '[object]'])(
  '%j in a phone cell is said to be of a program',
  (phone) => {
    const [problem] = problemsOf(row({ phone }));
    expect(problem).toMatchObject({ field: 'phone', message: expect.stringContaining('a list or an object') });
  },
);

describe('an escape with a backslash', () => {
  test.each(['Nordlicht\\nGmbH', 'A\\tB', 'X \\\\ Y'])('%j in a text stays, with a warning', (company) => {
    const mapped = row({ company });
    expect([desiredOf(mapped).scalars.company, warningsOf(mapped)]).toEqual([company, ['textBackslashes']]);
  });

  test('is no other backslash', () => {
    expect(warningsOf(row({ company: 'AC\\DC', role: 'A\\B' }))).toEqual([]);
    for (const role of ['C:\\new\\texts', 'CORP\\nina', 'NORD-1.LOCAL\\robin.lee', '\\\\server\\notes'])
      expect(warningsOf(row({ role })), role).toEqual([]);
  });

  test('is none in front of what is no number or address by itself', () => {
    const mapped = row({ phone: 'X\\n12', email: 'CORP\\nina@example.com' });
    expect(codesOf(mapped)).toEqual(['phoneLetters', 'emailInvalid']);
    for (const { message } of problemsOf(mapped)) expect(message).not.toContain('escape');
  });

  test('between two numbers or addresses is named', () => {
    const mapped = row({ phone: `${number}\\n${other}`, email: 'a@example.com\\nb@example.com' });
    expect(codesOf(mapped)).toEqual(['phoneLetters', 'emailInvalid']);
    const named = expect.stringMatching(/escape of a line break or a tab/);
    expect(problemsOf(mapped)).toMatchObject([{ message: named }, { message: named }]);
    expect(problemsOf(row({ phone: `${number}\\r\\n` }))).toMatchObject([{ message: named }]);
  });
});
