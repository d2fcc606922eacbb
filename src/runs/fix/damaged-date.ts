/**
 * Dates and times as spreadsheets read and show them: `2026-11-21` becomes 21/11/2026, `5.3.26` becomes 05.03.2026, `MARCH1` becomes
 * 1-Mar, `12:30` becomes 12:30:00. Pure.
 *
 * A spreadsheet reads a date in the order of its country, and shows it in that order. What it reads without a year is a day of the
 * year in which it was opened, or the first of a month. A workbook has all its dates as ISO dates (`src/sources/xlsx/cell-text.ts`).
 */

/** Where and when the text may have been changed. */
export interface Opened {
  /** The first and the last year in which the file may have been open in a spreadsheet. */
  readonly years: readonly [first: number, last: number];
  readonly isWorkbook: boolean;
}

type Order = 'dayFirst' | 'monthFirst' | 'iso' | 'word';

interface DateReading {
  readonly order: Order;
  /** As written; null where there is none. */
  readonly year: string | null;
  readonly month: number;
  /** Null of a month alone, which has a year, and becomes its first day. */
  readonly day: number | null;
}

/** Longer texts are no date of a spreadsheet. */
const charsMax = 60;

/** The names of the months, whole; spreadsheets cut them after three letters or more. Without accents and dots, by language. */
const monthNames: readonly (readonly string[])[] = [
  'january february march april may june july august september october november december',
  'januar februar marz april mai juni juli august september oktober november dezember',
  'janner feber mrz april mai juni juli august september oktober november dezember',
  'janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro',
  'januari februari maart april mei juni juli augustus september oktober november december',
  'januari februari mars april maj juni juli augusti september oktober november december',
  'januar februar marts april maj juni juli august september oktober november desember',
  'tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu joulukuu',
  'stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia',
  'styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien',
  'leden unor brezen duben kveten cerven cervenec srpen zari rijen listopad prosinec',
  'ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince',
  'januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december',
  'ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik',
  'январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь',
  'січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня',
  'ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie',
  'января февраля марта апреля мая июня июля августа сентября октября ноября декабря',
].map((names) => names.split(' ').map(folded));
const lettersMin = 3;

function folded(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f.]/g, '')
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l');
}

/** The months that a word may stand for, in the first language that has it: `Mar`, `Mär.`, `juil`. */
function monthsNamed(word: string): readonly number[] {
  const start = folded(word);
  if (start.length < lettersMin) return [];
  const found = monthNames.map((names) => names.flatMap((name, index) => (name.startsWith(start) ? [index + 1] : [])));
  return found.find((months) => months.length > 0) ?? [];
}

const threeNumbers = /^(\d{1,4})([-/.]) ?(\d{1,2})\2 ?(\d{1,4})\.?$/;
const twoNumbers = /^(\d{1,4})(?:([-/])|\. ?)(\d{1,4})(?:\.?)$/;
/** A month that is a word, and one or two numbers. */
const withWord =
  /^(?:(\d{1,4})(?:st|nd|rd|th|er)?)?[-/., ]*(?:de |of )?(\p{L}[\p{L}\p{M}]{2,12}\.?)[-/., ’']*(?:de |of )?(\d{1,4})?(?:[-/., ]+(\d{2,4}))?$/iu;
const asianDate = /^(?:(\d{2,4}) ?[年년] ?)?(\d{1,2}) ?[月월](?: ?(\d{1,2}) ?[日일])?$/;

const isYear = (text: string): boolean => text.length <= 2 || text.length === 4;

/** How a spreadsheet of any country may read a text as a date. */
function datesOf(text: string): readonly DateReading[] {
  const readings: DateReading[] = [];
  const add = (order: Order, year: string | null, month: string | number, day: string | null): void => {
    const reading = { order, year, month: Number(month), day: day === null ? null : Number(day) };
    const [first, ofYear] = [reading.day ?? 1, reading.month];
    const isDay = first >= 1 && first <= 31 && ofYear >= 1 && ofYear <= 12;
    if (isDay && (year === null || isYear(year))) readings.push(reading);
  };
  const [, one = '', , two = '', three = ''] = threeNumbers.exec(text) ?? [];
  if (one.length === 4) add('iso', one, two, three);
  else if (one !== '') {
    add('dayFirst', three, two, one);
    add('monthFirst', three, one, two);
  }
  const [, first = '', , second = ''] = twoNumbers.exec(text) ?? [];
  if (first.length === 4) add('iso', first, second, null);
  else if (first !== '') {
    add('dayFirst', null, second, first);
    add('monthFirst', null, first, second);
    if (second.length === 2 || second.length === 4) add('dayFirst', second, first, null);
  }
  const [, before, word, after, year] = withWord.exec(text) ?? [];
  for (const month of word === undefined ? [] : monthsNamed(word)) {
    const numbers = [before, after, year].filter((number) => number !== undefined);
    const [left = '', right = ''] = numbers;
    if (numbers.length === 2) {
      add('word', right, month, left);
      if (left.length === 4) add('word', left, month, right);
    } else if (numbers.length === 1) {
      add('word', null, month, left);
      if (left.length !== 1) add('word', left, month, null);
    }
  }
  const [, asianYear, asianMonth, asianDay] = asianDate.exec(text) ?? [];
  if (asianMonth !== undefined)
    add('word', asianYear ?? null, asianMonth, asianDay ?? (asianYear === undefined ? '1' : null));
  return readings;
}

/** What a workbook's date is read as, and not a number with dashes. */
const isoDay = /^\d{4}-\d\d-\d\d$/;
const separators = ['-', '/', '.'] as const;

/**
 * Texts of which a spreadsheet may have made the day that it shows: `12-1`, `01.12`, `DEC1` for `2026-12-01` or `1-Dec`, in lower case. None for
 * what is no ISO date and has no month that is a word.
 */
export function textsBeforeDay(shown: string): readonly string[] {
  if (shown.length > charsMax || /^\d+$/.test(shown)) return [];
  const days = datesOf(shown).filter(({ order }) => order === 'word' || (order === 'iso' && isoDay.test(shown)));
  return [...new Set(days.flatMap(textsOf))].filter((text) => text !== shown);
}

function textsOf({ year, month, day }: DateReading): readonly string[] {
  const ofYears = yearsBefore(year, day === null);
  if (day === null) return textsOfMonth(month, ofYears);
  const [days, months] = [withZero(day), withZero(month)];
  const numbers = separators.flatMap((separator) =>
    days.flatMap((one) =>
      months.flatMap((other) =>
        [`${one}${separator}${other}`, `${other}${separator}${one}`].flatMap((text) => [
          text,
          ...ofYears.map((ofYear) => `${text}${separator}${ofYear}`),
        ]),
      ),
    ),
  );
  return [...withName(month, days), ...numbers, ...(day === 1 ? textsOfMonth(month, ofYears) : [])];
}

/** A year with four digits before which no spreadsheet has a date, or that none makes of two, is a running number: `MAR-1002`. */
const yearOfDates = /^(?:\d{1,2}|19\d\d|20\d\d)$/;

/** How the year of a shown date may have been written. Beside the name of a month alone, spreadsheets show two digits of four, but not four of two. */
function yearsBefore(year: string | null, isMonthAlone: boolean): readonly string[] {
  if (year === null || (isMonthAlone && !yearOfDates.test(year))) return [];
  if (year.length === 2) return [year, `20${year}`];
  return isMonthAlone ? [year] : [year, year.slice(-2)];
}

/** A month and its year, without a day. */
function textsOfMonth(month: number, years: readonly string[]): readonly string[] {
  const numbers = separators.flatMap((separator) =>
    withZero(month).flatMap((one) =>
      years.flatMap((ofYear) => [`${one}${separator}${ofYear}`, `${ofYear}${separator}${one}`]),
    ),
  );
  return [...withName(month, years), ...numbers];
}

function withName(month: number, numbers: readonly string[]): readonly string[] {
  const name = monthNames[0]?.[month - 1] ?? '';
  const names = new Set([name.slice(0, lettersMin), name.slice(0, lettersMin + 1), name]);
  return [...names].flatMap((word) => numbers.flatMap((one) => [`${word}${one}`, `${word}-${one}`, `${one}-${word}`]));
}

function withZero(number: number): readonly string[] {
  const text = `${number}`;
  return text.length === 1 ? [text, `0${text}`] : [text];
}

interface Time {
  readonly seconds: number;
  readonly hasSeconds: boolean;
}

const timePattern = /^(\d{1,4}):(\d{1,2})(?::(\d{1,2})(?:[.,]\d{1,9})?)?(?: ?([ap])\.? ?m\.?)?Z?$/i;
const hoursOfHalf = 12;

function timeOf(text: string): Time | null {
  const [, hour, minute, second, half] = timePattern.exec(text) ?? [];
  if (hour === undefined) return null;
  const isAfternoon = half?.toLowerCase() === 'p';
  const hours = half === undefined ? Number(hour) : (Number(hour) % hoursOfHalf) + (isAfternoon ? hoursOfHalf : 0);
  const seconds = (hours * 60 + Number(minute)) * 60 + Number(second ?? 0);
  return { seconds, hasSeconds: second !== undefined };
}

/** Seconds may not be shown. */
function isTimeShownAs(before: Time, after: Time): boolean {
  if (before.seconds === after.seconds) return true;
  return !after.hasSeconds && Math.floor(before.seconds / 60) * 60 === after.seconds;
}

/** The day of a text and its time, if it has both. */
function parted(text: string): readonly [day: string, time: string | null] {
  const [, day, time] = /^(.*\d\S*)(?:T|,? )(\d{1,2}:\d.*)$/.exec(text) ?? [];
  return day === undefined || time === undefined ? [text, null] : [day, time];
}

/** Whether a spreadsheet may show the original so. */
export function isSameDate(original: string, found: string, opened: Opened): boolean {
  if (original.length > charsMax || found.length > charsMax) return false;
  const [before, after] = [timeOf(original), timeOf(found)];
  if (before !== null || after !== null) return before !== null && after !== null && isTimeShownAs(before, after);
  const [day, time] = parted(original);
  const [dayShown, timeShown] = parted(found);
  if (timeShown !== null) {
    const [was, is] = [timeOf(time ?? '0:00'), timeOf(timeShown)];
    if (was === null || is === null || !isTimeShownAs(was, is)) return false;
  }
  const shown = datesOf(dayShown);
  return shown.length > 0 && datesOf(day).some((one) => shown.some((other) => isDayShownAs(one, other, opened)));
}

function isDayShownAs(before: DateReading, after: DateReading, { years, isWorkbook }: Opened): boolean {
  if (before.month !== after.month || (before.day ?? 1) !== (after.day ?? 1)) return false;
  // A day of which only the month is shown had its year.
  if (after.day === null && before.year === null) return false;
  if (!isYearShownAs(before.year, after.year, years)) return false;
  if (after.order === 'iso') return before.order === 'iso' || isWorkbook;
  if (after.order === 'word') return true;
  return before.order === after.order || before.order === 'iso' || before.order === 'word';
}

const yearsOfCentury = 100;

/** Two digits of a year may become four, and four become two. */
function isYearShownAs(before: string | null, after: string | null, [first, last]: Opened['years']): boolean {
  if (after === null) return before === null;
  const is = Number(after);
  const isOf = (year: number): boolean => year === is || (after.length < 4 && year % yearsOfCentury === is);
  if (before === null) return Array.from({ length: last - first + 1 }, (_, index) => first + index).some(isOf);
  const was = Number(before);
  return before.length === 4 ? isOf(was) : was === is % yearsOfCentury;
}
