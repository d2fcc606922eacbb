/**
 * Dates in a stated format → ISO 8601: with `DD.MM.YYYY`, `5.3.2026` → `2026-03-05`.
 *
 * A format is made of tokens, text in square brackets, and spaces and punctuation, which are read as they are:
 *
 * - `YYYY`, `YY` (00 to 49 are 2000 to 2049, 50 to 99 are 1950 to 1999)
 * - `MM`, `M` (1 to 12), `MMM` (the name, whole or short, in English, German, French or Spanish), `DD`, `D`
 * - `HH`, `H` (0 to 23), `hh`, `h` (1 to 12, with `a`), `mm`, `ss`, `a` (am or pm)
 *
 * One or two digits are read for all but `YYYY` and `YY`; the number of letters matters only where no separator follows,
 * as in `YYYYMMDD`. A time is kept where the format has one; it has no zone. Days that the calendar lacks are no dates.
 */

type Part = 'year' | 'month' | 'day' | 'hour' | 'hour12' | 'minute' | 'second' | 'half';

interface Token {
  readonly part: Part;
  /** A regular expression without groups. */
  readonly pattern: string;
  /** Where another token of digits follows at once. */
  readonly fixed?: string;
}

const oneOrTwo = { pattern: '\\d{1,2}', fixed: '\\d{2}' };
const monthNames = [
  'january januar janvier enero jan jän jänner janv ene',
  'february februar février febrero feb févr fév feber',
  'march märz mars marzo mar mär mrz',
  'april avril abril apr avr abr',
  'may mai mayo',
  'june juni juin junio jun',
  'july juli juillet julio jul juil',
  'august août agosto aug ago',
  'september septembre septiembre setiembre sep sept set',
  'october oktober octobre octubre oct okt',
  'november novembre noviembre nov',
  'december dezember décembre diciembre dec dez déc dic',
].map((names) => names.split(' ').map(withoutAccents));

const tokens: Readonly<Record<string, Token>> = {
  YYYY: { part: 'year', pattern: '\\d{4}' },
  YY: { part: 'year', pattern: '\\d{2}' },
  MMM: { part: 'month', pattern: '\\p{L}[\\p{L}\\p{M}]{2,11}\\.?' },
  MM: { part: 'month', ...oneOrTwo },
  M: { part: 'month', ...oneOrTwo },
  DD: { part: 'day', ...oneOrTwo },
  D: { part: 'day', ...oneOrTwo },
  HH: { part: 'hour', ...oneOrTwo },
  H: { part: 'hour', ...oneOrTwo },
  hh: { part: 'hour12', ...oneOrTwo },
  h: { part: 'hour12', ...oneOrTwo },
  mm: { part: 'minute', ...oneOrTwo },
  ss: { part: 'second', ...oneOrTwo },
  a: { part: 'half', pattern: '[ap]\\.?\\s?m\\.?' },
};

/** Tokens, text in brackets, `T` as of ISO 8601, or anything that is no letter and no digit. */
const piece = /YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|a|\[[^[\]]*\]|T|[^\p{L}\p{N}[\]]/gu;

const dateFormatLengthMax = 40;

/** A text that fits a format → ISO 8601, or null. */
export type ReadDate = (text: string) => string | null;

/** Null for a text that is no format; `formatFlaw` says why. */
export function compileDateFormat(format: string): ReadDate | null {
  if (formatFlaw(format) !== null) return null;
  const pieces = format.match(piece) ?? [];
  const parts = pieces.flatMap((one) => tokens[one]?.part ?? []);
  const source = pieces.map((one, index) => patternOf(one, pieces[index + 1])).join('');
  const pattern = new RegExp(`^${source}$`, 'iu');
  return (text) => {
    const match = pattern.exec(text);
    return match === null ? null : isoOf(parts, match.slice(1));
  };
}

/** Why the text is no format, in words that follow its name; null where it is one. */
export function formatFlaw(format: string): string | null {
  if (format.length > dateFormatLengthMax) return `has more than ${dateFormatLengthMax} characters`;
  const pieces = format.match(piece) ?? [];
  if (pieces.join('') !== format) {
    return `is not a date format: use ${Object.keys(tokens).join(' ')}, and put other words in [brackets]`;
  }
  const parts = pieces.flatMap((one) => tokens[one]?.part ?? []);
  const twice = parts.find((part, index) => parts.indexOf(part) !== index);
  if (twice !== undefined) return `names the ${twice === 'half' ? 'half of the day' : twice} twice`;
  const missing = (['year', 'month', 'day'] as const).find((part) => !parts.includes(part));
  if (missing !== undefined) return `lacks the ${missing}: a date needs a year, a month and a day`;
  if (parts.includes('hour12') !== parts.includes('half')) return 'needs both h and a for a time of 12 hours, or HH';
  if (parts.includes('hour12') && parts.includes('hour')) return 'names the hour twice';
  const hasHour = parts.includes('hour') || parts.includes('hour12');
  if (parts.includes('minute') !== hasHour || (parts.includes('second') && !hasHour)) {
    return 'names only a part of the time: write the hours and minutes, or neither';
  }
  return null;
}

function patternOf(one: string, next: string | undefined): string {
  const token = tokens[one];
  if (token === undefined) {
    // A space of the format also matches several, and none, so that "2:30PM" and "2:30 PM" are one format.
    if (/^\s$/u.test(one)) return '\\s*';
    return (one.startsWith('[') ? one.slice(1, -1) : one).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  }
  const isFollowed = next !== undefined && /\\d/.test(tokens[next]?.pattern ?? '');
  return `(${isFollowed ? (token.fixed ?? token.pattern) : token.pattern})`;
}

function isoOf(parts: readonly Part[], found: readonly string[]): string | null {
  const textOf = (part: Part): string => found[parts.indexOf(part)] ?? '';
  const year = yearOf(textOf('year'));
  const month = monthOf(textOf('month'));
  const day = Number(textOf('day'));
  const daysMax = month === null ? 0 : new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (year < 1 || month === null || day < 1 || day > daysMax) return null;
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  const hour = parts.includes('hour12') ? hourOf(textOf('hour12'), textOf('half')) : Number(textOf('hour'));
  if (!parts.includes('minute')) return date;
  const [minute, second] = [Number(textOf('minute')), Number(textOf('second'))];
  if (hour === null || hour > 23 || minute > 59 || second > 59) return null;
  return `${date}T${digits(hour, 2)}:${digits(minute, 2)}:${digits(second, 2)}`;
}

const lastYearOf2000s = 49;

function yearOf(text: string): number {
  const year = Number(text);
  if (text.length > 2) return year;
  return year <= lastYearOf2000s ? 2000 + year : 1900 + year;
}

/** From 1; null for any other text. A short name may end in a dot. */
function monthOf(text: string): number | null {
  const name = withoutAccents(text.toLowerCase().replace(/\.$/, ''));
  const month = /^\d+$/.test(text) ? Number(text) : monthNames.findIndex((names) => names.includes(name)) + 1;
  return month >= 1 && month <= 12 ? month : null;
}

/** 12 am is midnight. */
function hourOf(text: string, half: string): number | null {
  const hour = Number(text);
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0);
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

function digits(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
