/**
 * Loads the configuration: reads each layer as raw values with their origins, merges them, checks the result once, and puts the
 * place of the wrong value in front of each problem.
 *
 * Only values that count are checked: one that a higher layer replaces is not. All problems are reported together, and no
 * message holds a secret.
 */

import { access, lstat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { PatchbayError, systemCodeOf } from '../errors.ts';
import { closest } from './closest.ts';
import { readConfigFile } from './config-file.ts';
import { feedKeySynonyms, recordOf } from './feed-schema.ts';
import { closestZone, expectedZone, zoneOfMachine } from './forms.ts';
import {
  configVariable,
  environmentLayer,
  flagLayer,
  type Layer,
  type Merged,
  mergeLayers,
  type Origin,
} from './layers.ts';
import { type Config, type ConfigInput, configSchema } from './schema.ts';
import { type Group, memberAt, type Setting, sections, settings } from './settings.ts';
import { checkSurroundings } from './surroundings.ts';

/** Overrides from the command line, as text or numbers; absent and undefined members override nothing. */
export type ConfigFlags = {
  readonly [S in Exclude<keyof ConfigInput, 'name' | 'feeds' | 'snapshots'>]?:
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
  /** Where each setting's value comes from, by key; of feeds `feeds.<name>`, and `feeds.<name>.<key>` for what is given. */
  readonly sources: Readonly<Record<string, Origin>>;
  /** Worth a note, one sentence each. */
  readonly warnings: readonly string[];
  /** About what an engine will meet: for those who check the configuration or start an engine, since its environment may have what this one lacks. */
  readonly startWarnings: readonly string[];
  /** About the service: for those who check the configuration or start an engine, not for each command, nor for the sandbox. */
  readonly serviceWarnings: readonly string[];
  /** The config file that was read, absolute; null where there is none. */
  readonly configFile: string | null;
}

const problemsShownMax = 50;

/**
 * Reads and checks the configuration.
 * @throws PatchbayError `usage` `configInvalid` with one line per problem: `file:line:column: …` or `VARIABLE: …`.
 */
export async function loadConfig({ env, flags, configPath, cwd }: LoadOptions): Promise<LoadedConfig> {
  if (configPath?.trim() === '') {
    throw invalid(
      [`flag: --config must be the path of a file, not "${configPath}"`],
      'Check the path given with --config.',
    );
  }
  const configFile = await findConfigFile(configPath, env, cwd);
  const file = configFile === null ? [] : [await readConfigFile(configFile, shown(configFile, cwd))];
  const named = file.flatMap(({ values }) => values).flatMap(({ path, value }) => variableNamed(path, value));
  const environment = environmentLayer(env, cwd, named);
  const merged = mergeLayers([await defaultLayer(cwd), ...file, environment, flagLayer(flags, cwd)]);

  const parsed = configSchema.safeParse(merged.input);
  const wrong = parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, merged));
  if (!parsed.success || merged.problems.length > 0) {
    throw invalid([...merged.problems, ...wrong], await pathHint(configFile, configPath, env));
  }

  const found = await checkSurroundings(parsed.data, env);
  const withPlace = ({ path, sentence }: { readonly path: readonly string[]; readonly sentence: string }): string =>
    `${placeOf(merged, path)}: ${sentence}`;
  if (found.problems.length > 0) throw invalid(found.problems.map(withPlace));
  const { zone, misnamed } = zoneOfMachine(env);
  const config = zonesFilledIn(parsed.data, zone);
  const warnings = [
    ...environment.warnings,
    ...found.warnings.map(withPlace),
    ...(misnamed !== null && needsZone(parsed.data) ? [zoneWarning(misnamed, zone)] : []),
  ];
  const startWarnings = found.startWarnings.map(withPlace);
  const serviceWarnings = found.serviceWarnings.map(withPlace);
  return { config, sources: sourcesOf(merged), warnings, startWarnings, serviceWarnings, configFile };
}

const defaultFile = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

/** `config/default.yaml`. Its relative paths start at the current folder, not at the package. */
async function defaultLayer(cwd: string): Promise<Layer> {
  const layer = await readConfigFile(defaultFile, 'config/default.yaml');
  const values = layer.values.map((one) => ({ ...one, origin: { ...one.origin, kind: 'default' as const } }));
  return { ...layer, values, folder: cwd };
}

const usualFile = 'patchbay.yaml';

async function findConfigFile(configPath: string | null, env: LoadOptions['env'], cwd: string): Promise<string | null> {
  const named = configPath ?? pathInEnvironment(env);
  if (named !== null) return resolve(cwd, named);
  const usual = resolve(cwd, usualFile);
  // Not what it leads to: a link whose file is gone would begin a sandbox.
  return lstat(usual).then(
    () => usual,
    () => null,
  );
}

/** What to check where the config file does not exist; null where it does. */
async function pathHint(
  configFile: string | null,
  configPath: string | null,
  env: LoadOptions['env'],
): Promise<string | null> {
  if (configFile === null || (await isThere(configFile))) return null;
  if (configPath !== null) return 'Check the path given with --config.';
  return pathInEnvironment(env) === null
    ? `Remove the link ${usualFile}, or put its file where it leads.`
    : `Check the path in ${configVariable}.`;
}

function pathInEnvironment(env: LoadOptions['env']): string | null {
  return env[configVariable]?.trim() || null;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => systemCodeOf(error) !== 'ENOENT',
  );
}

/** The variable that a feed names with `authorization`. */
function variableNamed([section, , name]: readonly string[], value: unknown): readonly string[] {
  return section === 'feeds' && name === 'authorization' && typeof value === 'string' ? [value] : [];
}

/** A path as it is shown in messages: relative where it lies below the current folder. */
function shown(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short;
}

function sourcesOf(merged: Merged): Record<string, Origin> {
  const sources: Record<string, Origin> = {};
  for (const { key } of settings) sources[key] = { kind: 'default', name: 'default' };
  for (const { path, origin, keyOrigin } of merged.values) {
    const member = memberAt(path);
    if (origin.kind === 'default') continue;
    if (member?.kind === 'setting') sources[member.key] = origin;
    else if (path.length === 2 && path[0] === 'feeds') sources[path.join('.')] = keyOrigin ?? origin;
  }
  return sources;
}

// Problems in words.

type Issue = z.core.$ZodIssue;

/** Ends since an issue names finitely many keys. */
function problemsOf(issue: Issue, merged: Merged): readonly string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${placeOf(merged, [...path, key], 'key')}: ${unknownKey(path, key)}`);
  }
  if (issue.code === 'invalid_key') return [`${placeOf(merged, path, 'key')}: ${issue.issues[0]?.message ?? ''}`];
  const params = issue.code === 'custom' ? issue.params : undefined;
  if (params?.sentence === true) {
    const isFeed = path.length === 2 && path[0] === 'feeds';
    const besides = typeof params.beside === 'string' ? placeOf(merged, [...path.slice(0, -1), params.beside]) : null;
    // What is missing has only the place of its default: people know that of what needs it.
    if (besides !== null && merged.originAt(path)?.kind === 'default') {
      return [`${besides}: ${path.join('.')} ${issue.message}`];
    }
    const more = besides === null ? '' : ` (${params.beside}: ${besides})`;
    return [`${placeOf(merged, path, isFeed ? 'key' : 'value')}: ${path.join('.')} ${issue.message}${more}`];
  }
  return [`${placeOf(merged, path)}: ${wrongValue(path, issue.message, merged.input)}`];
}

function placeOf(merged: Merged, path: readonly string[], of: 'value' | 'key' = 'value'): string {
  return merged.originAt(path, of)?.name ?? path.join('.');
}

function wrongValue(path: readonly string[], expected: string, input: unknown): string {
  // An item of a list belongs to its setting.
  const key = path.filter((name) => !/^\d+$/.test(name));
  const member = memberAt(path) ?? memberAt(key);
  if (member?.kind === 'feeds') return 'feeds must be a group of feeds by name, such as "crm:"';
  if (member?.kind === 'group')
    return `${member.key} must be ${path.length === 1 ? 'a section' : 'a group'} of settings${besideFeeds(member, path)}`;
  if (member === null) return `${path.join('.')}: ${expected}`;
  const list = valueAt(input, member.path);
  const value = Array.isArray(list) ? valueAt(input, path) : list;
  return `${member.key} must be ${expected}${shownValue(member, value)}${meantZone(expected, value)}`;
}

/** A setting of a feed beside the feeds looks like the name of one. */
function besideFeeds({ members }: Group, [section, name = '', ...deeper]: readonly string[]): string {
  const isSetting = section === 'feeds' && deeper.length === 0 && members.some((one) => one.name === name);
  return isSetting ? `; if it is the ${name} of a feed, write it below the name of that feed, such as "crm:"` : '';
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null ? Object.entries(at).find(([key]) => key === name)?.[1] : null,
    tree,
  );
}

const shownCharactersMax = 60;

/** `, not …`, or nothing where showing the value could show a secret. */
function shownValue(setting: Setting, value: unknown): string {
  if (value === null || value === undefined) return ', not empty';
  if (typeof value === 'object') return Array.isArray(value) ? ', not a list' : ', not a group of keys';
  if (setting.traits.secret !== undefined) return '';
  const text = String(value);
  // What may be a URL may hold a password. `@daily` is none.
  if (/[@?]/.test(text) && !/^@[a-z]{1,20}$/i.test(text)) return '';
  const short = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;
  return `, not ${typeof value === 'string' ? JSON.stringify(short) : short}`;
}

function meantZone(expected: string, value: unknown): string {
  return expected === expectedZone && typeof value === 'string' ? suggestedZone(value) : '';
}

/** Suggests a setting of that name elsewhere, else the closest name of the group, else lists the group. */
function unknownKey(path: readonly string[], name: string): string {
  const group = memberAt(path);
  const here = group?.kind === 'group' ? group.members : sections;
  const synonym = path[0] === 'feeds' && path.length === 2 ? feedKeySynonyms[name.toLowerCase()] : undefined;
  const hereWritten = withoutOwnPath(path, name);
  const elsewhere = settings.find((each) => each.name === name || each.key === name)?.key;
  const below = pathBelow(path, name);
  if (below !== null) {
    return `unknown key "${name}" in ${path.join('.')}: ${oneBelowTheOther(below, `in ${path.join('.')}`)}`;
  }
  const isKnownPlace = group?.kind === 'group' || path.length === 0;
  const names = here.map((each) => each.name);
  const meant = synonym ?? hereWritten ?? elsewhere ?? closest(name, names);
  const suggestion = meant === null ? listOf(isKnownPlace ? names : []) : ` (did you mean "${meant}"?)`;
  const how = meant === name || isPathAtTop(path, name) ? `: ${oneBelowTheOther(name)}` : suggestion;
  return path.length === 0 ? `unknown section "${name}"${how}` : `unknown key "${name}" in ${path.join('.')}${how}`;
}

/** A name that begins with the group that it is in already: `guards.updatesMax` in `guards`, also in that of a feed. */
function withoutOwnPath(path: readonly string[], name: string): string | null {
  const own = path.map((_, index) => `${path.slice(index).join('.')}.`).find((whole) => name.startsWith(whole));
  return own === undefined ? null : name.slice(own.length);
}

/**
 * The path from a group to a setting below it that is meant by `guards.updatesMax` or, in a feed, by `updatesMax`. A setting of the same name
 * elsewhere is not meant: that of a feed would be changed for all feeds.
 */
function pathBelow(path: readonly string[], name: string): string | null {
  if (path.length === 0) return null;
  if (name.includes('.')) return memberAt([...path, ...name.split('.')])?.kind === 'setting' ? name : null;
  const feed = path[0] === 'feeds' ? memberAt(path) : null;
  const members = feed?.kind === 'group' ? feed.members : [];
  const inner = members.find((each) => each.kind === 'group' && each.members.some((one) => one.name === name));
  return inner === undefined ? null : `${inner.name}.${name}`;
}

/** `guards.updatesMax`, as messages and documents call a setting. */
function isPathAtTop(path: readonly string[], name: string): boolean {
  const [section] = name.split('.');
  return path.length === 0 && section !== name && sections.some((each) => each.name === section);
}

/** How such a name is written in YAML. */
function oneBelowTheOther(key: string, place = 'at the beginning of a line'): string {
  const [first, ...others] = key.split('.').map((name) => `"${name}:"`);
  return `write ${[`${first} ${place}`, ...others].join(', and below it ')}`;
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '' : `; known here: ${names.join(', ')}`;
}

/** In the order of the lines: a problem starts with its place, and numbers are compared as numbers. */
function invalid(problems: readonly string[], hint: string | null = null): PatchbayError {
  const ordered = problems.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const lines = ordered.slice(0, problemsShownMax);
  if (ordered.length > lines.length) lines.push(`and ${ordered.length - lines.length} more`);
  return new PatchbayError('usage', 'configInvalid', lines.join('\n'), {
    facts: { problemCount: ordered.length },
    hint: hint ?? 'config/default.yaml lists every setting with its default.',
  });
}

// Time zones.

/** Gives `zone` to each schedule that has `at` and no zone: a schedule must not move because another shell started the engine. */
function zonesFilledIn(config: Config, zone: string): Config {
  const feeds = Object.entries(config.feeds).map(([name, feed]) => [name, withZone(feed, zone)] as const);
  const phoneNumbers = withZone(config.snapshots.phoneNumbers, zone);
  return { ...config, feeds: recordOf(feeds), snapshots: { ...config.snapshots, phoneNumbers } };
}

function needsZone({ feeds, snapshots }: Config): boolean {
  return [...Object.values(feeds), snapshots.phoneNumbers].some((rule) => withZone(rule, 'UTC') !== rule);
}

function zoneWarning(
  { name, problem }: NonNullable<ReturnType<typeof zoneOfMachine>['misnamed']>,
  zone: string,
): string {
  const shownName = JSON.stringify(name.slice(0, shownCharactersMax));
  return `TZ: ${shownName} ${problem}; schedules with at and without zone follow ${zone}`;
}

function suggestedZone(text: string): string {
  const zone = closestZone(text);
  return zone === null ? '' : ` (did you mean ${zone}?)`;
}

function withZone<T extends { readonly at: string | null; readonly zone: string | null }>(rule: T, zone: string): T {
  return rule.at === null || rule.zone !== null ? rule : { ...rule, zone };
}
