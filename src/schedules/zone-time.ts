/**
 * Between instants and the time that a clock on the wall shows in a zone. Pure.
 *
 * A *wall time* is written as the instant at which a clock in UTC would show it: no zone is lost in it, and arithmetic
 * stays simple. Where clocks are put forward some wall times never come (a *gap*); where they are put back some come twice.
 */

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** One zone's clock. */
export interface ZoneTime {
  /** What its clocks show at that instant. */
  wallAt(instantMs: number): number;
  /** How much they are ahead of UTC then. */
  offsetAt(instantMs: number): number;
  /**
   * When its clocks show that time. It comes twice: the first time. It lies in a gap: the end of the gap, where that is the
   * same date; else the last minute before it. The whole date does not exist: null.
   */
  instantOf(wallMs: number): number | null;
  /** The first instant after `fromMs` and up to `toMs` at which the offset is not that at `fromMs`; `toMs` where there is none. */
  changeBetween(fromMs: number, toMs: number): number;
}

const known = new Map<string, ZoneTime>();
const zonesMax = 100;

/** @throws RangeError where there is no such zone. */
export function zoneTime(zone: string): ZoneTime {
  const found = known.get(zone);
  if (found !== undefined) return found;
  const made = make(zone);
  if (known.size < zonesMax) known.set(zone, made);
  return made;
}

function make(zone: string): ZoneTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const wallAt = (instantMs: number): number => {
    const wholeMs = Math.floor(instantMs / 1_000) * 1_000;
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(wholeMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (instantMs - wholeMs);
  };
  const offsetAt = (instantMs: number): number => wallAt(instantMs) - instantMs;
  /** Halves the stretch until the change stands: ends after as many turns as its length has binary digits. */
  const changeBetween = (fromMs: number, toMs: number): number => {
    const before = offsetAt(fromMs);
    let low = fromMs;
    let high = toMs;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  };
  const instantOf = (wallMs: number): number | null => {
    const before = offsetAt(wallMs - dayMs);
    const after = offsetAt(wallMs + dayMs);
    const comes = [wallMs - before, wallMs - after].filter((instantMs) => wallAt(instantMs) === wallMs);
    if (comes.length > 0) return Math.min(...comes);
    const gapEndMs = changeBetween(wallMs - after, wallMs - before);
    if (sameDate(wallAt(gapEndMs), wallMs)) return gapEndMs;
    const lastMinuteMs = gapEndMs - minuteMs;
    return sameDate(wallAt(lastMinuteMs), wallMs) ? lastMinuteMs : null;
  };
  return { wallAt, offsetAt, instantOf, changeBetween };
}

function sameDate(oneWallMs: number, otherWallMs: number): boolean {
  return Math.floor(oneWallMs / dayMs) === Math.floor(otherWallMs / dayMs);
}
