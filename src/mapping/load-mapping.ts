/** Reads a mapping file: the only place in this folder that touches the disk, so that all others stay pure. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { NotSettings, readSettingsFile, type SettingsFileOptions } from '#src/settings-file.ts';
import type { Mapping } from './mapping-schema.ts';
import { parseMapping } from './parse-mapping.ts';

/**
 * @param options `followLinks: false` for a mapping in an import folder.
 * @throws PatchbayError `usage`: `mappingNotFound`, `mappingUnreadable`, `mappingInvalid` (`file:line:column: message`).
 */
export async function loadMapping(
  path: string,
  options: Pick<SettingsFileOptions, 'followLinks'> = {},
): Promise<Mapping> {
  return parseMapping(await readMappingText(path, options), path);
}

/** Mappings that come with Patchbay: those of known exports, the generic one, and an example. */
export const mappingsFolder = fileURLToPath(new URL('../../config/mappings', import.meta.url));

let presets: Promise<readonly Mapping[]> | null = null;

/** The mappings of known exports, by name. They are read once in the life of a process. @throws PatchbayError as `loadMapping`. */
export function loadPresets(): Promise<readonly Mapping[]> {
  presets ??= readPresets();
  return presets;
}

async function readPresets(): Promise<readonly Mapping[]> {
  const files = (await readdir(mappingsFolder)).filter((file) => file.endsWith('.yaml')).toSorted();
  const mappings = await Promise.all(files.map((file) => loadMapping(join(mappingsFolder, file))));
  return mappings.filter(({ recognise }) => recognise !== undefined);
}

/** @throws PatchbayError `usage`: `mappingNotFound`, `mappingUnreadable`. */
export async function readMappingText(path: string, options: SettingsFileOptions = {}): Promise<string> {
  try {
    return await readSettingsFile(path, options);
  } catch (cause) {
    const facts = { file: path };
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      throw new PatchbayError('usage', 'mappingNotFound', `there is no mapping ${path}`, { facts, cause });
    }
    const why = cause instanceof NotSettings ? `the file ${cause.message}` : messageOf(cause);
    const hint = 'A mapping is a text file in UTF-8.';
    throw new PatchbayError('usage', 'mappingUnreadable', `${path}: ${why}`, { facts, hint, cause });
  }
}
