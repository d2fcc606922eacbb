/** Checks of the merged configuration: rules over several settings, and files that settings name. */
import { keyFileProblem } from './api-key.ts';
import { feedProblems, scheduleProblems } from './feed-checks.ts';
import type { Origin } from './given-value.ts';
import { isLoopback } from './private-host.ts';
import type { Config } from './schema.ts';

export interface CrossChecks {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const tokenCharactersMin = 16;

/** `sources` names the origin of each setting by its key, for the messages. */
export async function crossProblems(config: Config, sources: Readonly<Record<string, Origin>>): Promise<CrossChecks> {
  const at = (key: string): string => sources[key]?.name ?? key;
  const problems: string[] = [];
  const warnings: string[] = [];
  const { page, service, mapping, notify, snapshots } = config;

  if (!isLoopback(page.host)) {
    const where = `${at('page.host')}: page.host is ${page.host}, which others can reach`;
    if (page.token === null) problems.push(`${where}: set a token too (PATCHBAY_TOKEN), or use 127.0.0.1`);
    else if (page.token.length < tokenCharactersMin) {
      warnings.push(
        `${at('page.token')}: page.token has fewer than ${tokenCharactersMin} characters and can be guessed`,
      );
    }
  }
  if (service.apiKeyFile !== null) {
    const problem = await keyFileProblem(service.apiKeyFile);
    if (problem !== null) problems.push(`${at('service.apiKeyFile')}: ${problem}`);
    if (service.apiKey !== null) {
      warnings.push(
        `${at('service.apiKey')}: service.apiKeyFile is set too and is not read while the key itself is set`,
      );
    }
  }
  if (notify.secretFile !== null) {
    const problem = await keyFileProblem(notify.secretFile, 'secret file');
    if (problem !== null) problems.push(`${at('notify.secretFile')}: ${problem}`);
    if (notify.secret !== null) {
      warnings.push(
        `${at('notify.secret')}: notify.secretFile is set too and is not read while the secret itself is set`,
      );
    }
  }
  problems.push(...(await feedProblems(config, sources)));
  problems.push(...(await scheduleProblems('snapshots.phoneNumbers', snapshots.phoneNumbers, sources)));
  if (mapping.defaultCountry !== null && !(await isCountry(mapping.defaultCountry))) {
    const meant = mapping.defaultCountry === 'UK' ? '; the United Kingdom is GB' : '';
    problems.push(`${at('mapping.defaultCountry')}: there is no country ${mapping.defaultCountry}${meant}`);
  }
  return { problems, warnings };
}

/** Loads the list of countries only where it is asked for: it is slow to load. */
async function isCountry(code: string): Promise<boolean> {
  const { isSupportedCountry } = await import('libphonenumber-js/min');
  return isSupportedCountry(code);
}
