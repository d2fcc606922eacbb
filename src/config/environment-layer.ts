/**
 * The layer of the environment: the contract's names and `PATCHBAY_<SECTION>_<KEY>` for every setting.
 *
 * An empty variable counts as unset. An unknown `PATCHBAY_` variable is a warning, since environments are shared; a
 * variable of something that does not work yet, or that stands in the config file only, is refused, since ignoring it
 * would do the wrong thing silently.
 */
import { closest } from './closest.ts';
import type { GivenValue, Layer } from './given-value.ts';
import { type Setting, settings } from './settings.ts';

/** The variable that names the config file; it is no setting. */
export const configVariable = 'PATCHBAY_CONFIG';

const laterVariables: Readonly<Record<string, string>> = {
  DATABASE_URL: 'a ledger in PostgreSQL is not available yet; unset it to keep the ledger in the data folder',
  PATCHBAY_LEDGER_DATABASE_URL: 'a ledger in PostgreSQL is not available yet; unset it',
};

const warningsMax = 20;

const feedVariable = /^PATCHBAY_FEEDS?(?:_|$)/;

/**
 * `cwd` is the folder at which relative paths start; `named` are further variables that settings name, so that they
 * are known.
 */
export function environmentLayer(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  named: readonly string[] = [],
): Layer {
  const problems: string[] = [];
  const values: GivenValue[] = [];
  for (const setting of settings) {
    const set = setting.variables.filter((variable) => textOf(env[variable]) !== null);
    const [first, second] = set;
    if (first === undefined) continue;
    if (second !== undefined && textOf(env[first]) !== textOf(env[second])) {
      problems.push(`${first}: ${second} is set as well, to another value; unset one of them`);
    }
    const origin = { kind: 'environment', name: first } as const;
    values.push({ setting, value: typed(setting, textOf(env[first])), origin, folder: cwd });
  }
  for (const [variable, reason] of Object.entries(laterVariables)) {
    if (textOf(env[variable]) !== null) problems.push(`${variable}: ${reason}`);
  }
  for (const variable of Object.keys(env)
    .sort()
    .filter((name) => feedVariable.test(name) && !named.includes(name))) {
    if (textOf(env[variable]) === null) continue;
    problems.push(`${variable}: feeds stand in the config file only, under "feeds:"; unset it`);
  }
  return { values, feeds: [], problems, warnings: unknownVariables(env, named) };
}

/** A number, true or false where the setting takes one and the text is one; otherwise the text, for the check. */
export function typed(setting: Setting, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (setting.readAs === 'number') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return setting.readAs === 'boolean' && /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value;
}

function textOf(value: string | undefined): string | null {
  const text = value?.trim() ?? '';
  return text === '' ? null : text;
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>, named: readonly string[]): string[] {
  const known = [configVariable, ...settings.flatMap((setting) => setting.variables)];
  const told = [...known, ...named, ...Object.keys(laterVariables)];
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith('PATCHBAY_') && textOf(env[name]) !== null && !told.includes(name) && !feedVariable.test(name),
  );
  return unknown
    .sort()
    .slice(0, warningsMax)
    .map((name) => {
      const suggestion = closest(bare(name), known.map(bare));
      const meant = known.find((candidate) => bare(candidate) === suggestion);
      return `${name}: no such setting${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    });
}

/** Without the prefix, which would make all names look alike. */
function bare(name: string): string {
  return name.replace(/^PATCHBAY_/, '');
}
