/** `--mapping NAME|FILE`: a file, or the name of one in `config/mappings`. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PatchbayError } from '#src/errors.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';

const folder = fileURLToPath(new URL('../../config/mappings', import.meta.url));

/** @throws PatchbayError `usage`: `mappingNotFound` with the names there are; what `loadMapping` throws. */
export async function findMapping(nameOrFile: string): Promise<Mapping | null> {
  if (nameOrFile === 'generic') return null;
  const named = join(folder, `${basename(nameOrFile)}.yaml`);
  if (existsSync(resolve(nameOrFile)) || /[/\\]|\.ya?ml$/.test(nameOrFile)) return loadMapping(resolve(nameOrFile));
  if (existsSync(named)) return loadMapping(named);
  const names = readdirSync(folder).map((file) => file.replace(/\.yaml$/, ''));
  throw new PatchbayError('usage', 'mappingNotFound', `there is no mapping "${nameOrFile}"`, {
    facts: { mapping: nameOrFile },
    hint: `Name a YAML file, or one of: ${names.join(', ')}.`,
  });
}
