/** What is sent as `Authorization`: read anew at each take, so that a changed value counts at once. Never printed. */
import { takeError } from './take-error.ts';

/**
 * Null where the feed names no variable.
 * @throws PatchbayError `auth`: `credentialsMissing`, `credentialsInvalid`.
 */
export function credentialsOf(
  variable: string | null,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  if (variable === null) return null;
  const value = env[variable]?.trim() ?? '';
  if (value === '') {
    const hint = `Set ${variable} where Patchbay is started, for example to "Bearer …" or "Basic …".`;
    throw takeError('auth', 'credentialsMissing', `the variable ${variable} is not set`, hint);
  }
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  const message = `the value of ${variable} cannot be sent: it holds line breaks or characters beyond ASCII`;
  throw takeError('auth', 'credentialsInvalid', message, `Set ${variable} to one line, exactly as it is to be sent.`);
}
