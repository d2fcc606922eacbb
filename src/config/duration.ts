/**
 * Durations as people write them: a whole number and a unit, such as `500ms`, `30s`, `10m`, `26h` or `400d`.
 *
 * Inside the program a duration is a number of milliseconds. A day is 24 hours; months and years have no unit.
 */

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

/** The form of a duration, for messages and for the JSON Schema. */
export const durationPattern = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Milliseconds, or null where the text is no duration. Never throws. */
export function parseDuration(text: string): number | null {
  const [, digits, unit] = durationPattern.exec(text.trim()) ?? [];
  if (digits === undefined || !isUnit(unit)) return null;
  return Number(digits) * unitMs[unit];
}

/** The shortest text that `parseDuration` reads as the same number of milliseconds. `ms` is a whole number. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const unit = (['d', 'h', 'm', 's'] as const).find((candidate) => ms % unitMs[candidate] === 0) ?? 'ms';
  return `${ms / unitMs[unit]}${unit}`;
}

function isUnit(text: string | undefined): text is Unit {
  return text !== undefined && Object.hasOwn(unitMs, text);
}
