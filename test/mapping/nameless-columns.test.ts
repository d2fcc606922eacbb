/** Columns without a name that hold values: those that a mapping picks by their position are not ignored. */
import { expect, test } from 'vitest';
import { namelessIgnored } from '#src/mapping/file-findings.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';

const columns = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ position: index + 1, line: index + 2, value: 'x' }));
const positionsIn = (text: string) => /^column (\d+) /.exec(text)?.[1] ?? text;

test('of values, labels, countries and conditions, each position is used', () => {
  const mapping = parseMapping(
    'name: mine\nkey: 1\nskipRows: [{ column: 5, equals: x }]\nphones: [{ column: 2, label: { column: 3 }, country: { column: 4 } }]\n',
    'mine.yaml',
  );
  const positions = namelessIgnored(columns(7), mapping).map(({ message }) => positionsIn(message));
  expect(positions).toEqual(['6', '7']);
});

test('of hundreds, some are named and the others are counted', () => {
  const found = namelessIgnored(columns(300), null);
  expect(found.map(({ code, line }) => [code, line]).slice(-2)).toEqual([
    ['emptyHeader', 21],
    ['emptyHeader', 22],
  ]);
  expect(found.at(-1)?.message).toBe('280 more columns without a name hold values, and are ignored');
  expect(found.at(0)?.message).toBe('column 1 has no name but holds values; it is ignored');
});
