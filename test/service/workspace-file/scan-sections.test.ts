/** The scanner against `JSON.parse`: any layout, cut anywhere, gives the same records; what is no JSON is refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonError } from '#src/json/place.ts';
import { createSectionScanner, sectionValue } from '#src/service/workspace-file/scan-sections.ts';

interface Scanned {
  readonly sections: Record<string, unknown[]>;
  readonly lines: number[];
}

/** Scans a text that arrives in pieces of so many bytes. `workspace` is an object, other sections are lists. */
function scan(text: string | Uint8Array, pieceBytes = Number.MAX_SAFE_INTEGER): Scanned {
  const bytes = Buffer.from(text);
  const sections: Record<string, unknown[]> = {};
  const lines: number[] = [];
  let records: unknown[] = [];
  const scanner = createSectionScanner({
    onSection: (name) => {
      records = [];
      Object.defineProperty(sections, name, { value: records, enumerable: true, configurable: true });
      return { shape: name === 'workspace' ? 'object' : 'list', taken: true };
    },
    onRecord: (record) => {
      expect(record.index).toBe('workspace' in sections && records === sections.workspace ? null : records.length);
      lines.push(record.place.line);
      const found = sectionValue(record);
      records.push(found.kind === 'value' ? found.value : found);
    },
  });
  for (let at = 0; at < bytes.length; at += pieceBytes) scanner.write(bytes.subarray(at, at + pieceBytes));
  scanner.end();
  return { sections, lines };
}

function refusal(text: string | Uint8Array, pieceBytes?: number): JsonError {
  try {
    scan(text, pieceBytes);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const document = fc.dictionary(
  fc.string({ unit: 'grapheme' }).filter((name) => name !== 'workspace'),
  fc.array(fc.jsonValue({ depthSize: 'small' }), { maxLength: 5 }),
);

test('whatever the layout and wherever the text is cut, the records are those of JSON.parse', () => {
  fc.assert(
    fc.property(
      document,
      fc.constantFrom('', ' ', '\t', 2, 7),
      fc.integer({ min: 1, max: 40 }),
      (value, indent, pieceBytes) => {
        const text = JSON.stringify(value, null, indent);
        const parsed: unknown = JSON.parse(text);
        expect({ ...scan(text, pieceBytes).sections }).toEqual({ ...(parsed as object) });
      },
    ),
    { seed: 20261121, numRuns: 150 },
  );
});

test('a text that JSON.parse refuses is refused, wherever it was cut or changed', () => {
  const text = '{"workspace":{"a":[1,{"b":"\\"}"}]},"contacts":[{"x":"\\\\"},[],"s",-1.5e3,true,null],"calls":[]}';
  expect(() => scan(text)).not.toThrow();
  fc.assert(
    fc.property(
      fc.nat(text.length - 1),
      fc.constantFrom('', '{', '}', '[', ']', '"', ',', ':', 'x', '\\'),
      (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        let isJson = true;
        try {
          JSON.parse(changed);
        } catch {
          isJson = false;
        }
        if (!isJson) expect(() => scan(changed, 3)).toThrow(JsonError);
      },
    ),
    { seed: 20261121, numRuns: 300 },
  );
  for (let length = 0; length < text.length; length += 1)
    expect(refusal(text.slice(0, length))).toBeInstanceOf(JsonError);
});

test('a record is reported with the line on which it begins', () => {
  expect(scan('{\n"a": [\n {"x":\n1},\n\n {"y": 2}, {"z": 3}\r\n]}').lines).toEqual([3, 6, 6]);
});

test('an error is reported with its line and column in the file', () => {
  expect(refusal('{"a":[\n  {"x": tru}\n]}')).toMatchObject({ place: { line: 2 } });
  expect(refusal('{"a":[\n  {"x":1,\n   "y" 2}\n]}')).toMatchObject({ place: { line: 3, column: 8 } });
  expect(refusal('{"a":[\n  {"x":1 "y"}]}')).toMatchObject({ place: { line: 2, column: 10 } });
  expect(refusal('{"a":[]\n "b":[]}')).toMatchObject({ place: { line: 2, column: 2 } });
});

test('what is in the place of something else is named', () => {
  expect(refusal('').message).toBe('it is empty');
  expect(refusal(' \n').message).toBe('it is empty');
  expect(refusal('[]').message).toBe('a workspace file must be an object, {…}');
  expect(refusal('{"a":{}}').message).toBe('this section must be a list, […]');
  expect(refusal('{"workspace":[]}').message).toBe('this section must be an object, {…}');
  expect(refusal('{"a":[1,]}').message).toBe('expected a record, found "]"');
  expect(refusal('{"a":[],}').message).toBe('expected a member name, found "}"');
  expect(refusal('{} {}').message).toBe('expected nothing more, found "{"');
  expect(refusal('{"a":[1').message).toBe('the text ends in the middle; a part is missing');
});

test('a record that is nested too deeply or too large is refused', () => {
  expect(refusal(`{"a":[${'['.repeat(1_000_000)}`).message).toBe('nested deeper than 32 levels');
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const scanner = createSectionScanner({
    onSection: () => ({ shape: 'list', taken: true }),
    onRecord: () => undefined,
  });
  scanner.write(Buffer.from('{"a":["'));
  expect(() => {
    for (let count = 0; count < 40; count += 1) scanner.write(chunk);
  }).toThrow('a record is larger than 32 MiB');
});

test('what is not UTF-8 is refused', () => {
  expect(refusal(Buffer.from('{"a":["\xe9"]}', 'latin1')).message).toContain('not UTF-8');
});

test('a whole number that would lose digits is reported, and digits in a text are kept', () => {
  expect(scan('{"a":[{"n":9007199254740993}]}').sections.a).toEqual([
    { kind: 'tooPrecise', digits: '9007199254740993' },
  ]);
  expect(scan('{"a":[{"n":9007199254740992}]}').sections.a).toEqual([{ n: 9007199254740992 }]);
  expect(scan('{"a":[{"n":"90071992547409930"}]}').sections.a).toEqual([{ n: '90071992547409930' }]);
});

test('a section that is not taken is passed over, whatever is in it', () => {
  const records: number[] = [];
  const scanner = createSectionScanner({
    onSection: (name) => ({ shape: 'list', taken: name === 'b' }),
    onRecord: ({ index }) => records.push(index ?? -1),
  });
  scanner.write(Buffer.from('{"a":[{"x":"]"},tru],"b":[1,2],"c":[[]]}'));
  scanner.end();
  expect(records).toEqual([0, 1]);
});
