/** `patchbay dead ls|show|retry`: rejected rows, and notices that their addressee did not take. */

import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { duplicateKey } from '#src/contacts/outcome.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import {
  countLetters,
  type DeadLetterQuery,
  deadLetterPages,
  hasOpenLetters,
  type LetterCounts,
  lettersLeftWords,
  type RetryRequest,
  readDeadLetter,
  requireRateBelowKey,
  retryLetters,
  runsWithoutFixFile,
  runWithoutItsLetters,
  type UnfixableRun,
} from '#src/operations/dead-letters.ts';
import {
  addresseeOf,
  countNotices,
  isForNoticesOnly,
  type NoticeCounts,
  noticeCountsOf,
  noticeDetailDocument,
  noticeDocument,
  retryNotices,
} from '#src/operations/dead-notices.ts';
import {
  type LetterDocument,
  letterDetailDocument,
  letterDocument,
  letterWithoutValues,
} from '#src/operations/letter-document.ts';
import { lettersNamed, lettersNotOpen, requireChosen } from '#src/operations/letter-selection.ts';
import { shellWord } from '#src/shell-words.ts';
import { fileAndLine } from '#src/sources/row.ts';
import type { Again } from '../describe.ts';
import { noteUnknownFeed } from '../feed-notes.ts';
import { openDetached } from '../handed-over.ts';
import { addState, adviceOf, type ListedStates, noStates } from '../letters-advice.ts';
import { finishOneShot, patienceOf, type Submit } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { openPatiently } from '../waiting.ts';

/** Of a reason and of the notices, where nothing says how many are listed. */
const shownOfEach = 5;
/** Letters and notices, unless `--limit` says how many. */
const listedInTextMax = 1_000;
const noticeCodesShown = 3;
const notOpenShown = 5;

interface ListOptions extends GlobalOptions, Omit<DeadLetterQuery, 'limit'> {
  readonly limit?: number;
  readonly again: Again;
}

/** As a list is in text. */
interface CutOptions extends ListOptions {
  readonly limit: number;
  /** Of a list that is read part by part all that it has: the next part goes on behind it. Otherwise a few of each reason. */
  readonly shownOfEach: number;
}

export async function listDead(options: ListOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    await noteUnknownFeed(home, output, options.feed);
    if (output.json) await output.documents(listDocuments(home, output, options));
    else await printList(home, output, cutOptions(options));
    return 0;
  } finally {
    await home.close();
  }
}

function cutOptions(options: ListOptions): CutOptions {
  const { limit = listedInTextMax, after } = options;
  const isPart = options.limit !== undefined || after !== undefined;
  return { ...options, limit, shownOfEach: isPart ? limit : shownOfEach };
}

/** All of them, unless a limit was given. */
async function* listDocuments(home: Home, output: Output, { limit, ...query }: ListOptions): AsyncGenerator<object> {
  for await (const page of deadLetterPages(home, { ...query, limit: limit ?? Number.POSITIVE_INFINITY })) {
    for (const letter of page.letters) yield shownDocument(output, letter);
    for (const notice of page.notices) yield noticeDocument(notice);
  }
}

async function printList(home: Home, output: Output, options: CutOptions): Promise<void> {
  const listed: Listed = { groups: new Map(), states: noStates(), count: 0, last: null };
  const notices: DeliveryRecord[] = [];
  for await (const page of deadLetterPages(home, options)) {
    for (const letter of page.letters) addTo(listed, letter, output, options);
    notices.push(...page.notices);
  }
  const isCut = listed.count + notices.length === options.limit;
  // A page further on counts its own; the first one says how many there are in all.
  const isFirst = isCut && options.after === undefined;
  const all = isFirst ? await countLetters(home, options) : null;
  if (listed.count > 0) printGroups(output, withAll(listed, all), await unfixable(home, listed), options);
  else if (notices.length === 0)
    output.line(
      output.paste(
        noneListed(options, await runWithoutItsLetters(home, options), (await home.ledger.counts()).openLetters),
      ),
    );
  printNotices(output, notices, isFirst ? await countNotices(home, options) : noticeCountsOf(notices), options);
  const last = notices.at(-1) ?? listed.last;
  if (last !== null && isCut) output.note(output.paste(goOn(options, last.id)));
}

/** Of a list that is cut. */
function goOn({ after, limit, again, shownOfEach: shownMax }: CutOptions, last: string): string {
  if (shownMax < limit)
    return `a few of each reason are shown, of the newest ${limit}; row by row: ${again({ limit })}`;
  return `these are the ${after === undefined ? 'newest' : 'next'} ${limit}; go on with: ${again({ after: last })}`;
}

function shownDocument(output: Output, letter: DeadLetter): LetterDocument {
  return output.values ? letterDocument(letter) : letterWithoutValues(letter);
}

/** What a list has so far: of a long one, its groups and a few rows each. */
interface Listed {
  readonly groups: Map<string, Group>;
  readonly states: ListedStates;
  count: number;
  last: DeadLetter | null;
}

interface Group extends Pick<DeadLetter, 'class' | 'code' | 'field'> {
  count: number;
  /** None of a group that is older than all that are listed. */
  readonly shown: ShownRow[];
}

/** What is shown of a letter, and no part of its row: that may be a megabyte long. */
interface ShownRow {
  readonly document: LetterDocument;
  readonly hint: string;
}

function nameOf({ code, field }: Pick<Group, 'code' | 'field'>): string {
  return `${code} ${field ?? ''}`;
}

/** The list with the counts of all that fit in place of its own. */
function withAll(listed: Listed, all: LetterCounts | null): Listed {
  if (all === null) return listed;
  const groups = all.groups.map((group): readonly [string, Group] => {
    return [nameOf(group), { ...group, shown: listed.groups.get(nameOf(group))?.shown ?? [] }];
  });
  return { ...listed, groups: new Map(groups), states: { ...listed.states, counts: new Map(all.states) } };
}

function addTo(listed: Listed, letter: DeadLetter, output: Output, options: CutOptions): void {
  const { class: reasonClass, code, field } = letter;
  const name = nameOf(letter);
  const group = listed.groups.get(name) ?? { class: reasonClass, code, field, count: 0, shown: [] };
  listed.groups.set(name, group);
  group.count += 1;
  if (group.shown.length < options.shownOfEach)
    group.shown.push({ document: shownDocument(output, letter), hint: letter.hint });
  addState(listed.states, letter);
  listed.count += 1;
  listed.last = letter;
}

/** Where nothing is listed: whether that is all, or all that was asked for. */
function noneListed(
  { code, run, feed, state, after }: ListOptions,
  leftBy: RunRecord | null,
  openCount: number,
): string {
  if (leftBy !== null)
    return `${lettersLeftWords(leftBy)}; what is open of its feed: patchbay dead ls --feed ${shellWord(leftBy.feed)}`;
  const isChosen = [code, run, feed, after].some((one) => one !== undefined) || (state !== 'open' && state !== 'all');
  if (!isChosen) return 'no dead letters';
  const others = openCount === 0 ? '' : `; ${openCount} open in all: patchbay dead ls`;
  return `no dead letters of those that were asked for${others}`;
}

/** By cause: what is wrong, how often, what to do, and a few rows. */
function printGroups(
  output: Output,
  { groups, states }: Listed,
  without: readonly UnfixableRun[],
  options: CutOptions,
): void {
  const largestFirst = [...groups.values()].sort((a, b) => b.count - a.count);
  const ofCode = (code: string): number =>
    largestFirst.reduce((sum, group) => sum + (group.code === code ? group.count : 0), 0);
  for (const group of largestFirst) printGroup(output, group, ofCode(group.code), options);
  for (const line of adviceOf(states, choiceFlags(options), without.length)) output.line(output.paste(line));
  for (const one of without.slice(0, unfixableRunsShown)) output.line(output.paste(unfixableLine(one)));
  const more = without.length - unfixableRunsShown;
  if (more > 0) output.line(`  … and ${more === 1 ? '1 more run' : `${more} more runs`} without a fix-file`);
}

/** Runs of a list that are asked about: most lists are of few runs. */
const runsAskedMax = 200;
const unfixableRunsShown = 5;

async function unfixable(home: Pick<Home, 'ledger' | 'host'>, { states }: Listed): Promise<readonly UnfixableRun[]> {
  const asked = [...states.openRuns].slice(0, runsAskedMax);
  return runsWithoutFixFile(
    home,
    asked.map((runId) => ({ runId, state: 'open' })),
  );
}

function unfixableLine({ run: { id, state }, isGone }: UnfixableRun): string {
  if (isGone)
    return `the fix-file of run ${id} is not there any more; to write its open rows anew: patchbay dead export --run ${id}`;
  const why = state === 'stopped' ? 'is stopped by a guard' : 'has not ended';
  const decide = state === 'stopped' ? `; look at it and decide: patchbay runs show ${id}` : '';
  return `run ${id} ${why}, so that its rows are in no fix-file yet${decide}; one row at once: patchbay dead edit ID`;
}

/** The letters that are listed, as `dead retry` takes them. */
function choiceFlags(options: Pick<DeadLetterQuery, 'code' | 'run' | 'feed'>): string {
  const flags = (['code', 'run', 'feed'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name} ${shellWord(value)}`];
  });
  return flags.length === 0 ? '--all' : flags.join(' ');
}

/** @param ofCode how many letters have its code, in whichever field: the list that is named holds all of them. */
function printGroup(output: Output, { shown, ...group }: Group, ofCode: number, { again, limit }: CutOptions): void {
  const { class: reasonClass, code, field, count } = group;
  const where = field === null ? '' : ` in ${printable(field)}`;
  output.line(`${output.style('bold', `${count} × ${code}${where}`)} (${reasonClass})`);
  const list = again(ofCode > limit ? { code, limit: ofCode } : { code });
  const [example] = shown;
  if (example === undefined) {
    output.line(output.paste(`  not among the newest ${limit}; list them: ${list}`));
    return;
  }
  const hint = hintOfGroup(shown, count);
  output.line(`  ${output.paste(printable(output.values ? hint : withoutQuotedCells(hint)))}`);
  // The run has counted rows.
  if (code === duplicateKey) output.line(`  one dead letter for each key, whatever number of rows has it`);
  const rows = shown
    .map(({ document }) => document)
    .map((letter) => [letter.id, letter.key ?? '', fileAndLine(letter.file, letter), letter.state, letter.message]);
  output.line(output.table(['id', 'key', 'where', 'state', 'what happened'], rows));
  const more = count - rows.length;
  if (more > 0) output.line(output.paste(`  … and ${more} more: ${list} --json`));
}

/** What to do about all of them: a command that names one letter is for that one alone. */
function hintOfGroup(shown: readonly ShownRow[], count: number): string {
  const common = shown.find(({ hint, document }) => !hint.includes(document.id)) ?? shown[0];
  if (common === undefined) return '';
  return count === 1 ? common.hint : common.hint.replaceAll(common.document.id, 'ID');
}

/** One group, below those of the rows. @param all those of the whole list: rejected rows may leave no room for them in this one. */
function printNotices(
  output: Output,
  notices: readonly DeliveryRecord[],
  all: NoticeCounts,
  { again, limit, state: asked, shownOfEach: shownMax }: CutOptions,
): void {
  if (all.count === 0) return;
  const types = [...all.types].map(([type, ofType]) => `${ofType} × ${type}`);
  const open = notices.find(({ state }) => state === 'dead');
  const isDropped = notices.length === 0 ? asked === 'dropped' : open === undefined;
  const what = isDropped ? 'dropped: not sent any more' : 'could not be delivered';
  output.line(`${output.style('bold', `${counted(all.count)} ${what}`)}: ${types.join(', ')}`);
  if (notices.length === 0) {
    const lists = all.codes.slice(0, noticeCodesShown).map((code) => again({ code }));
    output.line(output.paste(`  behind the newest ${limit} dead letters; list them: ${lists.join('; ')}`));
    return;
  }
  if (open !== undefined) output.line(output.paste(`  ${openNoticeWords(open)}`));
  const rows = notices.slice(0, shownMax).map((one) => {
    const { feed, state } = noticeDocument(one);
    return [one.id, one.type, `${feed}`, addresseeOf(one), isoInstant(one.atMs), `${state}`, one.code ?? ''];
  });
  output.line(output.table(['id', 'notice', 'feed', 'to', 'of', 'state', 'code'], rows));
  const more = all.count - rows.length;
  // Behind the letters of the same list.
  const whole = all.count > notices.length ? { limit: limit + all.count } : {};
  if (more > 0) output.line(output.paste(`  … and ${more} more: ${again(whole)} --json`));
}

function openNoticeWords({ id, message }: DeliveryRecord): string {
  return `last: ${printable(message ?? '')}; try again with: patchbay dead retry ${id}; or drop it: patchbay dead drop ${id}`;
}

function counted(count: number): string {
  return count === 1 ? '1 notice' : `${count} notices`;
}

export async function showDead(options: GlobalOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const found = await readDeadLetter(home, id);
    if (found.kind === 'notice') printFacts(output, noticeDetailDocument(found.notice));
    else printLetter(output, found.letter);
    return 0;
  } finally {
    await home.close();
  }
}

function printLetter(output: Output, letter: DeadLetter): void {
  const document = letterDetailDocument(letter, output.values);
  if (output.json) {
    output.document(document);
    return;
  }
  const { cells, mapped: _, problems, ...facts } = document;
  printFacts(output, facts);
  if (problems.length > 1) {
    const all = problems.map(({ field, code, value, message, hint }) => [
      field ?? '',
      code,
      value ?? '',
      message,
      output.paste(hint),
    ]);
    output.line(output.table(['column', 'code', 'value', 'what happened', 'what to do'], all));
  }
  const rows = Object.entries(cells).map(([column, value]) => [column, value]);
  if (rows.length > 0) output.line(output.table(['column', 'cell'], rows));
}

/** One line for each fact that is there. */
function printFacts(output: Output, document: Readonly<Record<string, unknown>>): void {
  if (output.json) {
    output.document(document);
    return;
  }
  for (const [name, value] of Object.entries(document)) {
    // A row that is in no file has line 0.
    if (value === null || (name === 'line' && value === 0)) continue;
    const text = typeof value === 'object' ? JSON.stringify(value) : `${value}`;
    output.line(`${name.padEnd(9)} ${output.paste(printable(text))}`);
  }
}

interface RetryOptions extends GlobalOptions, Omit<RetryRequest, 'ids'> {
  readonly wait?: string;
  readonly detach?: boolean;
}

/** Works until what it took is settled, unless detached. Notices are put back into the line and not waited for. */
export async function retryDead(options: RetryOptions, named: readonly string[]): Promise<number> {
  const ids = [...new Set(named)];
  const patienceMs = patienceOf(options.wait);
  const request: RetryRequest = { ...options, ids };
  requireChosen(request);
  const home = await openPatiently(options, isForNoticesOnly(request) ? 'look' : 'act', patienceMs);
  try {
    const output = createOutput(options);
    requireRateBelowKey(home, options.rate);
    await noteUnknownFeed(home, output, options.feed);
    const notices = await retryNotices(home, request);
    printRetried(output, notices);
    await noteNotOpen(home, output, request);
    if (notices.length > 0 && !(await hasOpenLetters(home, request))) return 0;
    const submit: Submit = (_isEngine, onEntered) =>
      retryLetters(home, request, ({ run, resumed }) => {
        if (resumed) output.note(`run ${run.id} tries ${printable(run.fileName)} again already: going on with it`);
        onEntered(run);
      });
    if (options.detach !== true) {
      return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
    }
    const print = await openDetached(home, output);
    await submit(false, (run) =>
      print(run, `${run.fileName}: tried again as run ${run.id} by the running engine, or the next one`),
    );
    return 0;
  } finally {
    await home.close();
  }
}

/** Of several that are named: those that cannot be tried again. Where none can, the command ends with that. */
async function noteNotOpen(home: Pick<Home, 'ledger'>, output: Output, request: RetryRequest): Promise<void> {
  const left = await lettersNotOpen(home, lettersNamed(request));
  if (left.length === request.ids.length) return;
  for (const { message } of left.slice(0, notOpenShown)) output.note(printable(message));
  const more = left.length - notOpenShown;
  if (more > 0) output.note(`${more} more of those named are not open`);
}

function printRetried(output: Output, ids: readonly string[]): void {
  if (output.json) for (const id of ids) output.document({ id, state: 'waiting', exitCode: 0 });
  else if (ids.length > 0)
    output.line(
      `${counted(ids.length)} ${ids.length === 1 ? 'is' : 'are'} sent again by the running engine, or the next one`,
    );
}
