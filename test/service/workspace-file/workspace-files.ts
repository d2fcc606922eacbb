/** Builders for the tests of workspace files: a folder for each test, files in it, and a load that is looked at. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { PatchbayError } from '#src/errors.ts';
import { dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../test-service.ts';

export interface Files {
  readonly at: (name: string) => string;
  /** Writes a file and answers its path; a value is written as JSON. */
  readonly write: (name: string, content: unknown) => string;
  readonly dump: (store: string, name?: string) => Promise<string>;
}

export function filesOfTest(): Files {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  return {
    at,
    write: (name, content) => {
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(at(name), isText ? content : JSON.stringify(content));
      return at(name);
    },
    dump: async (store, name = 'dump.json') => {
      await dumpWorkspace({ store, file: at(name), stdout: () => process.stdout });
      return at(name);
    },
  };
}

/** A service on what the file holds. */
export function load(file: string, options: TestServiceOptions = {}): Promise<TestService> {
  return startTestService({ load: { file, stdin: noInput }, ...options });
}

/** A service on what came through a pipe. */
export function loadText(text: string): Promise<TestService> {
  return startTestService({ load: { file: '-', stdin: () => Readable.from([Buffer.from(text)]) } });
}

/** What is reported of a file that cannot be loaded. Fails where it can. */
export async function loadError(file: string, options: TestServiceOptions = {}): Promise<PatchbayError> {
  return load(file, options).then(
    () => {
      throw new Error('it was loaded');
    },
    (error: PatchbayError) => error,
  );
}

/** Each problem that is reported of a file whose records are wrong. */
export async function problemsOf(file: string): Promise<readonly string[]> {
  const { code, cause } = await loadError(file);
  if (code !== 'workspaceFileInvalid' || !(cause instanceof AggregateError)) throw new Error(`not invalid but ${code}`);
  return cause.errors.map((one: Error) => one.message);
}

function noInput(): Readable {
  return Readable.from([]);
}
