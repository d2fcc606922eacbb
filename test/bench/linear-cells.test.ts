/**
 * Cells as long as a cell may be take time in proportion to their length: a few of them must not hold up everything
 * else that the process does (`docs/bad-inputs.md`, "CSV").
 */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { allTypes, cellsRow, mapping, noContext, objectRow } from '../mapping/support.ts';

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

/** The least of several, in processor time of this thread: other programs of the machine do not count. */
function leastMs(times: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time += 1) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Below this a ratio says nothing. */
const floorMs = 4;

/** Null where the long cell is read in proportion; measured again before it is blamed. */
function blame(read: (text: string) => unknown, cell: (bytes: number) => string): string | null {
  const [short, long] = [cell(16_000), cell(64_000)];
  let found: string | null = null;
  for (const times of [3, 9]) {
    const shortMs = leastMs(times, () => read(short));
    const longMs = leastMs(times, () => read(long));
    if (longMs <= 8 * Math.max(shortMs, floorMs)) return null;
    found = `${shortMs} ms, then ${longMs} ms`;
    if (longMs > 1_000) break;
  }
  return found;
}

describe('a cell four times as long takes at most some four times as long', () => {
  test.each(Object.keys(readings))(
    'as %s',
    (name) => {
      const read = readings[name] ?? (() => undefined);
      const slow = Object.entries(pieces).flatMap(([piece, text]) =>
        shapes.flatMap((shape, at) => {
          const found = blame(read, (bytes) => shape(text.repeat(bytes / text.length)));
          return found === null ? [] : [`${piece}, shape ${at}: ${found}`];
        }),
      );
      expect(slow).toEqual([]);
    },
    60_000,
  );
});
