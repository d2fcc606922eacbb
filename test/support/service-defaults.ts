/** What a workspace service of the tests and benchmarks is started with, where they do not say otherwise. */
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { defaultPatchMode } from '#src/service/contacts/contact-changes.ts';
import type { ServiceOptions } from '#src/service/service-options.ts';

export const serviceDefaults = {
  port: 0,
  apiKeys: ['key-for-tests'],
  store: ':memory:',
  seedContacts: 0,
  seedPhoneNumbers: 0,
  patchMode: defaultPatchMode,
  requestsPerSecond: null,
  pageNumbers: null,
  faults: [],
  faultSeed: 1,
  control: false,
  clock: systemClock(),
  log: silentLogger(),
} as const satisfies ServiceOptions;
