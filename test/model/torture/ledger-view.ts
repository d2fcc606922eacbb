/**
 * Looks into the ledger of a data folder from outside, without opening it for writing: what no command tells, as who
 * holds which key at this instant.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { finalRunStates } from '#src/ledger/runs.ts';

export interface SeenRun {
  readonly id: string;
  readonly fileName: string;
  readonly state: string;
  readonly isFinal: boolean;
}

export interface SeenLetter {
  readonly key: string | null;
  readonly class: string;
  readonly code: string;
}

export interface LedgerView {
  /** In the order of arrival; none before the first command has made the ledger. */
  runs(): readonly SeenRun[];
  openLetters(): readonly SeenLetter[];
  /** Keys on which a piece of work of that process holds the lease. */
  keysHeldBy(pid: number): readonly string[];
  /** Those of the keys that have no outcome yet. */
  pendingOf(keys: readonly string[]): readonly string[];
  close(): void;
}

export function viewLedger(data: string): LedgerView {
  const path = join(data, 'ledger.sqlite');
  let opened: DatabaseSync | null = null;
  const all = (sql: string, ...values: readonly (string | number)[]): readonly Record<string, unknown>[] => {
    if (opened === null && existsSync(path)) opened = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    try {
      return opened?.prepare(sql).all(...values) ?? [];
    } catch (error) {
      // Just made, and without tables yet.
      if (error instanceof Error && /no such table|unable to open|locked|busy/.test(error.message)) return [];
      throw error;
    }
  };
  return {
    runs: () =>
      all('SELECT id, file_name, state FROM runs ORDER BY sequence').map((row) => ({
        id: `${row.id}`,
        fileName: `${row.file_name}`,
        state: `${row.state}`,
        isFinal: (finalRunStates as readonly string[]).includes(`${row.state}`),
      })),
    openLetters: () =>
      all("SELECT key, class, code FROM letters WHERE state <> 'closed'").map((row) => ({
        key: row.key === null ? null : `${row.key}`,
        class: `${row.class}`,
        code: `${row.code}`,
      })),
    // The owner's name is host/boot/pid/start#piece (`process-identity.ts`).
    keysHeldBy: (pid) => all('SELECT key FROM flights WHERE owner LIKE ?', `%/${pid}/%`).map((row) => `${row.key}`),
    pendingOf: (keys) =>
      all(
        'SELECT DISTINCT key FROM staged WHERE outcome IS NULL AND key IN (SELECT value FROM json_each(?))',
        JSON.stringify(keys),
      ).map((row) => `${row.key}`),
    close: () => opened?.close(),
  };
}
