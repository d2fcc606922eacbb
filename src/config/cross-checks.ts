/** Checks of the merged configuration: rules over several settings, and files that settings name. */
import { keyFileProblem } from './api-key.ts';
import type { Origin } from './given-value.ts';
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
  const { page, service, mapping } = config;

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
  if (mapping.defaultCountry !== null && !(await isCountry(mapping.defaultCountry))) {
    const meant = mapping.defaultCountry === 'UK' ? '; the United Kingdom is GB' : '';
    problems.push(`${at('mapping.defaultCountry')}: there is no country ${mapping.defaultCountry}${meant}`);
  }
  return { problems, warnings };
}

/** Whether a page on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Loads the list of countries only where it is asked for: it is slow to load. */
async function isCountry(code: string): Promise<boolean> {
  const { isSupportedCountry } = await import('libphonenumber-js/min');
  return isSupportedCountry(code);
}
