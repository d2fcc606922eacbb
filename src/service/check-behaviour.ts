/** What a service is told to be, looked at before anything is opened for it. */
import { PatchbayError } from '#src/errors.ts';
import { checkKeys } from './keys/settle-keys.ts';
import type { ServiceBehaviour } from './service-options.ts';

/** Throws `usage` errors: `keyMalformed`, `tooManyKeys`, `limitMalformed`. */
export function checkBehaviour({ apiKeys, requestsPerSecond, pageNumbers }: ServiceBehaviour): void {
  checkKeys(apiKeys);
  requirePositive('requestsPerSecond', requestsPerSecond);
  requirePositive('pageNumbers', pageNumbers);
}

function requirePositive(name: string, value: number | null): void {
  if (value === null || (Number.isInteger(value) && value > 0)) return;
  throw new PatchbayError('usage', 'limitMalformed', `${name} must be a whole number above 0, not ${value}`, {
    facts: { name, value },
    hint: 'Leave it out for no limit.',
  });
}
