/** Reads a mapping file: the one place of this stage that touches the disk. */
import { open } from 'node:fs/promises';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Mapping } from './mapping-schema.ts';
import { parseMapping } from './parse-mapping.ts';

const fileBytesMax = 256 * 1024;

/**
 * @throws PatchbayError `usage`: `mappingNotFound`, `mappingUnreadable`, `mappingInvalid` (`file:line:column: message`).
 */
export async function loadMapping(path: string): Promise<Mapping> {
  return parseMapping(await readMappingText(path), path);
}

async function readMappingText(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > fileBytesMax) {
      throw new PatchbayError('usage', 'mappingUnreadable', `${path}: a mapping has at most ${fileBytesMax} bytes`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof PatchbayError) throw error;
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw absent
      ? new PatchbayError('usage', 'mappingNotFound', `there is no mapping ${path}`, {
          facts: { file: path },
          cause: error,
        })
      : new PatchbayError('usage', 'mappingUnreadable', `${path}: ${messageOf(error)}`, {
          facts: { file: path },
          hint: 'A mapping is a text file in UTF-8.',
          cause: error,
        });
  }
}
