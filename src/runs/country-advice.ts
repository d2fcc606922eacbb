/**
 * Rows that are rejected because a phone number lacks its country get a hint that names the country of the workspace's own
 * numbers, and so does the run. The numbers are those of the ledger's latest snapshot; where there is none, the service is
 * asked, once and briefly. Whatever fails there, the hints stay as they were.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import type { Ledger } from '#src/ledger/port.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import type { DeadRow, RunEvent } from '#src/ledger/staging.ts';
import { adviseOnCountry, countriesOfNumbers, countryMissingCode, countryNote } from '#src/mapping/country-advice.ts';
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

export function createCountryAdvice(parts: CountryAdviceParts, signal: AbortSignal): CountryAdvice {
  let missingCount = 0;
  let countries: readonly CountryCode[] | null = null;
  return {
    advise: async (dead, events) => {
      const found = dead.flatMap(({ problems }) => problems).filter(isMissing).length + events.filter(isMissing).length;
      if (found === 0) return dead;
      missingCount += found;
      countries ??= await countriesOfWorkspace(parts, signal);
      const known = countries;
      return dead.map((row) => ({ ...row, problems: row.problems.map((one) => adviseOnCountry(one, known)) }));
    },
    notes: () => {
      const note = countryNote(missingCount, countries ?? []);
      return note === null ? [] : [note];
    },
  };
}

function isMissing({ code }: { readonly code: string | null }): boolean {
  return code === countryMissingCode;
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
