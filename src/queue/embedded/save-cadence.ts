/**
 * When the next save may begin. A save stops every client while it writes, so it may take a small share of the time.
 */

/** Of one hundred milliseconds, this many may be spent on saving. */
const savePercentMax = 5;

/** The pause after a save that took `saveMs`, in milliseconds: never shorter than `saveEveryMs`. */
export function nextSaveDelayMs(saveEveryMs: number, saveMs: number): number {
  return Math.max(saveEveryMs, Math.ceil((saveMs * (100 - savePercentMax)) / savePercentMax));
}
