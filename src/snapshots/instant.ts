/** Instants as the names of snapshots: `20261121T140000Z`, in UTC, to the second (`contract.md`, "Data folder"). Pure. */

const instantPattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

export function writeInstant(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/** Null where it is no such name. */
export function readInstant(text: string): number | null {
  const match = instantPattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(atMs) ? null : atMs;
}

/**
 * The name of the next snapshot of a series: its instant, to the second; later than the one before, whatever the wall
 * clock does meanwhile.
 */
export function nextInstant(nowMs: number, latestMs: number | null): number {
  const second = Math.floor(nowMs / 1_000) * 1_000;
  return latestMs === null ? second : Math.max(second, latestMs + 1_000);
}
