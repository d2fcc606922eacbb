/**
 * Loaded into a process before all else (`--import`): watches how long its transactions hold the lock of the ledger
 * (`src/ledger/sqlite/database.ts` tells them), and how long a turn of its event loop takes.
 *
 * A parent with a channel asks by messages: `begin` forgets what was, `end` answers. A process without one writes what it
 * saw to the file that `BENCH_HOLDS_FILE` names, at its exit.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface Longest {
  readonly heldMs: number;
  readonly turnMs: number;
}

export type WatchOrder = 'begin' | 'end';

if (isMainThread) watch();

function watch(): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let heldMs = 0;
  delay.enable();
  subscribe('patchbay:ledger-hold', (held) => {
    heldMs = Math.max(heldMs, Number(held));
  });
  const longest = (): Longest => ({ heldMs, turnMs: delay.max / 1e6 });
  process.on('message', (order: WatchOrder) => {
    if (order === 'end') {
      process.send?.(longest());
      return;
    }
    heldMs = 0;
    delay.reset();
    process.send?.(null);
  });
  process.channel?.unref();
  const file = process.env.BENCH_HOLDS_FILE;
  if (file !== undefined) process.on('exit', () => writeFileSync(file, JSON.stringify(longest())));
}
