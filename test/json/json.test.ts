/** The parts of the JSON reader by themselves; what readers make of them: `test/sources/read-json.test.ts`, `test/corpora`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDocumentScanner, type DocumentHandlers } from '#src/json/document-scanner.ts';
import { createLineScanner } from '#src/json/line-scanner.ts';
import { JsonError, placeIn } from '#src/json/place.ts';
import { parseText, recordValue, textOf } from '#src/json/record-value.ts';
import { createMeasure } from '#src/json/value-scanner.ts';
import { walkJson } from '#src/json/walk-json.ts';

const limits = { valueBytesMax: 1_000, depthMax: 10 };
const damage = fc.tuple(
  fc.nat(),
  fc.constantFrom('', ',', '"', '}', ']', '{', '[', '0', '\\', ' ', ':', 'n', '\n', '\u0001'),
);

function damaged(text: string, [position, put]: [number, string]): string {
  const at = position % (text.length + 1);
  return text.slice(0, at) + put + text.slice(at + 1);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Everything that the scanner gives, in order. A member called `list` holds records, `skip` is skipped, others are values. */
function scan(text: string, pieceBytes = Number.MAX_SAFE_INTEGER, onRecord?: DocumentHandlers['onRecord']): string[] {
  const bytes = Buffer.from(text);
  const seen: string[] = [];
  const scanner = createDocumentScanner(
    {
      onRoot: (kind, { line, column }) => void seen.push(`root ${kind} ${line}:${column}`),
      onMember: ({ name, kind, place }) => {
        seen.push(`member ${name} ${kind} ${place.line}:${place.column}`);
        const as = name === 'list' && kind === 'list' ? 'records' : 'value';
        return { as, keep: name === 'skip' ? 'skip' : 'drop' };
      },
      onRecord: (record, index) => {
        onRecord?.(record, index);
        seen.push(`record ${index} ${record.place.line}:${record.place.column} ${textOf(record)}`);
      },
      onValue: (value) => void seen.push(value.isDropped ? 'dropped' : `value ${value.memberCount} ${textOf(value)}`),
      onEnd: () => void seen.push('end'),
    },
    limits,
  );
  for (let at = 0; at < bytes.length; at += pieceBytes) scanner.write(bytes.subarray(at, at + pieceBytes));
  seen.push(scanner.end());
  return seen;
}

function errorOf(work: () => unknown): JsonError {
  try {
    work();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('scanning a document', () => {
  it('gives the records of a root list and of a list in an object, and other members as values', () => {
    expect(scan('[1,\n {"a":[2]}]')).toEqual([
      'root list 1:1',
      'record 0 1:2 1',
      'record 1 2:2 {"a":[2]}',
      'end',
      'complete',
    ]);
    expect(scan('{"m":{"x":1,"y":{"z":2}},"list":["a"],"skip":[{}],"last":null}')).toEqual([
      'root object 1:1',
      'member m object 1:6',
      'value 3 {"x":1,"y":{"z":2}}',
      'member list list 1:33',
      'record 0 1:34 "a"',
      'member skip list 1:46',
      'value 0 ',
      'member last scalar 1:58',
      'value 0 null',
      'end',
      'complete',
    ]);
    expect(scan(' 42')).toEqual(['root scalar 1:2', 'value 0 42', 'end', 'complete']);
    expect(scan(' \n')).toEqual(['empty']);
  });

  it('gives the same wherever the text is cut', () => {
    const text = '\r\n{"m\\"é":{"x":"\\\\\\"}"},"list":[\r{"é":"😀\\u00e9"} ,\r\n-1.5e3,"]",[{}]],"skip":["\\"",{}]}\n';
    const whole = scan(text);
    expect(whole.filter((one) => one.startsWith('record'))).toEqual([
      'record 0 3:1 {"é":"😀\\u00e9"}',
      'record 1 4:1 -1.5e3',
      'record 2 4:8 "]"',
      'record 3 4:12 [{}]',
    ]);
    for (let pieceBytes = 1; pieceBytes < 30; pieceBytes += 1) expect(scan(text, pieceBytes)).toEqual(whole);
  });

  it('refuses a record that is too long, drops another value, and bounds the depth of both', () => {
    const long = `"${'x'.repeat(1_000)}"`;
    expect(errorOf(() => scan(`[1,\n${long}]`))).toMatchObject({ kind: 'tooLong', place: { line: 2, column: 1 } });
    expect(errorOf(() => scan(`[${long.slice(0, -1)}`, 100))).toMatchObject({ kind: 'tooLong' });
    expect(scan(`{"m":${long},"list":[1]}`, 100)).toContain('dropped');
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(scan(nested(10))).toContain('complete');
    expect(scan(`{"list":${nested(9)},"skip":${nested(9)}}`)).toContain('complete');
    for (const text of [nested(11), `{"list":${nested(10)}}`, `{"m":${nested(10)}}`, `{"skip":\n${nested(10)}}`])
      expect(errorOf(() => scan(text)).kind).toBe('tooDeep');
  });

  it('ends a record where it stops being JSON, so that the error names that place', () => {
    const parse: DocumentHandlers['onRecord'] = (record) => parseText(textOf(record), record.place);
    const placeOf = (text: string) => {
      const { place, found } = errorOf(() => scan(text, 7, parse));
      return [place.line, place.column, found];
    };
    expect(placeOf('[{"a":1},\n{"a":[1}, {"b":2}]')).toEqual([2, 8, '}']);
    expect(placeOf('[\n{"a":"open\n},{"b":"2"}]')).toEqual([2, 11, '\n']);
    expect(placeOf('[{"a": tru, "b":[1}]')).toEqual([1, 11, ',']);
    expect(placeOf('[{"é":1 "b":2}]')).toEqual([1, 10, '"']);
    expect(placeOf('[{"a": x, "b"')).toEqual([1, 8, 'x']);
    expect(placeOf('[{"a":1')).toEqual([1, 8, null]);
    expect(placeOf('{"skip":[1}}')).toEqual([1, 11, '}']);
  });
});

describe('walking through a text', () => {
  it('finds a flaw exactly where JSON.parse refuses the text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.option(damage), (json, change) => {
        const text = change === null ? json : damaged(json, change);
        expect(walkJson(text, {}) === null).toBe(isJson(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['{"a" 1}', 5, 'a colon'],
    ['[1 2]', 3, 'a comma or ]'],
    ['{"a":1,}', 7, 'a member name'],
    ['[1,]', 3, 'a value'],
    ['1 2', 2, 'nothing more'],
    ['"\\x"', 2, null],
    ['"\\u12G4"', 5, null],
    ['nul', 3, null],
    ['', 0, 'a value'],
    ['{"a"', 4, 'a colon'],
  ])('says what is wrong with %s', (text, index, expected) => {
    expect(walkJson(text, {})).toEqual({ index, expected });
  });

  it('goes through a string of many megabytes, whole or not', () => {
    const long = '\\u00e9\\n'.repeat(1_000_000);
    expect(walkJson(`"${long}"`, {})).toBeNull();
    expect(walkJson(`"${long}`, {})).toEqual({ index: 1 + long.length, expected: null });
  });

  it('reports names, strings and numbers with their paths, and names that are repeated', () => {
    const seen: unknown[] = [];
    walkJson('{"a":[{"b":"x"},1e400],"a":{"\\u0061":-0}}', {
      onName: (name, { index, path }, isRepeated) => seen.push([name, index, path(), isRepeated]),
      onString: (text, { path }) => seen.push([text, path()]),
      onNumber: (source, { path }) => seen.push([source, path()]),
    });
    expect(seen).toEqual([
      ['a', 1, 'a', false],
      ['b', 7, 'a.b', false],
      ['x', 'a.b'],
      ['1e400', 'a'],
      ['a', 23, 'a', true],
      ['a', 28, 'a.a', false],
      ['-0', 'a.a'],
    ]);
  });
});

describe('the value of a record', () => {
  const start = { line: 1, column: 1 };
  const read = (text: string) => {
    const { memberCount } = createMeasure(50)(Buffer.from(text));
    return recordValue(text, memberCount, start, (source) => source);
  };

  it('is that of JSON.parse, without a prototype and with the digits of large numbers', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        const { value, hasRepeatedNames } = read(json);
        expect(hasRepeatedNames).toBe(false);
        if (!/\d{16}|e\+?\d{2}/i.test(json)) expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(json)));
      }),
    );
    const { value } = read('{"__proto__":{"a":12345678901234567890},"n":[-9007199254740993,9007199254740991]}');
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"a":"12345678901234567890"},"n":["-9007199254740993",9007199254740991]}',
    );
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.getPrototypeOf(Object.values(value ?? {})[0])).toBeNull();
  });

  it('notices names that are repeated, at any depth, and colons that are no member', () => {
    expect(read('{"a":{"b":1,"\\u0062":2}}').hasRepeatedNames).toBe(true);
    expect(read('{"a":":","b":{"a":"\\":"}}').hasRepeatedNames).toBe(false);
  });
});

describe('lines and places', () => {
  it('cuts lines at LF, CR and CRLF, wherever the bytes are cut, and bounds them', () => {
    const cut = (text: string, pieceBytes: number) => {
      const lines: string[] = [];
      const scanner = createLineScanner((bytes, line) => lines.push(`${line}:${bytes}`), 10);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += pieceBytes) scanner.write(bytes.subarray(at, at + pieceBytes));
      scanner.end();
      return lines;
    };
    for (let pieceBytes = 1; pieceBytes < 12; pieceBytes += 1)
      expect(cut('a\r\n\r\nb\rc\n\n\r\ré', pieceBytes)).toEqual(['1:a', '2:', '3:b', '4:c', '5:', '6:', '7:', '8:é']);
    expect(cut('0123456789\n', 4)).toEqual(['1:0123456789']);
    for (const text of ['1\n01234567890\n', '1\n01234567890'])
      expect(errorOf(() => cut(text, 4))).toMatchObject({ kind: 'tooLong', place: { line: 2 } });
  });

  it('counts lines by LF, CR and CRLF, and columns in bytes', () => {
    const text = 'é1\r\n2\r3\né4';
    const at = (character: string) => placeIn(text, text.indexOf(character), { line: 5, column: 7 });
    expect(['1', '2', '3', '4'].map(at)).toEqual([
      { line: 5, column: 9 },
      { line: 6, column: 1 },
      { line: 7, column: 1 },
      { line: 8, column: 3 },
    ]);
  });
});
