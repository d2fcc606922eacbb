/** A service in a process of its own, so that it and its test do not share their sockets. */
import { startService } from '#src/service/start-service.ts';
import { dieOfMisfit } from '#test/support/reply-check.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';

const service = await startService({
  ...serviceDefaults,
  replyObserver: dieOfMisfit,
  seedContacts: 3,
  seedPhoneNumbers: 1,
});
process.send?.(service.port);
// The parent has gone: nobody is left to be served.
process.once('disconnect', () => process.exit());
