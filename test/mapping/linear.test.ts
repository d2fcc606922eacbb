/**
 * Cells as long as a cell may be take time in proportion to their length: a few of them must not hold up everything
 * else that the process does (`bad-inputs.md`, "cell > 64 KB").
 */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { allTypes, cellsRow, mapping, noContext, objectRow } from './support.ts';

const pieces: Readonly<Record<string, string>> = {
  ...{ space: ' ', tab: '\t', 'line feed': '\n', 'space and tab': ' \t', 'no-break space': '\u00a0', dot: '.' },
  ...{ dash: '-', digit: '1', zero: '0', quote: '"', apostrophe: "'", at: '@', comma: ',', 'comma and space': ', ' },
  ...{ semicolon: ';', slash: '/', bracket: '(', 'closing bracket': ')', percent: '%41', colon: ':', equals: '=' },
  ...{ letter: 'x', 'digit and letter': '1x', 'digit and dot': '1.', 'digit and comma': '1,' },
};
/** A run alone, between letters, between digits, and behind what a pattern may be waiting for. */
const shapes: readonly ((run: string) => string)[] = [
  (run) => run,
  (run) => `a${run}b`,
  (run) => `1${run}2x`,
  (run) => `+1 415 555 0100 ext${run}y`,
  (run) => `http://e.example/${run}<`,
  (run) => `="${run}`,
];

const columns = ['id', 'name', 'phone', 'mail', 'link', 'from', ...allTypes.map(({ key }) => key)];
const everyReading = mapping({
  fields: { firstName: 'name', sourceUrl: 'link', source: 'from' },
  phones: [{ column: 'phone', country: 'DE' }],
  emails: [{ column: 'mail' }],
  customFields: allTypes.map(({ key }) => ({ column: key, key })),
});
const context = { ...noContext, customFields: allTypes };
const csv = compileMapping(everyReading, { columns }, context);
const json = compileMapping(null, { columns: null }, context);

const readings: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(
    columns.map((column) => [
      column,
      (text: string) =>
        csv.mapRow(cellsRow(columns, ['1', ...columns.slice(1).map(() => '')].with(columns.indexOf(column), text))),
    ]),
  ),
  'label of an item': (text) =>
    json.mapRow(objectRow({ externalId: '1', phones: [{ name: text, value: '+14155550100' }] })),
  'name of a member': (text) => json.mapRow(objectRow({ externalId: '1', [text]: 'x' })),
  'email header': (text) => json.mapRow(objectRow({ externalId: '1', [`email${text}`]: 'x' })),
  'custom header': (text) => json.mapRow(objectRow({ externalId: '1', [`custom${text}`]: 'x' })),
};

function medianMs(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.toSorted((one, other) => one - other)[1] ?? 0;
}

/** Below this the clock, the collector and the compiler say more than the work. */
const floorMs = 4;

describe('a cell four times as long takes at most some four times as long', () => {
  test.each(Object.keys(readings))(
    'as %s',
    (name) => {
      const read = readings[name] ?? (() => undefined);
      const slow: string[] = [];
      for (const [piece, text] of Object.entries(pieces)) {
        for (const [at, shape] of shapes.entries()) {
          const cell = (bytes: number): string => shape(text.repeat(bytes / text.length));
          const [short, long] = [cell(16_000), cell(64_000)];
          const shortMs = medianMs(() => read(short));
          const longMs = medianMs(() => read(long));
          if (longMs > 8 * Math.max(shortMs, floorMs))
            slow.push(`${piece}, shape ${at}: ${shortMs} ms, then ${longMs} ms`);
        }
      }
      expect(slow).toEqual([]);
    },
    60_000,
  );
});
