/** Where a row is, in words; a row that is in no file has line 0. */
import { expect, it } from 'vitest';
import { fileAndLine, lineText, placeText } from '#src/sources/row.ts';

it.each([
  [{ line: 17 }, '17', ['line 17'], 'a.csv:17'],
  [{ line: 1, record: 17 }, '1, record 17', ['line 1, record 17'], 'a.csv:1, record 17'],
  [{ line: 0 }, '–', [], 'a.csv'],
])('%j', (place, text, line, file) => {
  expect(placeText(place)).toBe(text);
  expect(lineText(place)).toEqual(line);
  expect(fileAndLine('a.csv', place)).toBe(file);
});
