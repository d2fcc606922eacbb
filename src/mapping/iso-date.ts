/** Dates of custom fields: an ISO date or date-time becomes a date-time string in UTC (`facts.md`, "Custom fields"). */

const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * `2026-03-09` is midnight UTC; a time without a zone is UTC too, since nothing says otherwise. Null when the text
 * is no such date, or no day of the calendar.
 */
export function readIsoDate(text: string): string | null {
  const match = isoDate.exec(text.trim());
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const millisecond = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  if (hour > 23 || minute > 59 || second > 59 || year < 1) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute, second, millisecond);
  const offsetMinutes = readOffsetMinutes(match[8]);
  if (offsetMinutes === null) return null;
  return new Date(date.getTime() - offsetMinutes * 60_000).toISOString();
}

/** Minutes east of UTC; null when no zone is that far away. */
function readOffsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.replace(/\D/g, '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  if (minutes > 14 * 60 || Number(digits.slice(2)) > 59) return null;
  return zone.startsWith('-') ? -minutes : minutes;
}
