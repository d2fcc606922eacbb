/** Reads a file with API keys for the service, one in each line: an argument could be read by others, as with `ps`. */
import { readFile } from 'node:fs/promises';
import { keyFileProblem } from '#src/config/api-key.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';

/** The keys in their order; blank lines and white space around a key are left out. */
export async function readKeyFile(file: string): Promise<readonly string[]> {
  const problem = await keyFileProblem(file);
  if (problem !== null) throw new PatchbayError('usage', 'apiKeyFileOpen', problem, { facts: { file } });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw fileError(`the key file ${file} cannot be read: ${messageOf(cause)}`, file, cause);
  });
  const keys = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (keys.length === 0) throw fileError(`the key file ${file} holds no key`, file);
  return keys;
}

function fileError(message: string, file: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'keyFileUnreadable', message, {
    facts: { file },
    hint: 'Name a text file with one key in each line.',
    ...(cause === undefined ? {} : { cause }),
  });
}
