/** The comparison of sessions is itself trusted only because of these sentences. */
import { describe, expect, it } from 'vitest';
import { fits, inToday, type Names, stepsOf, tidyOutput } from './support/session.ts';

const first = '20260101T000000Z-aaaaaa';
const second = '20260202T000000Z-bbbbbb';

describe('a session of a paper', () => {
  it('is a sh block whose commands begin with a dollar sign; other blocks are not run', () => {
    const text = ['```sh', '$ one', 'out', '', '$ two', '```', '', '```sh', 'three', '```', '```text', '$ four', '```'];
    expect(stepsOf(text.join('\n'))).toEqual([
      { command: 'one', expected: ['out', ''] },
      { command: 'two', expected: [] },
    ]);
  });

  it('lets an id stand for another one, and then always for the same', () => {
    const names: Names = new Map();
    expect(fits([`run ${first}`], [`run ${second}`], names)).toBe(true);
    expect(inToday(`show ${first}`, names)).toBe(`show ${second}`);
    expect(fits([`run ${first}`], [`run ${first}`], names)).toBe(false);
    expect(fits([`./_fix/${first}__a.csv`], [`./_fix/${second}__a.csv`], names)).toBe(true);
  });

  it('does not compare seconds, reads and versions, and compares all the rest', () => {
    const line = '  0.2 s, 1 read, 12 creates, 0 updates sent';
    expect(fits([line], ['  10.9 s, 3 reads, 12 creates, 0 updates sent'], new Map())).toBe(true);
    expect(fits([line], ['  0.2 s, 1 reads, 13 creates, 0 updates sent'], new Map())).toBe(false);
    expect(fits(['ok node v24.1.0'], ['ok node v24.21.0'], new Map())).toBe(true);
    const missing = (key: string, day: string): string[] => [
      `1 person is no longer in the file: ${key} (since ${day})`,
    ];
    expect(fits(missing('a-1', '2026-11-20'), missing('a-1', '2026-12-24'), new Map())).toBe(true);
    expect(fits(missing('a-1', '2026-11-20'), missing('a-2', '2026-11-20'), new Map())).toBe(false);
    const contact = 'the contact 01a21ac7eb6900001dfc0129 stays in the workspace';
    expect(fits([contact], ['the contact 01a21acb50cf00014aba4c83 stays in the workspace'], new Map())).toBe(true);
    expect(fits(['backup ./a, 0.3 MB: sound'], ['backup ./a, 1.2 MB: damaged'], new Map())).toBe(false);
    expect(fits(['backup ./a, 0.3 MB: sound'], ['backup ./a, 1.2 MB: sound'], new Map())).toBe(true);
    expect(fits(['a', 'b'], ['a'], new Map())).toBe(false);
    expect(fits(['a'], ['a', 'b'], new Map())).toBe(false);
    expect(fits(['a', '…', 'c'], ['a', 'b', 'b', 'c'], new Map())).toBe(true);
  });

  it('shortens paths and leaves progress out', () => {
    const output = 'many.csv: 10 of 20 rows\nreport: /tmp/x/data/report.json  \n\n';
    expect(tidyOutput(output, '/tmp/x')).toEqual(['report: ./data/report.json']);
  });
});
