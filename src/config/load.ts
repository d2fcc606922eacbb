/**
 * Loads the configuration from its layers: flags over the environment over the config file over
 * `config/default.yaml`.
 *
 * Invariant: every value of every layer is checked, also where a higher layer replaces it, and all problems are told
 * at once. No message holds a secret.
 */
import { access } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PatchbayError } from '../errors.ts';
import { crossProblems } from './cross-checks.ts';
import { configVariable, environmentLayer, typed } from './environment-layer.ts';
import { fileLayer } from './file-layer.ts';
import type { GivenValue, Layer, Origin } from './given-value.ts';
import { type Config, type ConfigInput, configSchema } from './schema.ts';
import { settings } from './settings.ts';
import { valueProblem } from './value-problem.ts';

/** Overrides from the command line, as text or numbers; absent and undefined members override nothing. */
export type ConfigFlags = {
  readonly [S in keyof ConfigInput]?:
    | { readonly [K in keyof NonNullable<ConfigInput[S]>]?: NonNullable<ConfigInput[S]>[K] | string | undefined }
    | undefined;
};

export interface LoadOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  /** The file of `--config`; null looks at `PATCHBAY_CONFIG`, then for `patchbay.yaml` in `cwd`. */
  readonly configPath: string | null;
  /** Absolute. */
  readonly cwd: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Where each setting's value comes from, by key (`section.name`). */
  readonly sources: Readonly<Record<string, Origin>>;
  /** Worth a note, one sentence each. */
  readonly warnings: readonly string[];
  /** The config file that was read, absolute; null where there is none. */
  readonly configFile: string | null;
}

const problemsShownMax = 50;
const defaultFile = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

/**
 * Reads and checks the configuration.
 *
 * Throws `usage` / `configInvalid` with one line per problem: `file:line:column: …` or `VARIABLE: …`.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const configFile = await findConfigFile(options);
  const layers: Layer[] = [defaultsFrom(await fileLayer(defaultFile, 'config/default.yaml', 'default'), options.cwd)];
  if (configFile !== null) layers.push(await fileLayer(configFile, shown(configFile, options.cwd)));
  layers.push(environmentLayer(options.env, options.cwd), flagLayer(options));

  const given = layers.flatMap((layer) => layer.values);
  const problems = layers.flatMap(problemsOf);
  if (problems.length > 0) throw invalid(problems);

  const { input, sources } = merge(given);
  const config = configSchema.parse(input);
  const crossed = await crossProblems(config, sources);
  if (crossed.problems.length > 0) throw invalid(crossed.problems);
  const warnings = [...layers.flatMap((layer) => layer.warnings), ...crossed.warnings];
  return { config, sources, warnings, configFile };
}

/** Of one layer, in the order of the lines: a problem starts with its place, and numbers are compared as numbers. */
function problemsOf(layer: Layer): string[] {
  const wrong = layer.values.map(valueProblem).filter((problem) => problem !== null);
  return [...layer.problems, ...wrong].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

async function findConfigFile({ configPath, env, cwd }: LoadOptions): Promise<string | null> {
  const named = configPath ?? (env[configVariable]?.trim() || null);
  if (named !== null) return resolve(cwd, named);
  const usual = resolve(cwd, 'patchbay.yaml');
  return access(usual).then(
    () => usual,
    () => null,
  );
}

/** The default layer's relative paths start at the current folder, not at the package. */
function defaultsFrom(layer: Layer, cwd: string): Layer {
  return { ...layer, values: layer.values.map((value) => ({ ...value, folder: cwd })) };
}

function flagLayer({ flags, cwd }: LoadOptions): Layer {
  const flat = new Map<string, unknown>();
  for (const [section, values] of Object.entries(flags)) {
    for (const [name, value] of Object.entries(values ?? {})) flat.set(`${section}.${name}`, value);
  }
  const values = settings.flatMap((setting): GivenValue[] => {
    const value = flat.get(setting.key);
    if (value === undefined) return [];
    return [{ setting, value: typed(setting, value), origin: { kind: 'flag', name: 'flag' }, folder: cwd }];
  });
  return { values, problems: [], warnings: [] };
}

/** The last value of each setting wins, since the layers come in rising order. */
function merge(given: readonly GivenValue[]): { input: unknown; sources: Record<string, Origin> } {
  const input: Record<string, Record<string, unknown>> = {};
  const sources: Record<string, Origin> = Object.fromEntries(
    settings.map((setting) => [setting.key, { kind: 'default', name: 'default' }]),
  );
  for (const { setting, value, origin, folder } of given) {
    const absolute = setting.traits.path === true && typeof value === 'string' ? resolve(folder, value) : value;
    input[setting.section] = { ...input[setting.section], [setting.name]: absolute };
    sources[setting.key] = origin;
  }
  return { input, sources };
}

/** A path as it stands in messages: relative where it lies below the current folder. */
function shown(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short;
}

function invalid(problems: readonly string[]): PatchbayError {
  const lines = problems.slice(0, problemsShownMax);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  return new PatchbayError('usage', 'configInvalid', lines.join('\n'), {
    facts: { problemCount: problems.length },
    hint: 'config/default.yaml lists every setting with its default.',
  });
}
