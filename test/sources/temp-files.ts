/** A temporary folder for one test file, and reading files from it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { openSource, type SourceOptions } from '#src/sources/open-source.ts';
import type { Row, SourceHead, SourceItem, SourceTail } from '#src/sources/row.ts';

export interface TempFolder {
  path(name: string): string;
  write(name: string, content: string | Uint8Array): Promise<string>;
}

export function useTempFolder(): TempFolder {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-sources-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write: async (name, content) => {
      await writeFile(path(name), content);
      return path(name);
    },
  };
}

export interface ReadFile {
  readonly head: SourceHead;
  readonly items: readonly SourceItem[];
  readonly tail: SourceTail;
}

export async function readAll(path: string, options: SourceOptions): Promise<ReadFile> {
  const source = await openSource(path, options);
  try {
    const items: SourceItem[] = [];
    for await (const slice of source.slices()) items.push(...slice);
    return { head: source.head, items, tail: source.tail() };
  } finally {
    await source.close();
  }
}

/** Writes `content` under `name` and reads it. */
export async function readText(
  folder: TempFolder,
  name: string,
  content: string | Uint8Array,
  options: Partial<SourceOptions> = {},
): Promise<ReadFile> {
  return readAll(await folder.write(name, content), { name, ...options });
}

/** The cells, or the JSON object as plain data, of each item. */
export function dataOf(items: readonly SourceItem[]): unknown[] {
  return items.map(({ row }) => rowData(row));
}

function rowData(row: Row): unknown {
  return row.kind === 'cells' ? [...row.cells] : JSON.parse(JSON.stringify(row.object));
}

/** The error that the promise must reject with. */
export async function errorOf(promise: Promise<unknown>): Promise<PatchbayError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof PatchbayError) return error;
  throw new Error(`expected a PatchbayError, got ${String(error)}`);
}

/** `line:code` of each broken item. */
export function brokenOf(items: readonly SourceItem[]): string[] {
  return items.flatMap((item) => (item.type === 'broken' ? [`${item.problem.line}:${item.problem.code}`] : []));
}

export function warningCodes(tail: SourceTail): string[] {
  return tail.warnings.map((warning) => warning.code);
}
