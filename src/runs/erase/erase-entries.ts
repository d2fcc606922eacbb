/**
 * Erases a forgotten person from what runs tell: the lists of reports, and the lines of notes.
 *
 * An entry belongs to the key that it names, or to the row of the line that it names. One of another person stays, also where both have
 * the same phone number or address; the key and the contact's id of the forgotten person are replaced in it. What names neither is
 * judged by its texts.
 */
import { readFile, rm } from 'node:fs/promises';
import { forgottenWord } from '#src/ledger/erased-rows.ts';
import { withoutPerson, wordsOf } from '#src/ledger/rules/named-people.ts';
import { placeText } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';

/** By what a person is recognised in files. */
export interface PersonMarks {
  readonly key: string;
  readonly contactId: string | null;
  /** Addresses and numbers; key and id of the contact too, where they are long enough to be no other word. */
  readonly texts: readonly string[];
  /** Dead letters of theirs alone, which rows of fix-files name: their keys may be damaged there, or corrected. */
  readonly letterIds?: ReadonlySet<string> | undefined;
  /** What those letters have of the problems of a row, as reports have it: an entry without a key may be theirs by that (`entryText`). */
  readonly problems?: ReadonlySet<string> | undefined;
}

/** Where the person's rows are in the file of a run, as `placeText` writes it; null where the file is not there to tell. */
export type PlacesOfPerson = ReadonlySet<string> | null;

/** Entries of the lists of a report. @returns how many left it or were changed; null where it was deleted. */
export async function eraseEntries(path: string, person: PersonMarks, places: PlacesOfPerson): Promise<number | null> {
  const text = await readFile(path, 'utf8');
  const { isNamed, withoutIds } = namesIn(person);
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    // Cut off or damaged: it has no entries that could be taken out.
    if (!isNamed(text)) return 0;
    await rm(path, { force: true });
    return null;
  }
  let count = 0;
  const isTheirs = (entry: unknown): boolean => {
    if (typeof entry === 'string') return entry === person.key;
    if (typeof entry !== 'object' || entry === null) return false;
    if ('key' in entry && entry.key !== null) return entry.key === person.key;
    if ('line' in entry && places !== null) return places.has(placeText(entry as Parameters<typeof placeText>[0]));
    return person.problems?.has(entryText(entry)) === true || isNamed(Object.values(entry).map(asText).join('\n'));
  };
  const cleaned = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const kept = value.filter((entry) => !isTheirs(entry));
      count += value.length - kept.length;
      return kept.map(cleaned);
    }
    if (typeof value === 'string') {
      const rest = withoutIds(value);
      if (rest !== value) count += 1;
      return rest;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cleaned(member)]));
  };
  const clean = (reason: unknown): unknown => {
    const rest = typeof reason === 'string' ? withoutPerson(reason, person) : reason;
    if (rest !== reason) count += 1;
    return rest;
  };
  const rest = cleaned(withReasons(report, clean));
  if (count > 0) await writeWholeFile(path, `${JSON.stringify(rest, null, 1)}\n`);
  return count;
}

/** A report with other reasons that people gave, of the import and of approvals: as the ledger has them (`given-reasons.ts`). */
function withReasons(report: unknown, clean: (reason: unknown) => unknown): unknown {
  if (typeof report !== 'object' || report === null) return report;
  const { options, approvals } = report as Record<string, unknown>;
  const withReason = (holder: unknown, name: string): unknown =>
    typeof holder === 'object' && holder !== null && name in holder
      ? { ...holder, [name]: clean((holder as Record<string, unknown>)[name]) }
      : holder;
  return {
    ...report,
    ...(options === undefined ? {} : { options: withReason(options, 'acceptReason') }),
    ...(Array.isArray(approvals) ? { approvals: approvals.map((one) => withReason(one, 'reason')) } : {}),
  };
}

/** An entry of a report without its key, as one text; older versions wrote none. */
export function entryText(entry: object): string {
  return JSON.stringify({ ...entry, key: undefined });
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** As `noteOn` writes warnings: the place is that of a row. */
const placeInNote = /^\s+line (\d+(?:, record \d+)?)[,:]/;

/** Lines of a note. @returns how many left it. */
export async function eraseLines(path: string, person: PersonMarks, places: PlacesOfPerson): Promise<number> {
  const { isNamed } = namesIn(person);
  const lines = (await readFile(path, 'utf8')).split('\n');
  const kept = lines.filter((line) => {
    const place = placeInNote.exec(line)?.[1];
    return place !== undefined && places !== null ? !places.has(place) : !isNamed(line);
  });
  if (kept.length < lines.length) await writeWholeFile(path, kept.join('\n'));
  return lines.length - kept.length;
}

interface NamesIn {
  /** Whether one of the person's texts is in it, as a word of its own. */
  isNamed(text: string): boolean;
  /** Key and contact's id replaced. */
  withoutIds(text: string): string;
}

function namesIn({ key, contactId, texts }: PersonMarks): NamesIn {
  const ids = [key, ...(contactId === null ? [] : [contactId])];
  const any = wordsOf(texts);
  const long = wordsOf(ids.filter((id) => texts.includes(id)));
  return {
    isNamed: (text) => any?.test(text) === true,
    withoutIds: (text) => {
      if (ids.includes(text)) return forgottenWord;
      return long === null || !long.test(text) ? text : text.replaceAll(new RegExp(long, 'gu'), forgottenWord);
    },
  };
}
