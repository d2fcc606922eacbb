/**
 * The saved data of the embedded queue, `dump.rdb`: loaded at the start, saved while there are changes.
 *
 * The queue is replaceable (`docs/design.md`, decision 1), so a dump that the server refuses must not prevent the start: it is set
 * aside, and the last such dump is kept. A save writes another file and renames it, so a kill leaves the last complete one.
 * Invariant: at most one save in `saveEveryMs`, and at most 5 % of the time is spent on saving, since a save blocks every
 * client.
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
  /** Where the damaged dump is now; null if there was none. */
  readonly damagedDump: string | null;
}

/** Throws only what prevents a start even without data. */
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

/** A save that was cut short by a kill leaves its incomplete file behind. */
function removeUnfinishedSaves(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^temp-.*\.rdb$/.test(name)) rmSync(join(folder, name), { force: true });
  }
}

export interface Saver {
  /** Saves if anything changed. @returns false if that failed. */
  saveNow(): boolean;
  stop(): void;
}

/** `onFailure` is called when saving begins to fail, and not again until a save has succeeded. */
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

/** The number of unsaved changes. */
function changeCount(persistence: string): number {
  return Number(/^rdb_changes_since_last_save:(\d+)/m.exec(persistence)?.[1] ?? 1);
}

/** The share of the time that saving may take, in percent. */
const savePercentMax = 5;

/** The pause after a save that took `saveMs`, in milliseconds: at least `saveEveryMs`. */
export function nextSaveDelayMs(saveEveryMs: number, saveMs: number): number {
  return Math.max(saveEveryMs, Math.ceil((saveMs * (100 - savePercentMax)) / savePercentMax));
}
