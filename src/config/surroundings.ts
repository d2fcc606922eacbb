/**
 * What the schema cannot check: files that settings name, and values that only a large library can judge, which is loaded
 * only if such a value is set. And what is worth a warning.
 */
import { access, readdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { systemCodeOf } from '#src/errors.ts';
import { closest } from './closest.ts';
import { longestDistanceMs } from './cron-distance.ts';
import { downloadHost, isMappingName } from './feed-schema.ts';
import { formatDuration, isLoopback, isPrivateHost } from './forms.ts';
import type { Config } from './schema.ts';
import { keyFileProblem, readNotifySecret, webhookSecretBytes } from './secrets.ts';
import { settings } from './settings.ts';

/** About the setting at that path. */
export interface Remark {
  readonly path: readonly string[];
  readonly sentence: string;
}

const tokenCharactersMin = 16;

/** Variables of the process, by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/** @param env of this process: that of an engine may be another one. */
export async function checkSurroundings(
  config: Config,
  env: Environment,
): Promise<{
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
  readonly startWarnings: readonly Remark[];
  readonly serviceWarnings: readonly Remark[];
}> {
  const { service, notify, mapping, feeds } = config;
  const problems = [
    ...(await fileProblem(['service', 'apiKeyFile'], service.apiKeyFile, 'key file')),
    ...(await fileProblem(['notify', 'secretFile'], notify.secretFile, 'secret file')),
    ...(await fileProblem(['notify', 'mail', 'passwordFile'], notify.mail.passwordFile, 'password file')),
    ...(await countryProblem(mapping.defaultCountry)),
    ...(await absentFile(['mapping', 'file'], mapping.file)),
  ];
  for (const [name, feed] of Object.entries(feeds)) {
    problems.push(
      ...(await mappingProblem(['feeds', name, 'mapping'], feed.mapping)),
      ...authorizationProblem(['feeds', name, 'authorization'], feed.authorization),
    );
  }
  const ofSecrets = [...(await absentSecrets(notify)), ...(await unusableSecret(notify))];
  return {
    problems,
    warnings: [...warningsOf(config), ...ofSecrets],
    startWarnings: [
      ...Object.entries(feeds).flatMap((feed) => takeWarnings(feed, config, env)),
      ...mailWarnings(notify),
    ],
    serviceWarnings: await serviceWarningsOf(config),
  };
}

/** Of the form, and not of the file, which has its own remarks. */
async function unusableSecret(notify: Config['notify']): Promise<readonly Remark[]> {
  const text = notify.url === null ? null : await readNotifySecret(notify).catch(() => null);
  if (text === null || webhookSecretBytes(text) !== null) return [];
  const key = notify.secret === null ? 'secretFile' : 'secret';
  const sentence = `notify.${key} is neither whsec_ and base64 of at least 16 bytes nor a text of at least 16 characters: without it no notice is delivered there`;
  return [{ path: ['notify', key], sentence }];
}

/**
 * Of a service whose key and contacts would go over public networks as plain text; null of any other. A name that ends with `.svc` is one
 * within a cluster.
 */
export function clearTextWarning({ baseUrl }: Config['service']): string | null {
  if (baseUrl === null) return null;
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || isPrivateHost(hostname) || hostname.endsWith('.svc')) return null;
  return 'the API key and all contacts go there unencrypted, over http: use https, unless the network is your own';
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

/** What comes with Patchbay. */
const mappingsFolder = fileURLToPath(new URL('../../config/mappings', import.meta.url));

/** A feed names a file, or a mapping that comes with Patchbay. */
async function mappingProblem(path: readonly string[], mapping: string | null): Promise<readonly Remark[]> {
  if (mapping === null || !isMappingName(mapping)) return absentFile(path, mapping);
  const names = (await readdir(mappingsFolder)).map((file) => file.replace(/\.yaml$/, '')).toSorted();
  if (names.includes(mapping)) return [];
  const meant = closest(mapping, names);
  const known = meant === null ? `name a YAML file, or one of: ${names.join(', ')}` : `did you mean "${meant}"?`;
  return [{ path, sentence: `${path.join('.')}: there is no mapping "${mapping}" (${known})` }];
}

async function absentFile(path: readonly string[], file: string | null): Promise<readonly Remark[]> {
  if (file === null) return [];
  return access(file).then(
    () => [],
    () => [{ path, sentence: `${path.join('.')}: there is no file ${file}` }],
  );
}

/** A file that is not there yet may come before the first notice, so this is no problem of the configuration. */
async function absentSecrets({ secret, secretFile, mail }: Config['notify']): Promise<readonly Remark[]> {
  const used = [
    ...(secret === null ? await absentFile(['notify', 'secretFile'], secretFile) : []),
    ...(mail.password === null ? await absentFile(['notify', 'mail', 'passwordFile'], mail.passwordFile) : []),
  ];
  return used.map(({ path, sentence }) => ({ path, sentence: `${sentence}: without it no notice is delivered there` }));
}

function authorizationProblem(path: readonly string[], variable: string | null): readonly Remark[] {
  if (variable === null || !settings.some(({ variables }) => variables.includes(variable))) return [];
  const sentence = `${path.join('.')} names ${variable}, a setting of Patchbay, which is never sent elsewhere; use another variable`;
  return [{ path, sentence }];
}

/** What a feed will say at its first take, at night. */
function takeWarnings(
  [name, { take, authorization }]: readonly [string, Config['feeds'][string]],
  { download }: Pick<Config, 'download'>,
  env: Environment,
): readonly Remark[] {
  const path = (key: string): readonly string[] => ['feeds', name, key];
  const warnings: Remark[] = [];
  const host = downloadHost(take);
  if (host !== null && isCertainlyPrivate(host) && !download.privateAddresses) {
    const what = `${host} is an address of this machine or of a private network`;
    const sentence = `${path('take').join('.')}: ${what}: nothing is taken from there without download.privateAddresses`;
    warnings.push({ path: path('take'), sentence });
  }
  if (authorization !== null && (env[authorization] ?? '').trim() === '') {
    const sentence = `${path('authorization').join('.')}: the variable ${authorization} is not set here: where Patchbay is started without it, nothing is taken`;
    warnings.push({ path: path('authorization'), sentence });
  }
  return warnings;
}

/** A name may lead anywhere: only a look-up tells. */
function isCertainlyPrivate(host: string): boolean {
  return isLoopback(host) || (isIP(host.replace(/^\[|\]$/g, '')) !== 0 && isPrivateHost(host));
}

function mailWarnings({ mail }: Config['notify']): readonly Remark[] {
  const { server, from, to, user, password, passwordFile } = mail;
  const path = (key: string): readonly string[] => ['notify', 'mail', key];
  if (server === null) {
    const named = from !== null ? 'from' : to.length > 0 ? 'to' : null;
    const sentence = `notify.mail.${named} is set, and notify.mail.server is not: no e-mail is sent`;
    return named === null ? [] : [{ path: path(named), sentence }];
  }
  if (user === null || password !== null || passwordFile !== null) return [];
  const sentence =
    'notify.mail.user is set, and neither notify.mail.passwordFile nor PATCHBAY_NOTIFY_MAIL_PASSWORD is: the password is sent as an empty one';
  return [{ path: path('user'), sentence }];
}

async function serviceWarningsOf({ service }: Config): Promise<readonly Remark[]> {
  const clearText = clearTextWarning(service);
  const ofClearText =
    clearText === null ? [] : [{ path: ['service', 'baseUrl'], sentence: `service.baseUrl: ${clearText}` }];
  return [...ofClearText, ...(await absentKey(service))];
}

/** A key may come later, too; what needs it meanwhile ends with 4. */
async function absentKey({ baseUrl, apiKey, apiKeyFile }: Config['service']): Promise<readonly Remark[]> {
  if (baseUrl === null || apiKey !== null) return [];
  const end = 'without a key, what needs the service ends with exit code 4';
  const path = ['service', 'apiKeyFile'];
  if (apiKeyFile === null)
    return [{ path: ['service', 'baseUrl'], sentence: `service.apiKeyFile is not set, nor PATCHBAY_API_KEY: ${end}` }];
  const isAbsent = await access(apiKeyFile).then(
    () => false,
    (error: unknown) => systemCodeOf(error) === 'ENOENT',
  );
  return isAbsent ? [{ path, sentence: `service.apiKeyFile: there is no file ${apiKeyFile}: ${end}` }] : [];
}

/** Completes "expectEvery …"; null where a file can come in time. */
function expectedTooSoon({ at, everyMs, expectEveryMs }: Config['feeds'][string]): string | null {
  if (expectEveryMs === null) return null;
  if (everyMs !== null && expectEveryMs < everyMs)
    return `is shorter than every (${formatDuration(everyMs)}), so that each file comes too late`;
  const longestMs = at === null ? 0 : longestDistanceMs(at);
  if (expectEveryMs >= longestMs) return null;
  return `is shorter than the longest time from one time of at to the next (${formatDuration(longestMs)}), after which a file comes too late`;
}

function warningsOf({ page, service, notify, feeds }: Config): readonly Remark[] {
  const warnings: Remark[] = [];
  for (const [name, feed] of Object.entries(feeds)) {
    const path = ['feeds', name, 'expectEvery'];
    const tooShort = expectedTooSoon(feed);
    if (tooShort !== null) warnings.push({ path, sentence: `${path.join('.')} ${tooShort}` });
  }
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
  if (notify.mail.password !== null && notify.mail.passwordFile !== null) {
    const sentence = 'notify.mail.passwordFile is also set; it is not read while the password itself is set';
    warnings.push({ path: ['notify', 'mail', 'password'], sentence });
  }
  return warnings;
}
