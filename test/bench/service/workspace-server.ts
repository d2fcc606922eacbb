/** The workspace service on a store of its own: `workspace-server.ts STORE`. */

import { systemClock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { createLogger } from '#src/log.ts';
import { startService } from '#src/service/start-service.ts';
import { obey } from './server-process.ts';
import { benchKey } from './traffic.ts';

const store = process.argv[2];
invariant(store !== undefined, 'a store is named');
const service = await startService({
  port: 0,
  apiKeys: [benchKey],
  store,
  seedContacts: 0,
  seedPhoneNumbers: 4,
  patchMode: 'merge',
  requestsPerSecond: null,
  pageNumbers: null,
  faults: [],
  faultSeed: 1,
  control: false,
  clock: systemClock(),
  log: createLogger({ level: 'warn' }),
});
obey(service.port, () => {}, service.close);
