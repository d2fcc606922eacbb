/** A mapping by what people call it: a file, or the name of one in `config/mappings`. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PatchbayError } from '#src/errors.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';

const folder = fileURLToPath(new URL('../../config/mappings', import.meta.url));

/**
 * For `--mapping`: a file of that name wins over the mapping of that name. Null is the generic layout.
 * @throws PatchbayError `usage`: `mappingNotFound` with the names there are; what `loadMapping` throws.
 */
export async function findMapping(nameOrFile: string): Promise<Mapping | null> {
  const isFile = existsSync(resolve(nameOrFile)) || /[/\\]|\.ya?ml$/.test(nameOrFile);
  return nameOrFile !== 'generic' && isFile ? loadMapping(resolve(nameOrFile)) : namedMapping(nameOrFile);
}

/** @throws PatchbayError as `findMapping`. */
export async function namedMapping(name: string): Promise<Mapping | null> {
  if (name === 'generic') return null;
  const file = join(folder, `${basename(name)}.yaml`);
  if (existsSync(file)) return loadMapping(file);
  const names = readdirSync(folder).map((each) => each.replace(/\.yaml$/, ''));
  throw new PatchbayError('usage', 'mappingNotFound', `there is no mapping "${name}"`, {
    facts: { mapping: name },
    hint: `Name a YAML file, or one of: ${names.join(', ')}.`,
  });
}
