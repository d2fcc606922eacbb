/** A ledger file in a temporary folder, and as many connections to it as a test asks for. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import type { OpenedLedger } from '#test/contracts/support/opened-ledger.ts';

/** A folder that is removed when the test ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A ledger with today's tables and nothing in them, not even an id: the bytes of its file. Made once by each process. */
let empty: Uint8Array | null = null;

/** Every migration since the first takes longer than most tests that need a ledger; `sqlite-file.test.ts` makes new files. */
function emptyLedger(): Uint8Array {
  if (empty !== null) return empty;
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-ledger-'));
  const file = join(folder, 'ledger.sqlite');
  openDatabase(file).close();
  empty = readFileSync(file);
  rmSync(folder, { recursive: true });
  return empty;
}

/** A ledger file in a folder that is there, as a new ledger would be made; answers its path. */
export function newLedgerFile(folder: string): string {
  const file = join(folder, 'ledger.sqlite');
  writeFileSync(file, emptyLedger());
  return file;
}

/** Whoever opens it closes it: all connections, then the file. */
export async function openTempLedger(): Promise<OpenedLedger & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-ledger-'));
  const file = newLedgerFile(folder);
  const opened: Ledger[] = [];
  const open = (): Ledger => {
    const ledger = openSqliteLedger(file);
    opened.push(ledger);
    return ledger;
  };
  return {
    file,
    ledger: open(),
    reopen: async () => open(),
    close: async () => {
      for (const ledger of opened) await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
