/**
 * A process that copies a ledger and is killed in the middle of it, by itself, so that the place is certain.
 *
 * Arguments: the ledger's file and the database's URL, or that URL and a file; when it dies: `copying`, `comparing`, or `never`.
 */
import { copyLedger } from '#src/ledger/copy/copy-ledger.ts';
import { openPostgresSource, openPostgresTarget } from '#src/ledger/postgres/copy.ts';
import { openSqliteSource, openSqliteTarget } from '#src/ledger/sqlite/copy.ts';
import { act } from '#test/contracts/support/build.ts';

const [from = '', to = '', dies = ''] = process.argv.slice(2);
const isUrl = (text: string): boolean => text.startsWith('postgres:');

const source = isUrl(from) ? await openPostgresSource(from, '') : await openSqliteSource(from);
const target = isUrl(to) ? await openPostgresTarget(to, '') : await openSqliteTarget(to);
await copyLedger(source, target, {
  act: act('ledgerCopy'),
  signal: new AbortController().signal,
  onProgress: ({ phase, done, total }) => {
    const isThere = done > (phase === 'copying' ? total / 4 : (total * 3) / 4);
    if (phase === dies && isThere) process.kill(process.pid, 'SIGKILL');
  },
});
await target.close();
await source.close();
process.stdout.write('copied\n');
