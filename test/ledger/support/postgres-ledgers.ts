/** Ledgers in PostgreSQL, each in a schema of its own, and as many connections to it as a test asks for. */
import type { Ledger } from '#src/ledger/port.ts';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import type { OpenedLedger } from '#test/contracts/support/opened-ledger.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';

let opened = 0;

export function newSchema(): string {
  opened += 1;
  return `ledger_${process.pid}_${opened}`;
}

/** Whoever opens it closes it: all connections, then the schema. */
export async function openInSchema(
  server: Pick<PostgresServer, 'url'>,
): Promise<OpenedLedger & { readonly url: string; readonly schema: string }> {
  const schema = newSchema();
  const url = server.url(`&schema=${schema}`);
  const ledgers: Ledger[] = [];
  const open = async (): Promise<Ledger> => {
    const ledger = await openPostgresLedger(url);
    ledgers.push(ledger);
    return ledger;
  };
  return {
    url,
    schema,
    ledger: await open(),
    reopen: open,
    close: async () => {
      for (const ledger of ledgers) await ledger.close();
    },
  };
}
