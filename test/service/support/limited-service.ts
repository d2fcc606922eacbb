/** A service in a process of its own, so that it and its test do not share their sockets. Socket limits: argument 2. */
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { startService } from '#src/service/start-service.ts';
import { dieOfMisfit } from '#test/support/reply-check.ts';

const service = await startService({
  replyObserver: dieOfMisfit,
  port: 0,
  apiKeys: ['key-for-tests'],
  store: ':memory:',
  seedContacts: 3,
  seedPhoneNumbers: 1,
  patchMode: 'merge',
  requestsPerSecond: null,
  pageNumbers: null,
  faults: [],
  faultSeed: 1,
  control: false,
  clock: systemClock(),
  log: silentLogger(),
  socketLimits: JSON.parse(process.argv[2] ?? '{}'),
});
process.send?.(service.port);
// The parent has gone: nobody is left to be served.
process.once('disconnect', () => process.exit());
