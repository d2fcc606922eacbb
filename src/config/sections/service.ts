/** Settings of the connection to the workspace service (`interface.md`, section 1; `rules.md`, "Retries, rate, outages"). */
import { z } from 'zod';
import { checkedText, path, secret, wholeNumber } from '../forms.ts';
import { settingTraits } from '../traits.ts';

const expectedOrigin = 'an origin such as https://api.example.com, without a path';

export const serviceSection = z
  .strictObject({
    baseUrl: checkedText(expectedOrigin, originProblem)
      .transform((text) => new URL(text).origin)
      .nullable()
      .default(null)
      .describe("The service's origin, without /v1; null means the embedded sandbox service.")
      .register(settingTraits, { env: 'PATCHBAY_BASE_URL' }),
    apiKey: secret()
      .nullable()
      .default(null)
      .describe('The raw API key, given by the environment only; null means the key file or the sandbox has it.')
      .register(settingTraits, { env: 'PATCHBAY_API_KEY', secret: 'whole', environmentOnly: true }),
    apiKeyFile: path()
      .nullable()
      .default(null)
      .describe('A file of mode 0600 that holds the API key; it is read again after a 401.')
      .register(settingTraits, { env: 'PATCHBAY_API_KEY_FILE', path: true }),
    requestsPerSecond: wholeNumber(1, 10_000)
      .nullable()
      .default(null)
      .describe('Requests per second for the key; null means 8, and no limit for the sandbox.')
      .register(settingTraits, { env: 'PATCHBAY_RATE' }),
  })
  .describe('The workspace service that Patchbay writes to.');

/** Null where the text is an origin; otherwise what is expected instead. */
function originProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || !/^https?:\/\//i.test(text)) {
    return expectedOrigin;
  }
  if (url.username !== '' || url.password !== '') return 'an origin without user name and password';
  if (/^\/v1\/?$/.test(url.pathname)) return `the origin without /v1, which is added to it: write ${url.origin}`;
  return url.pathname === '/' && url.search === '' && url.hash === '' ? null : `the origin alone: write ${url.origin}`;
}
