/** The workspace service on a store of its own: `workspace-server.ts STORE`. */

import { invariant } from '#src/errors.ts';
import { createLogger } from '#src/log.ts';
import { startService } from '#src/service/start-service.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';
import { obey } from './server-process.ts';
import { benchKey } from './traffic.ts';

const store = process.argv[2];
invariant(store !== undefined, 'a store is named');
const service = await startService({
  ...serviceDefaults,
  apiKeys: [benchKey],
  store,
  seedPhoneNumbers: 4,
  log: createLogger({ level: 'warn' }),
});
obey(service.port, () => {}, service.close);
