/**
 * Rows that are rejected because a phone number lacks its country get a hint that names the country of the workspace's own
 * numbers, and so does the run. It is proposed, never assumed: the same digits are a number in many countries. The numbers are
 * those of the ledger's latest snapshot; where there is none, the service is asked, once and briefly. Whatever fails there, the
 * hints stay as they were.
 *
 * Files that come by themselves are not imported again, and the next one would be rejected alike: their advice names the setting.
 *
 * Where the row's own cell names a country that none is, no default country helps: a note names the column, and the hint of the
 * mapping stays.
 */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Problem } from '#src/contacts/outcome.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { originOf, type RunRecord } from '#src/ledger/runs.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import type { DeadRow, RunEvent } from '#src/ledger/staging.ts';
import { countryMissingCode, isOfOwnCountry, unknownCountryColumn } from '#src/mapping/country.ts';
import { shellWord } from '#src/shell-words.ts';
import { type PhoneNumber, textOf } from '#src/wire/phone-number.ts';
import type { Workspace } from '#src/workspace/port.ts';

export interface CountryAdviceParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
}

export interface CountryAdvice {
  /** The rows with better hints. Never rejects. */
  advise(dead: readonly DeadRow[], events: readonly RunEvent[]): Promise<readonly DeadRow[]>;
  /** A sentence about all rows so far, or none. */
  notes(): readonly string[];
}

/** A hint is not worth more: a service that is slow or gone is noticed by the work itself. */
const askMsMax = 3_000;

/** The run whose numbers lack their country: what helps depends on how its file came. */
type OfRun = Pick<RunRecord, 'feed' | 'kind' | 'options'>;

export function createCountryAdvice(parts: CountryAdviceParts, run: OfRun, signal: AbortSignal): CountryAdvice {
  let missingCount = 0;
  const unknown: UnknownCountry[] = [];
  let countries: readonly CountryCode[] | null = null;
  return {
    advise: async (dead, events) => {
      const found = [...dead.flatMap(({ problems }) => problems), ...events].filter(isOfCountry);
      const missing = found.filter(isMissing).length;
      for (const { line, message } of found) {
        const column = unknownCountryColumn(message);
        if (column !== null) countUnknown(unknown, column, line);
      }
      if (missing === 0) return dead;
      missingCount += missing;
      countries ??= await countriesOfWorkspace(parts, signal);
      const known = countries;
      return dead.map((row) => ({ ...row, problems: row.problems.map((one) => adviseOnCountry(one, known, run)) }));
    },
    notes: () => {
      const note = countryNote(missingCount, countries ?? [], run);
      return [...(note === null ? [] : [note]), ...unknown.map(unknownNote)];
    },
  };
}

interface Found {
  readonly code: string | null;
  readonly message: string;
}

function isOfCountry({ code }: Found): boolean {
  return code === countryMissingCode;
}

function isMissing(one: Found): boolean {
  return isOfCountry(one) && !isOfOwnCountry(one.message);
}

/** Numbers for which a column holds no country that is known. */
interface UnknownCountry {
  readonly column: string;
  count: number;
  readonly firstLine: number;
}

function countUnknown(unknown: UnknownCountry[], column: string, line: number): void {
  const known = unknown.find((one) => one.column === column);
  if (known === undefined) unknown.push({ column, count: 1, firstLine: line });
  else known.count += 1;
}

/** One sentence for the run. */
function unknownNote({ column, count, firstLine }: UnknownCountry): string {
  const what = `${numbersInWords(count)}, and "${column}" holds no country that is known`;
  const cells = count === 1 ? 'correct that cell, or write the number' : 'correct these cells, or write the numbers';
  const where = count === 1 ? `line ${firstLine}` : `first at line ${firstLine}`;
  return `${what} (${where}): ${cells} with + and the country code; --default-country changes nothing where "${column}" is filled`;
}

function numbersInWords(count: number): string {
  return count === 1 ? '1 number has no country code' : `${count} numbers have no country code`;
}

async function countriesOfWorkspace(parts: CountryAdviceParts, signal: AbortSignal): Promise<readonly CountryCode[]> {
  try {
    const numbers = (await snapshotNumbers(parts)) ?? (await firstPage(parts, signal));
    return countriesOfNumbers(numbers.flatMap((number) => textOf(number, 'number') ?? []));
  } catch {
    return [];
  }
}

async function snapshotNumbers({ ledger }: CountryAdviceParts): Promise<readonly PhoneNumber[] | null> {
  const latest = await ledger.snapshots.at(workspaceSeries);
  return latest === null ? null : await ledger.snapshots.numbersOf(latest.series, latest.takenAtMs);
}

/** One list call: the first page shows enough. */
async function firstPage({ workspace }: CountryAdviceParts, signal: AbortSignal): Promise<readonly PhoneNumber[]> {
  const brief = AbortSignal.any([signal, AbortSignal.timeout(askMsMax)]);
  for await (const page of workspace.listPhoneNumberPages({ signal: brief })) return page;
  return [];
}

/** More countries than these are no help. */
const countriesNamedMax = 5;

/**
 * The countries of numbers in E.164, the most frequent first. Of countries that share a calling code only the most frequent
 * is named, since their numbers are written alike; those of no country (+800) count for none.
 */
function countriesOfNumbers(numbers: readonly string[]): readonly CountryCode[] {
  const counts = new Map<CountryCode, { readonly callingCode: string; count: number }>();
  for (const number of numbers) {
    const parsed = parsePhoneNumberFromString(number, { extract: false });
    if (parsed?.country === undefined) continue;
    const known = counts.get(parsed.country);
    if (known === undefined) counts.set(parsed.country, { callingCode: parsed.countryCallingCode, count: 1 });
    else known.count += 1;
  }
  const sorted = [...counts].sort(([left, a], [right, b]) => b.count - a.count || (left < right ? -1 : 1));
  const met = new Set<string>();
  return sorted.flatMap(([country, { callingCode }]) => {
    if (met.has(callingCode)) return [];
    met.add(callingCode);
    return [country];
  });
}

/** The problem with a hint that names the countries; as it is where it is another problem, or no country is known. */
function adviseOnCountry(problem: Problem, countries: readonly CountryCode[], run: OfRun): Problem {
  const [first] = countries;
  if (!isMissing(problem) || first === undefined) return problem;
  return {
    ...problem,
    hint: originOf(run) === 'command' ? hintOnImport(countries, first, run) : hintOnFeed(countries, first, run),
  };
}

function hintOnImport(countries: readonly CountryCode[], first: CountryCode, run: OfRun): string {
  return countries.length === 1
    ? `If it is a number in ${named(first)}, as those of your workspace are, ${importAgain(run, first)}; otherwise write it with + and its country code.`
    : `Write it with + and its country code, or, if all such numbers are in one country, ${importAgain(run, 'CODE')}. Your workspace has numbers in ${listed(countries)}.`;
}

/** Its command is the end of it: in a cell of a fix-file it is named by its words alone. */
function hintOnFeed(countries: readonly CountryCode[], first: CountryCode, run: OfRun): string {
  const byHand = 'Write it with + and its country code';
  return countries.length === 1
    ? `${byHand}. Or, if it is a number in ${named(first)}, as those of your workspace are, ${lastingCure(run, first)}`
    : `${byHand}. Your workspace has numbers in ${listed(countries)}. If all such numbers are in one country, ${lastingCure(run, 'its code')}`;
}

/** In a cell of a fix-file an option must not follow a blank. */
function importAgain({ feed }: OfRun, country: string): string {
  return `import again${feed === mainFeed ? '' : ` into feed ${feed}`} with that (--default-country ${country})`;
}

function importOption({ feed }: OfRun, country: string): string {
  return `${feed === mainFeed ? '' : `--feed ${shellWord(feed)} `}--default-country ${country}`;
}

/** For files that come by themselves, the next one too, and for rows that are tried again. */
function lastingCure({ feed }: OfRun, country: string): string {
  // Not by the code: a row that has another problem, too, may be filed under that.
  const retry = `patchbay dead retry --feed ${shellWord(feed)} --remap`;
  return `set mapping.defaultCountry to ${country} (for this feed alone: defaultCountry in its mapping), restart Patchbay where it runs, and try the rejected rows again: ${retry}`;
}

/** One sentence for the run. Null where no country is known: the hints of the rows say what to do. */
function countryNote(missingCount: number, countries: readonly CountryCode[], run: OfRun): string | null {
  const [first] = countries;
  if (missingCount === 0 || first === undefined) return null;
  const isImport = originOf(run) === 'command';
  const what = numbersInWords(missingCount);
  const these = missingCount === 1 ? 'this one is' : 'these are';
  if (countries.length === 1) {
    const cure = isImport ? `import again with ${importOption(run, first)}` : lastingCure(run, first);
    return `${what}. The numbers of your workspace are in ${named(first)}: if ${these}, too, ${cure}`;
  }
  const cure = isImport
    ? `import again with its code, as in ${importOption(run, first)}`
    : lastingCure(run, 'its code');
  return `${what}. The numbers of your workspace are in ${listed(countries)}: if ${these} in one of them, ${cure}`;
}

function named(country: CountryCode): string {
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(country);
  return name === undefined || name === country ? country : `${withArticle(name)} (${country})`;
}

function withArticle(name: string): string {
  return /^(?:United |Netherlands|Philippines|Bahamas|Maldives)/.test(name) ? `the ${name}` : name;
}

function listed(countries: readonly CountryCode[]): string {
  const names = countries.slice(0, countriesNamedMax).map(named);
  const more = countries.length - names.length;
  const all = more > 0 ? [...names, `${more} more countries`] : names;
  return `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}
