/** A service in a process of its own, for tests that kill it. The store's path is the argument; the origin is sent. */
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { startService } from '#src/service/start-service.ts';
import { dieOfMisfit } from '#test/support/reply-check.ts';

const service = await startService({
  replyObserver: dieOfMisfit,
  port: 0,
  apiKeys: ['key-for-tests'],
  store: process.argv[2] ?? ':memory:',
  seedContacts: 0,
  seedPhoneNumbers: 0,
  patchMode: 'merge',
  requestsPerSecond: null,
  pageNumbers: null,
  faults: [],
  faultSeed: 1,
  control: false,
  clock: systemClock(),
  log: silentLogger(),
});
process.send?.(service.origin);
// The parent has gone: nobody is left to be served.
process.once('disconnect', () => process.exit());
