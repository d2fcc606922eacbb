/** Names of time zones. */
import { closest } from './closest.ts';

export const expectedZone = 'an IANA time zone such as Europe/Berlin, America/New_York or UTC';

/** Offsets such as `+02:00` are none: they know no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone that a person most likely meant; null where none is close. */
export function closestZone(name: string): string | null {
  return closest(name, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
}

/** The zone where none is named: that of `TZ` where it names one, else the machine's, else UTC. */
export function zoneOfMachine(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.TZ?.trim().replace(/^:/, '') ?? '';
  if (isTimeZone(named)) return named;
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
}
