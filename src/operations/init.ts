/** A first configuration, and the folder to drop files into (`docs/configuration.md`). */
import type { Stats } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { checkCountry } from '#src/mapping/phone-cell.ts';
import { shellWord } from '#src/shell-words.ts';
import { makeFolder, storingError, writeAsAsked } from '#src/whole-file.ts';

export interface InitRequest {
  /** Of the config file to be written; absolute. */
  readonly path: string;
  /** Two letters, as `DE`; null: phone numbers without a country code are rejected until the file names one. */
  readonly defaultCountry: string | null;
  /** The data folder that the file is to name, absolute; null: it names none. */
  readonly dataFolder: string | null;
  /** The configuration, once the file is there. */
  readonly load: () => Promise<Config>;
}

export interface Initialised {
  readonly configFile: string;
  readonly importFolder: string;
}

const example = fileURLToPath(new URL('../../config/patchbay.example.yaml', import.meta.url));

/**
 * Writes a config file with comments and makes the import folder. Never replaces a file; where the configuration cannot be loaded with
 * the new one, it is removed again.
 * @throws PatchbayError `usage` `configExists`, `countryUnknown`, `outputNotWritten`; what `load` throws.
 */
export async function initialise({ path, defaultCountry, dataFolder, load }: InitRequest): Promise<Initialised> {
  const country = defaultCountry === null ? null : checkCountry(defaultCountry);
  const text = firstConfig(await readFile(example, 'utf8'), country, dataFolder);
  await writeAsAsked(path, () => writeNew(path, text));
  try {
    const [importFolder = ''] = dataFolders(await load(), 'real').importFolders;
    await writeAsAsked(importFolder, () => makeFolder(importFolder));
    return { configFile: path, importFolder };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Pure. */
function firstConfig(text: string, country: string | null, dataFolder: string | null): string {
  const line = country === null ? '  # defaultCountry: US' : `  defaultCountry: ${country}`;
  const told = text.replace(/^ {2}defaultCountry: .*$/m, line);
  // A string of JSON is one of YAML.
  const folder = `\n# Ledger, import folder, reports and logs.\ndata:\n  folder: ${JSON.stringify(dataFolder)}\n`;
  return dataFolder === null ? told : `${told}${folder}`;
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw storingError(error, dirname(path));
    throw inTheWay(path, await stat(path).catch(() => null), error);
  }
}

/** @param found what has the name; null: a link that leads nowhere. */
function inTheWay(path: string, found: Stats | null, cause: unknown): PatchbayError {
  if (found === null || found.isDirectory()) {
    const what = found === null ? 'a link to a file that is not there' : 'a folder';
    const hint =
      found === null
        ? 'Remove the link, or name another file: --config FILE'
        : `Name a file in it: --config ${shellWord(join(path, 'patchbay.yaml'))}`;
    return new PatchbayError('usage', 'outputNotWritten', `no config file can be written at ${path}: it is ${what}`, {
      hint,
      cause,
    });
  }
  return new PatchbayError('usage', 'configExists', `there is a config file already: ${path}`, {
    hint: 'It was left unchanged. To see the settings in force: patchbay config print',
    cause,
  });
}
