/** A service in a process of its own, for tests that kill it. The store's path is the argument; the origin is sent. */
import { startService } from '#src/service/start-service.ts';
import { dieOfMisfit } from '#test/support/reply-check.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';

const service = await startService({
  ...serviceDefaults,
  replyObserver: dieOfMisfit,
  store: process.argv[2] ?? ':memory:',
});
process.send?.(service.origin);
// The parent has gone: nobody is left to be served.
process.once('disconnect', () => process.exit());
