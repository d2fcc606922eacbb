/**
 * The layers of the configuration as raw values with their origins, and how they are merged: flags over the environment over
 * the config file over the defaults. Nothing is checked here but what depends on where a value stands.
 *
 * An empty variable counts as unset. An unknown `PATCHBAY_` variable is a warning, since environments are shared: Kubernetes sets
 * `PATCHBAY_FEEDS_PORT` in every pod beside a service called `patchbay-feeds`.
 */

import { resolve } from 'node:path';
import { closest } from './closest.ts';
import { isMappingName, isUrl } from './feed-schema.ts';
import type { SettingTraits } from './forms.ts';
import { memberAt, type Setting, settings } from './settings.ts';

export interface Origin {
  readonly kind: 'default' | 'file' | 'environment' | 'flag';
  /** What a message starts with: `file:line:column`, the variable's name, `flag`, or `default`. */
  readonly name: string;
}

/** A value as written, with its place. */
export interface RawValue {
  /** From the root. */
  readonly path: readonly string[];
  /** A scalar or a list; `{}` for a map, whose members are values of their own. */
  readonly value: unknown;
  readonly origin: Origin;
  /** The place of the key, where it has one of its own. */
  readonly keyOrigin?: Origin;
}

/** One layer, and what is wrong or worth a note with it as a whole, one sentence each. */
export interface Layer {
  readonly values: readonly RawValue[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** The folder at which relative paths start. */
  readonly folder: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names the config file; it is no setting. */
export const configVariable = 'PATCHBAY_CONFIG';

const warningsMax = 20;

/** No setting has such a name: feeds have no variables. */
const feedVariable = /^PATCHBAY_FEEDS?(?:_|$)/;

/** `named` are variables that settings name, so that they are known. */
export function environmentLayer(env: Environment, cwd: string, named: readonly string[] = []): Layer {
  const problems: string[] = [];
  const values = settings.flatMap(({ path, variables, readAs }): RawValue[] => {
    const [first, second] = variables.filter((variable) => textOf(env[variable]) !== null);
    if (first === undefined) return [];
    if (second !== undefined && textOf(env[first]) !== textOf(env[second])) {
      problems.push(`${first}: ${second} is also set, to another value; unset one of them`);
    }
    return [{ path, value: typed(readAs, textOf(env[first])), origin: { kind: 'environment', name: first } }];
  });
  return { values, problems, warnings: unknownVariables(env, named), folder: cwd };
}

/** `flags` by section and name. */
export function flagLayer(flags: Readonly<Record<string, object | undefined>>, cwd: string): Layer {
  const values = Object.entries(flags).flatMap(([section, members]) =>
    Object.entries(members ?? {}).flatMap(([name, value]): RawValue[] => {
      const setting = settings.find(({ key }) => key === `${section}.${name}`);
      if (setting === undefined || value === undefined) return [];
      return [{ path: setting.path, value: typed(setting.readAs, value), origin: { kind: 'flag', name: 'flag' } }];
    }),
  );
  return { values, problems: [], warnings: [], folder: cwd };
}

/** A number, true or false where the setting takes one and the text is one; otherwise the text, for the schema. */
function typed(readAs: Setting['readAs'], value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (readAs === 'number') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return readAs === 'boolean' && /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value;
}

function textOf(value: string | undefined): string | null {
  const text = value?.trim() ?? '';
  return text === '' ? null : text;
}

function unknownVariables(env: Environment, named: readonly string[]): string[] {
  const known = [configVariable, ...settings.flatMap((setting) => setting.variables)];
  const expected = [...known, ...named];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('PATCHBAY_') && textOf(env[name]) !== null && !expected.includes(name),
  );
  return unknown
    .sort()
    .slice(0, warningsMax)
    .map((name) => {
      if (feedVariable.test(name)) {
        return `${name}: no such setting; feeds are set in the config file only, under "feeds:"`;
      }
      const suggestion = closest(bare(name), known.map(bare));
      const meant = known.find((candidate) => bare(candidate) === suggestion);
      return `${name}: no such setting${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
    });
}

/** Without the prefix, which would make all names look alike. */
function bare(name: string): string {
  return name.replace(/^PATCHBAY_/, '');
}

interface Tree {
  [name: string]: unknown;
}

/** All layers as one, before anything is checked. */
export interface Merged {
  /** As in a config file. */
  readonly input: Tree;
  readonly problems: readonly string[];
  /** Where the value at that path stands, or the innermost one around it; its key with dots where no layer has it. */
  originAt(path: readonly PropertyKey[], of?: 'value' | 'key'): Origin | null;
  readonly values: readonly RawValue[];
}

/** Merges the layers, given in rising order: the last value of each setting counts. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const input: Tree = {};
  const found = new Map<string, RawValue>();
  const problems = layers.flatMap((layer) => layer.problems);
  for (const { values, folder } of layers) {
    for (const one of values) {
      const member = memberAt(one.path);
      const setting = member?.kind === 'setting' ? member : null;
      const misplaced = setting === null ? null : misplacedSecret(setting, one);
      if (misplaced !== null) problems.push(misplaced);
      else if (enter(input, one, setting, folder, member !== null && setting === null)) found.set(keyOf(one.path), one);
    }
  }
  return {
    input,
    problems,
    values: [...found.values()],
    originAt: (path, of = 'value') => {
      // Ends at the root.
      for (let length = path.length; length > 0; length -= 1) {
        const one = found.get(keyOf(path.slice(0, length)));
        if (one !== undefined) return of === 'key' ? (one.keyOrigin ?? one.origin) : one.origin;
      }
      return null;
    },
  };
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('\0');
}

/** Null where the value may stand where it does. */
function misplacedSecret({ traits, key, variables }: Setting, { value, origin }: RawValue): string | null {
  if (traits.environmentOnly !== true || origin.kind === 'environment' || value === null) return null;
  return `${origin.name}: ${key} must not be set here, where others could read it: set ${variables[0]}, or name a file of mode 0600 with ${key}File`;
}

/** @returns whether the value was entered: one within something that is no group is left to the message about that. */
function enter(input: Tree, one: RawValue, setting: Setting | null, folder: string, isGroup: boolean): boolean {
  const branch = branchAt(input, one.path.slice(0, -1));
  const name = one.path.at(-1);
  if (branch === null || name === undefined) return false;
  if (isGroup && (one.value === null || isTree(one.value))) {
    // Empty, or to be filled by its members.
    if (!isTree(branch[name])) branch[name] = treeOf();
  } else if (isTree(one.value)) {
    branch[name] = treeOf();
  } else {
    branch[name] = absolute(setting?.traits.path, one.value, folder);
  }
  return true;
}

/** The branch at a path, made where it is missing; null where something else is in its place. */
function branchAt(tree: Tree, path: readonly string[]): Tree | null {
  let at = tree;
  for (const name of path) {
    at[name] ??= treeOf();
    const next = at[name];
    if (!isTree(next)) return null;
    at = next;
  }
  return at;
}

/** Without a prototype: names such as `constructor` are found only where they were put. */
function treeOf(): Tree {
  return Object.create(null);
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A blank names nothing: it stays as it is, and its form refuses it. */
function absolute(trait: SettingTraits['path'], value: unknown, folder: string): unknown {
  if (trait === undefined || typeof value !== 'string' || value.trim() === '') return value;
  if (trait === 'orUrl' && isUrl(value)) return value;
  return trait === 'orName' && isMappingName(value) ? value : resolve(folder, value);
}
