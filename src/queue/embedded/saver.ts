/**
 * Saves the server's data to `dump.rdb`: now and then while there are changes, and when asked.
 *
 * A save writes another file and renames it, so a kill leaves the last whole one. Invariant: at most one save in
 * `saveEveryMs`, and at most 5 % of the time is spent on saving.
 */
import { messageOf } from '#src/errors.ts';
import { nextSaveDelayMs } from './save-cadence.ts';
import type { ServerLoop } from './server-loop.ts';

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
