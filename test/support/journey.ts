/**
 * A journey: a data folder, a workspace service and real processes, for one test.
 *
 * Invariant: when the test ends, each process is gone, and so is the folder. A process that the test itself should have
 * ended and did not fails it.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { test as base } from 'vitest';
import type { JournalRow } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { callPatchbay } from './call-patchbay.ts';
import { type JourneyService, startJourneyService } from './journey-service.ts';
import { type Ended, type PatchbayProcess, startPatchbay } from './patchbay-process.ts';

export interface Journey {
  /** The data folder; its path is short, so that the queue's socket lies in it. */
  readonly data: string;
  /** Starts a command on the data folder. Variables add to the journey's own. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>, stdin?: 'ignore' | 'pipe'): PatchbayProcess;
  /** Starts a command and waits for its end. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Carries out a command in this process, one at a time: for what a test needs on its way (`call-patchbay.ts`). */
  call(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /**
   * A service that the commands of this journey write to from now on. `faults` as for `patchbay serve`; `workspace` is the path of a
   * workspace file with what it holds, else it holds no contacts.
   */
  service(faults?: readonly string[], key?: string, workspace?: string): Promise<JourneyService>;
  /** Writes a file beside the data folder; answers its path. */
  file(name: string, content: string | Uint8Array): string;
  /** Puts a backup in the place of the ledger, as the README says; of a journey with a service of its own. Nothing runs. */
  restore(backup: string): void;
  /** Names in a folder below the data folder, sorted; none where it is missing. */
  names(folder: string): readonly string[];
  /** A client of the engine's embedded queue, disconnected when the test ends. */
  queue(): Redis;
  /** The runs in the ledger, in the order of their arrival; of a journey with a service of its own. */
  runs(): Promise<readonly RunRecord[]>;
  /** The first thousand writes of a run in the journal, in the order of their entry. */
  journal(runId: string): Promise<readonly JournalRow[]>;
}

/** Short waits after a create in doubt, and no brake: the service is ours. */
const serviceEnv = {
  PATCHBAY_RATE: '500',
  PATCHBAY_UPSERT_LATEST_COMMIT: '1s',
  PATCHBAY_UPSERT_VISIBILITY_LAG: '0s',
};

export const test = base.extend<{ readonly journey: Journey }>({
  journey: async ({ task }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'pb-'));
    const data = join(folder, 'data');
    const processes: PatchbayProcess[] = [];
    const services: JourneyService[] = [];
    const clients: Redis[] = [];
    const envWith = (env: Readonly<Record<string, string>>) => {
      const service = services.at(-1);
      const named = service === undefined ? {} : { PATCHBAY_BASE_URL: service.origin, PATCHBAY_API_KEY: service.key };
      return { PATCHBAY_DATA: data, PORT: '0', ...(service === undefined ? {} : serviceEnv), ...named, ...env };
    };
    const start: Journey['start'] = (args, env = {}, stdin = 'ignore') => {
      const started = startPatchbay(args, envWith(env), stdin);
      processes.push(started);
      return started;
    };
    const inLedger = async <Answer>(ask: (ledger: Ledger) => Promise<Answer>): Promise<Answer> => {
      const ledger = openSqliteLedger(join(data, 'ledger.sqlite'));
      try {
        return await ask(ledger);
      } finally {
        await ledger.close();
      }
    };
    await use({
      data,
      start,
      run: (args, env) => start(args, env).ended(),
      call: (args, env = {}) => callPatchbay(args, envWith(env)),
      service: async (faults = [], key = 'key-for-journeys', workspace) => {
        const service = await startJourneyService(faults, key, workspace);
        services.push(service);
        return service;
      },
      file: (name, content) => {
        const path = join(folder, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        return path;
      },
      restore: (backup) => {
        const ledger = join(data, 'ledger.sqlite');
        copyFileSync(backup, ledger);
        for (const companion of ['-wal', '-shm']) rmSync(`${ledger}${companion}`, { force: true });
      },
      names: (below) => namesIn(join(data, below)),
      queue: () => {
        const client = new Redis({ path: join(data, 'queue', 'valkey.sock'), maxRetriesPerRequest: 50 });
        // The engine ends before its clients do, and they are told so.
        client.on('error', () => undefined);
        clients.push(client);
        return client;
      },
      runs: async () => (await inLedger((ledger) => ledger.runs.list({ limit: 100 }))).toReversed(),
      journal: (runId) => inLedger((ledger) => ledger.contacts.journal({ runId, limit: 1_000 })),
    });
    for (const client of clients) client.disconnect();
    const left = processes.filter((one) => one.running);
    for (const one of left) await one.kill();
    for (const service of services) await service.close();
    rmSync(folder, { recursive: true, force: true });
    // A test that failed in the middle leaves them by right.
    if (left.length > 0 && task.result?.state !== 'fail') throw new Error(`${left.length} processes were left running`);
  },
});

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
