/**
 * Dead letters: list them, look at one, try them again.
 *
 * Two kinds share the list. A *letter* is what is kept of a rejected row; its id begins with `d`. A *notice* (`dead-notices.ts`) is a
 * delivery that its addressee did not take; its id begins with `n`.
 */

import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { openByFeed, type RedriveChoice, redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/letters.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import type { ServiceAnswer } from '#src/ledger/staging.ts';
import { fixFileThere } from '#src/runs/fix-file.ts';
import { isOfHost } from '#src/runs/stop-run.ts';
import { recordOf } from '#src/sources/row.ts';
import { actOf } from './acts.ts';
import { findNotice, isNoticeId, noticePages } from './dead-notices.ts';
import { noSuchDeadLetter, requireAnyOpen } from './letters-not-open.ts';
import { withWholeRunId } from './runs.ts';

export interface DeadLetterQuery {
  readonly code?: string;
  /** The run that met the letter last, by its id or the end of it. */
  readonly run?: string;
  readonly feed?: string;
  /** `open` includes letters that are being tried again. */
  readonly state: DeadLetterState | 'all';
  /** The id of the last letter or notice of the page before. */
  readonly after?: string;
  readonly limit: number;
}

export interface DeadLetterPage {
  readonly letters: readonly DeadLetter[];
  /** They follow the last letter. */
  readonly notices: readonly DeliveryRecord[];
}

/** Letters that are read at once of a long list. */
const lettersPerPage = 250;

/**
 * One list, page by page, so that a long one is never in memory as a whole: the letters, newest first, then the notices, newest first.
 * Ends with the list, or with its limit, which counts both.
 * @throws PatchbayError `usage` `noSuchDeadLetter` where `after` names neither; `noSuchRun`.
 */
export async function* deadLetterPages(
  home: Pick<Home, 'ledger'>,
  asked: DeadLetterQuery,
): AsyncGenerator<DeadLetterPage> {
  const query = await withWholeRunId(home, asked);
  const after = await placeAfter(home, query.after);
  let left = query.limit;
  if (typeof after !== 'string') {
    for await (const letters of letterPages(home, query, after)) {
      yield { letters, notices: [] };
      left -= letters.length;
    }
  }
  const notices = noticePages(home, { ...query, limit: left }, typeof after === 'string' ? after : null);
  for await (const page of notices) yield { letters: [], notices: page };
}

/**
 * The same as one page: for a short limit.
 * @throws PatchbayError `usage` `noSuchDeadLetter` where `after` names neither; `noSuchRun`.
 */
export async function listDeadLetters(home: Pick<Home, 'ledger'>, asked: DeadLetterQuery): Promise<DeadLetterPage> {
  const pages = await Array.fromAsync(deadLetterPages(home, asked));
  return { letters: pages.flatMap(({ letters }) => letters), notices: pages.flatMap(({ notices }) => notices) };
}

/** The letter, or the id of the notice, behind which the list goes on; null: it begins. */
async function placeAfter(
  { ledger }: Pick<Home, 'ledger'>,
  id: string | undefined,
): Promise<DeadLetter | string | null> {
  if (id === undefined) return null;
  // Sent or dropped since, it still has its place.
  if (isNoticeId(id) && (await ledger.deliveries.get(id)) !== null) return id;
  const letter = await ledger.deadLetters.get(id);
  if (letter === null) throw noSuchDeadLetter(id);
  return letter;
}

/** Pages that are not empty. */
async function* letterPages(
  home: Pick<Home, 'ledger'>,
  query: DeadLetterQuery,
  from: DeadLetter | null,
): AsyncGenerator<readonly DeadLetter[]> {
  // Of the letter as it was listed: it may be met again meanwhile, and then stands first.
  let after = from;
  for (let left = query.limit; left > 0; left -= lettersPerPage) {
    const limit = Math.min(left, lettersPerPage);
    const letters = await lettersAfter(home, { ...query, limit }, after);
    if (letters.length > 0) yield letters;
    if (letters.length < limit) return;
    after = letters.at(-1) ?? null;
  }
}

function lettersAfter(
  { ledger }: Pick<Home, 'ledger'>,
  { code, run, feed, state, limit }: DeadLetterQuery,
  after: DeadLetter | null,
): Promise<readonly DeadLetter[]> {
  return ledger.deadLetters.list({
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { runId: run }),
    ...(feed === undefined ? {} : { feed }),
    ...(state === 'all' ? {} : { states: state === 'open' ? ['open', 'redriven'] : [state] }),
    ...(after === null ? {} : { after }),
    limit,
  });
}

/** A run of open letters whose rows are in no fix-file. */
export interface UnfixableRun {
  readonly run: RunRecord;
  /** Its fix-file is not there any more. Otherwise it is written when the run ends, and one that a guard stopped has not ended. */
  readonly isGone: boolean;
}

/** Those among the runs of these letters. Of a run of another host nothing is known. */
export async function runsWithoutFixFile(
  { ledger, host }: Pick<Home, 'ledger' | 'host'>,
  letters: readonly Pick<DeadLetter, 'runId' | 'state'>[],
): Promise<readonly UnfixableRun[]> {
  const ids = new Set(letters.filter(({ state }) => state === 'open').map(({ runId }) => runId));
  const runs = await Promise.all([...ids].map((id) => ledger.runs.get(id)));
  return runs.flatMap((run): readonly UnfixableRun[] => {
    if (run === null) return [];
    if (!isFinal(run.state)) return [{ run, isGone: false }];
    return isOfHost(run, host?.id ?? null) && fixFileThere(run) === null ? [{ run, isGone: true }] : [];
  });
}

export type DeadLetterOrNotice =
  | { readonly kind: 'letter'; readonly letter: DeadLetter }
  | { readonly kind: 'notice'; readonly notice: DeliveryRecord };

/** @throws PatchbayError `usage` `noSuchDeadLetter`. */
export async function readDeadLetter({ ledger }: Pick<Home, 'ledger'>, id: string): Promise<DeadLetterOrNotice> {
  const notice = await findNotice({ ledger }, id);
  if (notice !== null) return { kind: 'notice', notice };
  const letter = await ledger.deadLetters.get(id);
  if (letter === null) throw noSuchDeadLetter(id);
  return { kind: 'letter', letter };
}

/** Which dead letters to try again: these ids, or all that fit code, run and feed, or all. */
export interface RetryRequest {
  readonly ids: readonly string[];
  readonly code?: string;
  /** By its id or the end of it. */
  readonly run?: string;
  readonly feed?: string;
  readonly all?: boolean;
  /** Maps the cells of letters again, with the mapping as it is now. */
  readonly remap?: boolean;
  /** Why, in the person's words. */
  readonly reason?: string;
  /** Requests per second for these retries alone, below what the key allows. */
  readonly rate?: number;
}

/** @throws PatchbayError `usage` `nothingChosen`. */
export function requireRetryChoice({ ids, code, run, feed, all }: RetryRequest): void {
  if (ids.length > 0 || code !== undefined || run !== undefined || feed !== undefined || all === true) return;
  throw new PatchbayError('usage', 'nothingChosen', 'no dead letters were chosen', {
    hint: 'Name ids, or use --code CODE, --run RUN, --feed FEED or --all. List them first: patchbay dead ls',
  });
}

/** @throws PatchbayError `usage` `rateTooHigh` where the key allows no more than that anyway. */
export function requireRateBelowKey(home: Pick<Home, 'config' | 'mode'>, rate: number | undefined): void {
  const { requestsPerSecond } = serviceFigures(home.config, home.mode);
  if (rate === undefined || requestsPerSecond === null || rate < requestsPerSecond) return;
  const message = `${rate} requests per second are not below what the key allows: ${requestsPerSecond}`;
  throw new PatchbayError('usage', 'rateTooHigh', message, {
    hint: 'Give a lower rate, or leave --rate out. What the key allows is service.requestsPerSecond (PATCHBAY_RATE).',
  });
}

/** How many letters an act names. */
const idsOfActMax = 20;

/** Whether any open letter of a rejected row fits the request. @throws PatchbayError `usage` `noSuchRun`. */
export async function hasOpenLetters(home: Pick<Home, 'ledger'>, request: RetryRequest): Promise<boolean> {
  return (await openByFeed(home.ledger, redriveChoice(await withWholeRunId(home, request)))).length > 0;
}

/** Letters that are searched for runs which try them again. */
const lettersSearchedMax = 1_000;

/** The runs that try letters of the choice again already and have not ended, as after an interruption. */
async function retriesUnderWay(home: Pick<Home, 'ledger'>, request: RetryRequest): Promise<readonly RunRecord[]> {
  const { ids, code, run, feed } = request;
  const letters = await (ids.length > 0
    ? Promise.all(lettersNamed(request).map((id) => home.ledger.deadLetters.get(id)))
    : lettersAfter(home, { ...request, state: 'redriven', limit: lettersSearchedMax }, null));
  const fits = (letter: DeadLetter): boolean =>
    letter.state === 'redriven' &&
    (code ?? letter.code) === letter.code &&
    (run ?? letter.runId) === letter.runId &&
    (feed ?? letter.feed) === letter.feed;
  const runIds = letters.flatMap((letter) => (letter !== null && fits(letter) ? (letter.redriveRunId ?? []) : []));
  const runs = await Promise.all([...new Set(runIds)].map((id) => home.ledger.runs.get(id)));
  return runs.flatMap((one) => (one === null || isFinal(one.state) ? [] : [one]));
}

/**
 * Enters runs that try the chosen letters again, and goes on with those that do so already.
 * @param onUnderWay called for each of the latter.
 * @returns both.
 * @throws PatchbayError `usage` `noDeadLetters` where no open letter fits; `letterNotOpen` | `noSuchDeadLetter` where all that are named
 *   are not open; `noSuchRun`.
 */
export async function retryLetters(
  { submit, actor }: Pick<Home, 'submit' | 'actor'>,
  asked: RetryRequest,
  onUnderWay: (run: RunRecord) => void = () => undefined,
): Promise<readonly RunRecord[]> {
  const request = await withWholeRunId(submit, asked);
  const underWay = await retriesUnderWay(submit, request);
  underWay.forEach(onUnderWay);
  if (underWay.length > 0 && !(await hasOpenLetters(submit, request))) return underWay;
  if (underWay.length === 0) await requireAnyOpen(submit, lettersNamed(request));
  const { ids, code, run, feed, all = false, remap = false, reason = null, rate = null } = request;
  const facts = {
    ...(ids.length === 0 ? {} : { ids: ids.slice(0, idsOfActMax) }),
    code: code ?? null,
    run: run ?? null,
    ...(feed === undefined ? {} : { feed }),
  };
  const act = await actOf({ ...submit, actor }, 'deadRetry', reason, { ...facts, all, remap, rate });
  return [...underWay, ...(await redrive(submit, redriveChoice(request), act))];
}

/** Those ids that are not of notices. */
export function lettersNamed({ ids }: Pick<RetryRequest, 'ids'>): readonly string[] {
  return ids.filter((id) => !isNoticeId(id));
}

function redriveChoice({ ids, code, run, feed, remap, rate }: RetryRequest): RedriveChoice {
  return {
    ...(ids.length > 0 ? { ids: lettersNamed({ ids }) } : {}),
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { runId: run }),
    ...(feed === undefined ? {} : { feed }),
    remap: remap === true,
    ...(rate === undefined ? {} : { rate }),
  };
}

/** A letter in the shape of `dead ls --json` (`docs/contract.md`). */
export interface LetterDocument {
  readonly id: string;
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  readonly line: number;
  /** Only where several records share the line, as in JSON without line breaks. */
  readonly record?: number;
  readonly key: string | null;
  readonly class: string;
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  /** Retries. */
  readonly attempts: number;
  /** Runs in which the row was rejected. */
  readonly seen: number;
  readonly state: DeadLetterState;
  readonly firstAt: string;
  readonly lastAt: string;
}

export function letterDocument(letter: DeadLetter): LetterDocument {
  const { id, feed, file, line, key, class: reasonClass, code, field, message, attempts, state } = letter;
  return {
    id,
    run: letter.runId,
    feed,
    file,
    line,
    ...recordOf(letter.row),
    key,
    class: reasonClass,
    code,
    field,
    message,
    attempts,
    seen: letter.seenCount,
    state,
    firstAt: isoInstant(letter.firstAtMs),
    lastAt: isoInstant(letter.lastAtMs),
  };
}

/** For `--no-values`: without the key and the service's words, which may repeat what it was sent. */
export function letterWithoutValues(letter: DeadLetter): LetterDocument {
  const document = letterDocument(letter);
  const { answer, code } = letter;
  return {
    ...document,
    key: null,
    message: answer === null ? document.message : `the service's answer led to ${code}`,
  };
}

/** The service's answer, without its words. */
function answerWithoutValues({ answer }: DeadLetter): ServiceAnswer | null {
  return answer === null ? null : { ...answer, title: null, message: null };
}

/** `dead show --json`: the letter with its hint, the answer of the service, its cells and what they were mapped to. */
export function letterDetailDocument(letter: DeadLetter, values: boolean) {
  return {
    ...(values ? letterDocument(letter) : letterWithoutValues(letter)),
    hint: values ? letter.hint : withoutQuotedCells(letter.hint),
    problems: letter.problems.map((problem) => problemDocument(letter, problem, values)),
    answer: values ? letter.answer : answerWithoutValues(letter),
    cells: values ? cellsOf(letter) : {},
    mapped: values ? letter.desired : null,
  };
}

/** The service's words may repeat what it was sent. */
function problemDocument(
  { answer }: DeadLetter,
  { field, code, value, message, hint }: DeadLetter['problems'][number],
  values: boolean,
) {
  if (values) return { field, code, value, message, hint };
  const told = answer === null ? message : `the service's answer led to ${code}`;
  return { field, code, value: null, message: told, hint: withoutQuotedCells(hint) };
}

/** By column; a cell without a column is called `cell 7`. */
function cellsOf({ row }: DeadLetter): Readonly<Record<string, string>> {
  if (row === null) return {};
  const entries: [string, string][] =
    row.kind === 'cells'
      ? row.cells.map((cell, index) => [row.columns[index] ?? `cell ${index + 1}`, cell])
      : Object.entries(row.object).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]);
  return Object.fromEntries(entries);
}
