/**
 * The secrets: the API key, the one that notices are signed with, and the password at the mail server. From the environment, or from a file that only its
 * owner may read (`docs/rules.md`, "Secrets and personal data").
 *
 * A file that group or others may read or write is refused: a warning is overlooked, and a secret that was open to others must
 * be replaced anyway. Windows has no such modes and is not checked.
 */
import { stat } from 'node:fs/promises';
import { PatchbayError } from '#src/errors.ts';
import { readSettingsFile } from '#src/settings-file.ts';
import type { Config } from './schema.ts';

const bytesMax = 4_096;

/**
 * The key of the service, read on every call so that a replaced key file takes effect; null if none is set.
 * @throws PatchbayError `auth` `apiKeyMissing` if the file cannot be read or holds no key; `usage` `apiKeyFileOpen` if others may
 *   use it.
 */
export async function readApiKey(service: Config['service']): Promise<string | null> {
  if (service.apiKey !== null) return service.apiKey;
  const file = service.apiKeyFile;
  if (file === null) return null;
  const read = await readSecretFile(file, 'key file');
  if (read.state === 'read') return read.secret;
  if (read.state === 'open') throw new PatchbayError('usage', 'apiKeyFileOpen', read.problem, { facts: { file } });
  throw new PatchbayError('auth', 'apiKeyMissing', read.problem, {
    facts: { file },
    hint: 'Put the raw API key into that file, without Bearer, or set PATCHBAY_API_KEY.',
    cause: read.cause,
  });
}

/** `open`: others may use the file. `missing`: it cannot be read, or holds no secret. */
export type SecretFile =
  | { readonly state: 'read'; readonly secret: string }
  | { readonly state: 'open'; readonly problem: string }
  | { readonly state: 'missing'; readonly problem: string; readonly cause: unknown };

/** Reads a file that holds one line with a secret; `what` names it in messages, such as `key file`. */
async function readSecretFile(file: string, what: 'key file' | 'secret file' | 'password file'): Promise<SecretFile> {
  const problem = await keyFileProblem(file, what);
  if (problem !== null) return { state: 'open', problem };
  let text: string;
  try {
    text = (await readSettingsFile(file, { bytesMax })).trim();
  } catch (cause) {
    return { state: 'missing', problem: `the ${what} ${file} cannot be read`, cause };
  }
  if (text.length <= bytesMax && /^[\x21-\x7e]+$/.test(text)) return { state: 'read', secret: text };
  const noun = what.replace(' file', '');
  return { state: 'missing', problem: `the ${what} ${file} does not hold one line with a ${noun}`, cause: undefined };
}

/** What is wrong with the mode of a key file, in one sentence; null if it is safe or missing. */
export async function keyFileProblem(file: string, what = 'key file'): Promise<string | null> {
  if (process.platform === 'win32') return null;
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) === 0) return null;
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    return `the ${what} ${file} has mode ${octal}, so others may use it: run chmod 600 ${file}`;
  } catch {
    return null;
  }
}

/**
 * The secret of the webhook, read on every call so that a replaced file takes effect; null if none is set: posts are unsigned.
 * @throws PatchbayError `usage` `notifySecretFileOpen` if others may use the file; `usage` `notifySecretMissing` if it cannot be
 *   read or holds no secret.
 */
export async function readNotifySecret(notify: Config['notify']): Promise<string | null> {
  if (notify.secret !== null) return notify.secret;
  const file = notify.secretFile;
  if (file === null) return null;
  const read = await readSecretFile(file, 'secret file');
  if (read.state === 'read') return read.secret;
  const code = read.state === 'open' ? 'notifySecretFileOpen' : 'notifySecretMissing';
  throw new PatchbayError('usage', code, read.problem, {
    facts: { file },
    hint: 'Put the secret into that file (mode 0600), or set PATCHBAY_NOTIFY_SECRET.',
    ...(read.state === 'missing' ? { cause: read.cause } : {}),
  });
}

/** Characters of a secret given as text; bytes of one given in base64. */
const webhookSecretMin = 16;
const base64Prefix = 'whsec_';

/** The bytes of a secret, given as `whsec_<base64>` or as any text of at least 16 characters; null if it is neither. */
export function webhookSecretBytes(secret: string): Buffer | null {
  if (!secret.startsWith(base64Prefix)) return secret.length >= webhookSecretMin ? Buffer.from(secret, 'utf8') : null;
  const text = secret.slice(base64Prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length >= webhookSecretMin ? bytes : null;
}

/**
 * The password at the mail server, read on every call so that a replaced file takes effect; null if none is set.
 * @throws PatchbayError `usage` `mailPasswordFileOpen` if others may use the file; `usage` `mailPasswordMissing` if it cannot be
 *   read or holds no password.
 */
export async function readMailPassword(mail: Config['notify']['mail']): Promise<string | null> {
  if (mail.password !== null) return mail.password;
  const file = mail.passwordFile;
  if (file === null) return null;
  const read = await readSecretFile(file, 'password file');
  if (read.state === 'read') return read.secret;
  const code = read.state === 'open' ? 'mailPasswordFileOpen' : 'mailPasswordMissing';
  throw new PatchbayError('usage', code, read.problem, {
    facts: { file },
    hint: 'Put the password into that file (mode 0600), or set PATCHBAY_NOTIFY_MAIL_PASSWORD.',
    ...(read.state === 'missing' ? { cause: read.cause } : {}),
  });
}
