/**
 * Forgets a person: deletes what names the key from ledger and files, keeps a salted hash of it, and searches for what may be left
 * (`docs/rules.md`, "Forgetting a person"). The contact itself stays in the workspace.
 */
import { isAbsolute, relative } from 'node:path';
import type { Home } from '#src/app.ts';
import type { DataFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import type { FoundInLedger, Scrubbed } from '#src/ledger/forgetting.ts';
import type { DeadLetterFilter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { wordsOf } from '#src/ledger/rules/named-people.ts';
import { entryText, type PersonMarks } from '#src/runs/erase/erase-entries.ts';
import { type ErasedFile, eraseFromFiles, type RowJudge, rowJudge } from '#src/runs/erase/erase-files.ts';
import { filesHolding } from '#src/runs/erase/file-bytes.ts';
import { type WaitingFile, waitingFilesOf } from '#src/runs/erase/waiting-files.ts';
import { problemLines } from '#src/runs/report.ts';
import { actOf } from './acts.ts';

/** A shorter text is part of many others: it is looked for as a key alone, and not among bytes. */
const textCharsMin = 5;

/** What is known of a person before they are forgotten. */
export interface PersonKnown extends PersonMarks {
  readonly feeds: readonly string[];
  /** Whether the ledger knows the key at all; files may name it all the same. */
  readonly isKnown: boolean;
}

export interface ForgottenPerson {
  /** Rows of the ledger that were deleted. */
  readonly rows: number;
  /** Reasons of acts, approvals and pauses in which the person was named, and is no longer. */
  readonly reasons: number;
  readonly files: readonly ErasedFile[];
  readonly scrubbed: Scrubbed;
  /** What the search has found afterwards; empty where nothing is left. */
  readonly left: { readonly tables: readonly FoundInLedger[]; readonly files: readonly string[] };
  /** Files that are still to be read, and name the person, or may. */
  readonly waiting: readonly WaitingFile[];
  /** Files of failed runs that cannot be read, so that it is not known whether they name the person. */
  readonly unsearched: readonly string[];
  /** How many texts were searched for. */
  readonly searched: number;
  /** Other hosts of the ledger, whose files were not searched for the person yet. */
  readonly otherHosts: readonly OtherHost[];
}

export interface OtherHost {
  readonly host: string;
  readonly name: string;
}

/** What forgetting needs of a home. */
export type ForgettingHome = Pick<Home, 'ledger' | 'clock' | 'actor' | 'runFolders' | 'host'> & {
  readonly folders: Pick<DataFolders, 'root' | 'watched'>;
  readonly feeds: Pick<Home['feeds'], 'get'>;
};

/** @throws PatchbayError `usage` `keyMissing`. */
export async function knowPerson({ ledger }: Pick<Home, 'ledger'>, text: string): Promise<PersonKnown> {
  const key = text.normalize('NFC').trim();
  if (key === '') {
    throw new PatchbayError('usage', 'keyMissing', 'the key is empty', { hint: 'Name the externalId of the person.' });
  }
  const contact = (await ledger.contacts.get([key])).get(key);
  const saids = contact?.saids ?? [];
  const said = saids.flatMap((one) => [...one.said.emails, ...one.said.phones].flatMap(({ items }) => items));
  const { emails = [], phoneNumbers = [] } = contact?.seen?.defaultFields ?? {};
  const values = [...said, ...emails, ...phoneNumbers].flatMap(({ value }) => (value === null ? [] : [value]));
  const journal = await ledger.contacts.journal({ key, limit: journalMax });
  const written = journal.flatMap(({ changes }) =>
    changes.flatMap(({ field, from, to }) => (/^(?:email|phone)\./.test(field) ? [from, to] : [])),
  );
  const contactId = contact?.contactId ?? null;
  const texts = [key, contactId, ...values, ...written].flatMap((one) =>
    typeof one === 'string' && one.trim().length >= textCharsMin ? [one.trim()] : [],
  );
  const feeds = saids.map(({ feed }) => feed).toSorted();
  return { key, texts: [...new Set(texts)], contactId, feeds, isKnown: contact !== undefined };
}

const journalMax = 1_000;

/**
 * May be done again: it then takes what came since, or what an interruption has left.
 * @throws PatchbayError `usage`: `reasonNamesPerson`; `forgetBusy`: a run that has not ended has a row of the key, or reads a file.
 */
export async function forgetPerson(
  home: ForgettingHome,
  person: PersonKnown,
  reason: string,
): Promise<ForgottenPerson> {
  const { ledger, folders, runFolders } = home;
  requireUnnamed(person, reason);
  const act = await actOf(home, 'forget', reason);
  const letters = await lettersOf(ledger, person);
  const marks = { ...person, ...(await marksOf(ledger, letters)) };
  const forgotten = await ledger.forgetting.forgetPerson(
    { key: person.key, texts: person.texts, letterIds: letters.holding },
    act,
  );
  if (forgotten.kind === 'busy') throw busy(forgotten.runId);
  const host = home.host?.id ?? null;
  const { erased, unsearched } = await eraseFromFiles({ ledger, folders: runFolders, host }, marks);
  const scrubbed = await ledger.forgetting.scrub();
  const tables = await ledger.forgetting.search(person.texts);
  const found = await filesOfHomeHolding(home, person.texts, isOfService);
  const waiting = await waitingFilesOf({ ledger, feeds: home.feeds, watched: folders.watched, host }, person);
  const otherHosts = await hostsNotSearched(ledger, person.key, host);
  const told = new Set([...waiting.map(({ path }) => path), ...unsearched]);
  return {
    ...{ rows: forgotten.rows, reasons: forgotten.reasons, files: erased, scrubbed, searched: person.texts.length },
    left: { tables, files: found.filter((path) => !told.has(path)) },
    waiting,
    unsearched,
    otherHosts,
  };
}

/** Of the person that this host has forgotten. @param host the one at hand, which is noted to have searched its files; null: none is. */
async function hostsNotSearched(
  { forgetting, hosts }: Pick<Home['ledger'], 'forgetting' | 'hosts'>,
  key: string,
  host: string | null,
): Promise<readonly OtherHost[]> {
  const searched = await forgetting.searchedOn(key, host);
  return (await hosts.list()).flatMap(({ id, name }) =>
    id === host || searched.includes(id) ? [] : [{ host: id, name }],
  );
}

/** The reason is kept where the person is not. @throws PatchbayError `usage` `reasonNamesPerson`. */
export function requireUnnamed({ key, contactId, texts }: PersonKnown, reason: string): void {
  const [named] = wordsOf([key, ...texts], 'iu')?.exec(reason) ?? [];
  if (named === undefined) return;
  const what = named === key ? 'key' : named === contactId ? "contact's id" : 'address or number';
  const message = `the reason holds the ${what} of the person, ${named}; it would stay in the trail of acts. Nothing was erased`;
  throw new PatchbayError('usage', 'reasonNamesPerson', message, {
    hint: 'Say why without naming the person: --reason "request of 2026-11-20".',
  });
}

type AllowingHome = Pick<Home, 'ledger' | 'clock' | 'actor'>;

/**
 * To be asked before a person decides. @throws PatchbayError `usage`: `notForgotten`; `forgettingUnfinished`: on a host, this one or another, files of before may hold the
 * person, and the command that erases them there would erase what later files bring.
 */
export async function requireForgotten({ ledger }: AllowingHome, { key }: PersonKnown): Promise<void> {
  if ((await ledger.forgetting.forgottenPeople())?.has(key) !== true) throw notForgotten(key);
  const [other] = await hostsNotSearched(ledger, key, null);
  if (other === undefined) return;
  const message = `the key ${key} is not forgotten yet on the host ${other.name}: its files may hold the person`;
  throw new PatchbayError('usage', 'forgettingUnfinished', message, {
    hint: `Give the command patchbay forget there first; if the host is gone for good: patchbay hosts forget ${other.host}`,
  });
}

/**
 * Lets later files bring a person again who was forgotten. What was erased stays erased.
 * @throws PatchbayError `usage`: `reasonNamesPerson`; what `requireForgotten` throws.
 */
export async function allowAgain(home: AllowingHome, person: PersonKnown, reason: string): Promise<void> {
  requireUnnamed(person, reason);
  await requireForgotten(home, person);
  const act = await actOf(home, 'forgetAllow', reason);
  if (!(await home.ledger.forgetting.allowAgain(person.key, act))) throw notForgotten(person.key);
}

function notForgotten(key: string): PatchbayError {
  return new PatchbayError('usage', 'notForgotten', `the key ${key} is not among those that were forgotten`, {
    hint: 'Its rows are read as any others. Give the key exactly as it was given to be forgotten, with its prefix: only a hash of it is known.',
  });
}

/** Whether nothing of the person is left, as far as the search can tell. */
export function isGone({
  left,
  waiting,
  unsearched,
  otherHosts,
}: Pick<ForgottenPerson, 'left' | 'waiting' | 'unsearched' | 'otherHosts'>): boolean {
  return left.tables.length + left.files.length + waiting.length + unsearched.length + otherHosts.length === 0;
}

const lettersPerPage = 500;

interface LettersOfPerson {
  /** Those without a key whose rows, which could not be read, are the person's: by the mapping of the run that met them. */
  readonly holding: readonly string[];
  /** Those of the key; but where rows that differ shared it, one of them may be another person's by now. */
  readonly named: readonly string[];
}

export async function lettersOf({ deadLetters, runs }: Ledger, person: PersonMarks): Promise<LettersOfPerson> {
  const found: string[] = [];
  const named: string[] = [];
  const judges = new Map<string, RowJudge>();
  let after: DeadLetterFilter['after'];
  // Ends with the first short page: each begins behind the one before.
  for (;;) {
    const page = await deadLetters.summaries({ limit: lettersPerPage, ...(after === undefined ? {} : { after }) });
    named.push(...page.flatMap(({ id, key, code }) => (key === person.key && code !== 'duplicateKey' ? [id] : [])));
    const ids = page.flatMap(({ id, key }) => (key === null ? [id] : []));
    const letters = ids.length === 0 ? [] : await deadLetters.list({ ids, limit: ids.length });
    for (const { id, runId, row } of letters) {
      if (row === null) continue;
      const judge = judges.get(runId) ?? (await rowJudge(await runs.get(runId), person));
      judges.set(runId, judge);
      if (judge(row, true)) found.push(id);
    }
    if (page.length < lettersPerPage) return { holding: found, named };
    after = page.at(-1);
  }
}

/** By what files name letters of the person, and tell of them. To be read before the letters leave the ledger. */
async function marksOf(
  { deadLetters }: Pick<Ledger, 'deadLetters'>,
  { holding, named }: LettersOfPerson,
): Promise<Pick<PersonMarks, 'letterIds' | 'problems'>> {
  const letterIds = new Set([...holding, ...named]);
  const problems = new Set<string>();
  const ids = [...letterIds];
  for (let start = 0; start < ids.length; start += lettersPerPage) {
    const letters = await deadLetters.list({ ids: ids.slice(start, start + lettersPerPage), limit: lettersPerPage });
    for (const problem of letters.flatMap(problemLines)) problems.add(entryText(problem));
  }
  return { letterIds, problems };
}

/** In the data folder, and in import folders elsewhere. */
export async function filesOfHomeHolding(
  { folders, runFolders }: Pick<ForgettingHome, 'folders' | 'runFolders'>,
  texts: readonly string[],
  leavesOut: (name: string) => boolean,
): Promise<readonly string[]> {
  const { root } = folders;
  const outside = runFolders.importFolders.filter((folder) => isOutside(root, folder));
  const found: string[] = [];
  for (const folder of [root, ...outside]) found.push(...(await filesHolding(folder, texts, leavesOut)));
  return found;
}

/** The sandbox's service: the contact itself, which is for the app to delete. */
export function isOfService(name: string): boolean {
  return name.startsWith('service.sqlite');
}

function isOutside(root: string, folder: string): boolean {
  const path = relative(root, folder);
  return path.startsWith('..') || isAbsolute(path);
}

function busy(runId: string | null): PatchbayError {
  const what = runId === null ? 'a write to this contact has not ended' : `run ${runId} has not ended`;
  return new PatchbayError('usage', 'forgetBusy', `nothing was erased: ${what}, and would bring the person back`, {
    facts: runId === null ? {} : { run: runId },
    hint:
      runId === null
        ? 'Run the same command again in a minute.'
        : `Wait for it, or end it with: patchbay runs cancel ${runId}. Then run the same command again.`,
  });
}
