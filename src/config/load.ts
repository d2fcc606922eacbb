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
import { isMappingName } from './feed-checks.ts';
import { fileLayer } from './file-layer.ts';
import type { GivenValue, Layer, Origin } from './given-value.ts';
import { isUrl } from './is-url.ts';
import { type Config, type ConfigInput, configSchema } from './schema.ts';
import { settings } from './settings.ts';
import { zoneOfMachine } from './time-zone.ts';
import type { SettingTraits } from './traits.ts';
import { valueProblem } from './value-problem.ts';
import { zonesFilledIn } from './zones.ts';

/** Overrides from the command line, as text or numbers; absent and undefined members override nothing. */
export type ConfigFlags = {
  readonly [S in Exclude<keyof ConfigInput, 'feeds' | 'snapshots'>]?:
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
  /**
   * Where each setting's value comes from, by key; of a feed `feeds.<name>` and `feeds.<name>.<key>` where it is given.
   */
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
  const named = variablesNamedIn(layers);
  layers.push(environmentLayer(options.env, options.cwd, named), flagLayer(options));

  const problems = layers.flatMap(problemsOf);
  if (problems.length > 0) throw invalid(problems);

  const { input, sources } = merge(layers);
  const parsed = configSchema.parse(input);
  const crossed = await crossProblems(parsed, sources);
  if (crossed.problems.length > 0) throw invalid(inOrder(crossed.problems));
  const config = zonesFilledIn(parsed, zoneOfMachine(options.env));
  const warnings = [...layers.flatMap((layer) => layer.warnings), ...crossed.warnings];
  return { config, sources, warnings, configFile };
}

/** The variables that feeds name with `authorization`. */
function variablesNamedIn(layers: readonly Layer[]): string[] {
  return layers
    .flatMap((layer) => layer.values)
    .filter(({ setting }) => setting.name === 'authorization')
    .map(({ value }) => value)
    .filter((value) => typeof value === 'string');
}

function problemsOf(layer: Layer): string[] {
  const wrong = layer.values.map(valueProblem).filter((problem) => problem !== null);
  return inOrder([...layer.problems, ...wrong]);
}

/** In the order of the lines: a problem starts with its place, and numbers are compared as numbers. */
function inOrder(problems: readonly string[]): string[] {
  return problems.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
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
  return { values, feeds: [], problems: [], warnings: [] };
}

interface Tree {
  [name: string]: unknown;
}

/** The last value of each setting wins, since the layers come in rising order. */
function merge(layers: readonly Layer[]): { input: unknown; sources: Record<string, Origin> } {
  const input: Tree = {};
  const sources: Record<string, Origin> = Object.fromEntries(
    settings.map((setting) => [setting.key, { kind: 'default', name: 'default' }]),
  );
  for (const { name, origin } of layers.flatMap((layer) => layer.feeds)) {
    branch(input, ['feeds', name]);
    sources[`feeds.${name}`] = origin;
  }
  for (const { setting, value, origin, folder } of layers.flatMap((layer) => layer.values)) {
    branch(input, setting.path.slice(0, -1))[setting.name] = absolute(setting.traits.path, value, folder);
    sources[setting.key] = origin;
  }
  return { input, sources };
}

/** The branch at a path, made where it is not there. Names such as `constructor` are found in no prototype. */
function branch(tree: Tree, path: readonly string[]): Tree {
  let at = tree;
  for (const name of path) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined;
    const next: Tree = isTree(inner) ? inner : {};
    at[name] = next;
    at = next;
  }
  return at;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function absolute(trait: SettingTraits['path'], value: unknown, folder: string): unknown {
  if (trait === undefined || typeof value !== 'string') return value;
  if (trait === 'orUrl' && isUrl(value)) return value;
  return trait === 'orName' && isMappingName(value) ? value : resolve(folder, value);
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
