/**
 * Boots the server with the data saved before, or without it.
 *
 * The queue is replaceable (design.md, decision 1): a dump that the server refuses must not keep the program from
 * starting. Invariant: a damaged dump is never deleted at first sight; it is moved aside, one of them is kept.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#src/errors.ts';
import type { ServerLoop } from './server-loop.ts';
import { bootValkeyInstance, type ValkeyInstance, type ValkeyInstanceOptions } from './valkey-instance.ts';

const dumpFile = 'dump.rdb';
const damagedDumpFile = 'dump.damaged.rdb';

interface DumpBoot {
  readonly valkey: ValkeyInstance;
  /** Where the damaged dump is now, or null when there was none. */
  readonly damagedDump: string | null;
}

/** Throws only what stops a start with no data at all. */
export async function bootWithDump(options: ValkeyInstanceOptions): Promise<DumpBoot> {
  removeUnfinishedSaves(options.folder);
  try {
    return { valkey: await bootValkeyInstance(options), damagedDump: null };
  } catch (error) {
    const dump = join(options.folder, dumpFile);
    if (!existsSync(dump)) throw error;
    const damagedDump = join(options.folder, damagedDumpFile);
    rmSync(damagedDump, { recursive: true, force: true });
    renameSync(dump, damagedDump);
    return { valkey: await bootValkeyInstance(options), damagedDump };
  }
}

/** A save that a kill cut short leaves its half-written file behind. */
function removeUnfinishedSaves(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^temp-.*\.rdb$/.test(name)) rmSync(join(folder, name), { force: true });
  }
}

/**
 * Saves the server's data to `dump.rdb`: now and then while there are changes, and when asked.
 *
 * A save writes another file and renames it, so a kill leaves the last whole one. Invariant: at most one save in
 * `saveEveryMs`, and at most 5 % of the time is spent on saving.
 */
export interface Saver {
  /** Saves if anything changed. False when that failed. */
  saveNow(): boolean;
  stop(): void;
}

/** `onFailure` is called when saving begins to fail, and not again until a save has worked. */
export function startSaver(loop: ServerLoop, saveEveryMs: number, onFailure: (message: string) => void): Saver {
  let failing = false;
  let timer: NodeJS.Timeout | null = null;

  const saveNow = (): boolean => {
    try {
      if (changeCount(loop.command(['INFO', 'persistence'])) > 0) loop.command(['SAVE']);
      failing = false;
    } catch (error) {
      if (!failing && !loop.stopped) onFailure(messageOf(error));
      failing = true;
    }
    return !failing;
  };
  const saveLater = (delayMs: number) => {
    timer = setTimeout(() => {
      if (loop.stopped) return;
      const startedAtMs = performance.now();
      saveNow();
      if (!loop.stopped) saveLater(nextSaveDelayMs(saveEveryMs, performance.now() - startedAtMs));
    }, delayMs);
  };
  saveLater(saveEveryMs);

  return {
    saveNow,
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** The count of changes that no save has written yet. */
function changeCount(persistence: string): number {
  return Number(/^rdb_changes_since_last_save:(\d+)/m.exec(persistence)?.[1] ?? 1);
}

// When the next save may begin. A save stops every client while it writes, so it may take a small share of the time.

/** Of one hundred milliseconds, this many may be spent on saving. */
const savePercentMax = 5;

/** The pause after a save that took `saveMs`, in milliseconds: never shorter than `saveEveryMs`. */
export function nextSaveDelayMs(saveEveryMs: number, saveMs: number): number {
  return Math.max(saveEveryMs, Math.ceil((saveMs * (100 - savePercentMax)) / savePercentMax));
}
