/** A process that delivers one delivery. Arguments: the ledger's file, the webhook's URL, the delivery's id. */
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { silentLogger } from '#src/log.ts';
import { openNotices } from '#src/notices/deliver.ts';

const [file = '', url = '', id = ''] = process.argv.slice(2);
const ledger = openSqliteLedger(file);
const notices = openNotices({
  ledger,
  clock: systemClock(),
  log: silentLogger(),
  random: () => 0,
  notify: configSchema.parse({ notify: { url } }).notify,
  workspace: 'sandbox',
  installation: null,
  pageAddress: null,
});
await notices.deliver(id, new AbortController().signal);
