/** A service that lists what a test says, a ledger, a folder and a clock that a test moves. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { createLogger } from '#src/log.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { type SnapshotParts, type TakenSnapshot, takeSnapshot } from '#src/snapshots/take-snapshot.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { openTempLedger, tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { testKey } from '#test/service/test-service.ts';
import { type SeenRequest, startScriptedServer } from '#test/workspace/support/scripted-server.ts';

export const startMs = Date.parse('2026-11-21T14:00:00.000Z');
export const hourMs = 3_600_000;

export interface SnapshotBench {
  readonly parts: SnapshotParts;
  readonly ledger: Ledger;
  readonly folder: string;
  readonly logLines: readonly string[];
  /** Moves the wall clock to so many hours after its start. */
  hour(hours: number): void;
  take(user?: string | null): Promise<TakenSnapshot>;
  /** Names of the files in the folder, sorted. */
  files(): readonly string[];
  read(name: string): string;
  /** The lines of `changes.ndjson`. */
  changes(): readonly Record<string, unknown>[];
}

async function openLedger(): Promise<Ledger> {
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  return opened.ledger;
}

/** On a service that the caller has started. */
export async function openSnapshotBench(
  origin: string,
  more: Partial<SnapshotParts> & { readonly apiKey?: string } = {},
): Promise<SnapshotBench> {
  const { apiKey = testKey, ...given } = more;
  const folder = given.folder ?? join(tempFolder(), 'snapshots', 'phone-numbers');
  const ledger = given.ledger ?? (await openLedger());
  const real = systemClock();
  let nowMs = startMs;
  const clock: Clock = { ...real, nowMs: () => nowMs };
  const logLines: string[] = [];
  const log = createLogger({ level: 'trace', stream: { write: (line) => void logLines.push(line) } });
  const workspace = createHttpWorkspace({
    baseUrl: origin,
    readApiKey: () => apiKey,
    rateGate: createPauseGate(clock),
    clock,
    random: () => 0,
    log,
  });
  onTestFinished(() => workspace.close());
  const parts: SnapshotParts = {
    ledger,
    workspace,
    clock,
    log,
    folder,
    keepMs: 400 * 24 * hourMs,
    keepMax: 10_000,
    addressed: (change) => [change],
    ...given,
  };
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return {
    parts,
    ledger,
    folder,
    logLines,
    hour: (hours) => {
      nowMs = startMs + hours * hourMs;
    },
    take: (user = null) => takeSnapshot(parts, { user }, new AbortController().signal),
    files: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
    read,
    changes: () => {
      if (!existsSync(join(folder, 'changes.ndjson'))) return [];
      const lines = read('changes.ndjson').split('\n').slice(0, -1);
      return lines.map((line): Record<string, unknown> => JSON.parse(line));
    },
  };
}

export interface NumberService {
  readonly origin: string;
  /** What it lists from now on. */
  numbers: readonly PhoneNumber[];
  /** Null: all at once, without a token. */
  pageSize: number | null;
  /** Called for each request before it is answered; true: it has answered by itself. */
  before: (page: number, response: ServerResponse) => boolean;
  /** The page numbers asked for, from 1. */
  readonly asked: readonly number[];
  readonly seen: readonly SeenRequest[];
}

/** A service whose list changes as the test wants, over real sockets. Pages are asked for by `p2`, `p3`… */
export async function startNumberService(initial: readonly PhoneNumber[]): Promise<NumberService> {
  const server = await startScriptedServer();
  onTestFinished(async () => {
    for (const socket of server.openSockets) socket.destroy();
    await server.close();
  });
  const asked: number[] = [];
  const service = {
    origin: server.origin,
    numbers: initial,
    pageSize: null as number | null,
    before: (_page: number, _response: ServerResponse): boolean => false,
    asked,
    seen: server.seen,
  };
  server.always((response, { url }) => {
    const token = new URL(url, server.origin).searchParams.get('pageToken');
    const page = token === null ? 1 : Number(token.slice(1));
    asked.push(page);
    if (service.before(page, response)) return;
    const size = service.pageSize ?? service.numbers.length;
    const data = service.numbers.slice((page - 1) * size, page * size);
    const more = page * size < service.numbers.length;
    const paging = service.pageSize === null ? {} : { totalItems: 4, nextPageToken: more ? `p${page + 1}` : null };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, ...paging }));
  });
  return service;
}
