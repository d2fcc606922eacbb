/** What `patchbay status` says of notices that were given up. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { status } from '#src/cli/commands/status.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

it('names the command that lists the notices that were given up, whatever else is dead', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const notice = { kind: 'notice', type: 'feed.bad', feed: 'crm@slack', data: {}, atMs: 1 } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 1 }, [
    { ...notice, id: 'n1' },
    { ...notice, id: 'n2' },
  ]);
  await ledger.deliveries.tried('n1', 2, { state: 'dead', why: { code: 'slackGone', message: 'Slack answered 410' } });
  const captured = captureOutput();
  expect(await status({ data, color: false })).toBe(0);
  expect(captured.stdout()).toMatch(
    /\nnotices {7}1 to be delivered, 1 given up {2}patchbay --data \S+ dead ls --code slackGone\n/,
  );
});
