/**
 * What the schema cannot check: files that settings name, and values that only a library can judge, which is loaded only
 * where such a value is set. And what is worth a warning.
 */
import { access } from 'node:fs/promises';
import { isMappingName } from './feed-schema.ts';
import { cronOptions, isLoopback } from './forms.ts';
import type { Config } from './schema.ts';
import { keyFileProblem } from './secrets.ts';
import { settings } from './settings.ts';

/** About the setting at that path. */
export interface Remark {
  readonly path: readonly string[];
  readonly sentence: string;
}

const tokenCharactersMin = 16;

export async function checkSurroundings(
  config: Config,
): Promise<{ readonly problems: readonly Remark[]; readonly warnings: readonly Remark[] }> {
  const { service, notify, mapping, snapshots, feeds } = config;
  const problems = [
    ...(await fileProblem(['service', 'apiKeyFile'], service.apiKeyFile, 'key file')),
    ...(await fileProblem(['notify', 'secretFile'], notify.secretFile, 'secret file')),
    ...(await countryProblem(mapping.defaultCountry)),
    ...(await ruleProblem(['snapshots', 'phoneNumbers', 'at'], snapshots.phoneNumbers.at)),
  ];
  for (const [name, feed] of Object.entries(feeds)) {
    problems.push(
      ...(await ruleProblem(['feeds', name, 'at'], feed.at)),
      ...(await mappingProblem(['feeds', name, 'mapping'], feed.mapping)),
      ...authorizationProblem(['feeds', name, 'authorization'], feed.authorization),
    );
  }
  return { problems, warnings: warningsOf(config) };
}

async function fileProblem(path: readonly string[], file: string | null, what: string): Promise<readonly Remark[]> {
  const problem = file === null ? null : await keyFileProblem(file, what);
  return problem === null ? [] : [{ path, sentence: problem }];
}

async function countryProblem(code: string | null): Promise<readonly Remark[]> {
  if (code === null) return [];
  const { isSupportedCountry } = await import('libphonenumber-js/min');
  if (isSupportedCountry(code)) return [];
  const meant = code === 'UK' ? '; the United Kingdom is GB' : '';
  return [{ path: ['mapping', 'defaultCountry'], sentence: `there is no country ${code}${meant}` }];
}

async function ruleProblem(path: readonly string[], at: string | null): Promise<readonly Remark[]> {
  const problem = at === null ? null : await cronProblem(at);
  return problem === null ? [] : [{ path, sentence: `${path.join('.')}: ${problem}` }];
}

/** A mapping by name is looked up where mappings are. */
async function mappingProblem(path: readonly string[], mapping: string | null): Promise<readonly Remark[]> {
  if (mapping === null || isMappingName(mapping)) return [];
  return access(mapping).then(
    () => [],
    () => [{ path, sentence: `${path.join('.')}: there is no file ${mapping}` }],
  );
}

function authorizationProblem(path: readonly string[], variable: string | null): readonly Remark[] {
  if (variable === null || !settings.some(({ variables }) => variables.includes(variable))) return [];
  const sentence = `${path.join('.')} names ${variable}, a setting of Patchbay, which is never sent elsewhere; use another variable`;
  return [{ path, sentence }];
}

function warningsOf({ page, service, notify }: Config): readonly Remark[] {
  const warnings: Remark[] = [];
  if (!isLoopback(page.host) && page.token !== null && page.token.length < tokenCharactersMin) {
    const sentence = `page.token has fewer than ${tokenCharactersMin} characters and can be guessed`;
    warnings.push({ path: ['page', 'token'], sentence });
  }
  if (service.apiKey !== null && service.apiKeyFile !== null) {
    const sentence = 'service.apiKeyFile is also set; it is not read while the key itself is set';
    warnings.push({ path: ['service', 'apiKey'], sentence });
  }
  if (notify.secret !== null && notify.secretFile !== null) {
    const sentence = 'notify.secretFile is also set; it is not read while the secret itself is set';
    warnings.push({ path: ['notify', 'secret'], sentence });
  }
  return warnings;
}

// Cron expressions. croner decides, since it also tells when a schedule is due. Each field is tried alone, with `*` in the
// others, so that the message can name the wrong one.

interface Field {
  readonly name: string;
  /** Completes "must be …". */
  readonly range: string;
}

const fields: readonly Field[] = [
  { name: 'minute', range: 'from 0 to 59' },
  { name: 'hour', range: 'from 0 to 23' },
  { name: 'day of the month', range: 'from 1 to 31, or L for the last' },
  { name: 'month', range: 'from 1 to 12, or JAN to DEC' },
  { name: 'weekday', range: 'from 0 to 7, where 0 and 7 are Sunday, or SUN to SAT' },
];

const everyTime = fields.map(() => '*');

/** Null where the expression of five fields is right and comes at least once. Loads croner on the first call. */
export async function cronProblem(expression: string): Promise<string | null> {
  const { Cron } = await import('croner');
  const comes = (each: readonly string[]): boolean => {
    try {
      return new Cron(each.join(' '), { timezone: 'UTC', ...cronOptions }).nextRun(new Date(0)) !== null;
    } catch {
      return false;
    }
  };
  const given = expression.split(' ');
  for (const [index, field] of fields.entries()) {
    const text = given[index] ?? '';
    if (!comes(everyTime.with(index, text))) return wrongField(field, text);
  }
  return comes(given) ? null : `"${expression}" never comes: there is no such date`;
}

function wrongField({ name, range }: Field, text: string): string {
  const backwards = /^(\d+)-(\d+)/.exec(text);
  const [, from = '', to = ''] = backwards ?? [];
  if (backwards !== null && Number(from) > Number(to)) {
    return `the ${name} "${text.slice(0, 40)}" counts backwards; write two parts with a comma between them`;
  }
  return `the ${name} "${text.slice(0, 40)}" is wrong: it must be a number ${range}, or *, lists such as 1,3, ranges such as 1-5, steps such as */2`;
}
