/**
 * Dead letters: list and count them, look at one, try them again.
 *
 * Two kinds share the list. A *letter* is what is kept of a rejected row; its id begins with `d`. A *notice* (`dead-notices.ts`) is a
 * delivery that its addressee did not take; its id begins with `n`.
 */

import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { openByFeed, type RedriveChoice, redrive } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetter, DeadLetterFilter, DeadLetterState, LettersOfReason } from '#src/ledger/letters.ts';
import { letterPages } from '#src/ledger/paged-lists.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import type { SubmittedRun } from '#src/runs/enter-run.ts';
import { fixFileThere } from '#src/runs/fix/fix-file.ts';
import { isOfHost } from '#src/runs/stop-run.ts';
import { actOf } from './acts.ts';
import { findNotice, isNoticeId, noticePages } from './dead-notices.ts';
import {
  chosenLetters,
  fitting,
  idsInAct,
  type LetterSelection,
  lettersNamed,
  noSuchDeadLetter,
  requireAnyOpen,
} from './letter-selection.ts';
import { findRun, withWholeRunId } from './runs.ts';

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

export interface DeadLetterPage<Shown = DeadLetter> {
  readonly letters: readonly Shown[];
  /** They follow the last letter. */
  readonly notices: readonly DeliveryRecord[];
}

/**
 * One list, page by page, so that a long one is never in memory as a whole: the letters, newest first, then the notices, newest first.
 * Ends with the list, or with its limit, which counts both.
 * @param lettersPerPage as of `letterPages`.
 * @throws PatchbayError `usage` `noSuchDeadLetter` where `after` names neither; `noSuchRun`.
 */
export async function* deadLetterPages(
  home: Pick<Home, 'ledger'>,
  asked: DeadLetterQuery,
  lettersPerPage?: number,
): AsyncGenerator<DeadLetterPage> {
  const query = await withWholeRunId(home, asked);
  const after = await placeAfter(home, query.after);
  let left = query.limit;
  if (typeof after !== 'string') {
    const from = after === null ? {} : { after };
    const filter = { ...fitting(query), ...statesAsked(query.state), ...from, limit: query.limit };
    for await (const letters of letterPages(home.ledger.deadLetters, filter, lettersPerPage)) {
      yield { letters, notices: [] };
      left -= letters.length;
    }
  }
  const notices = noticePages(home, { ...query, limit: left }, typeof after === 'string' ? after : null);
  for await (const page of notices) yield { letters: [], notices: page };
}

/** A row may be a megabyte long: at most this number of letters is in memory whole. */
const wholeLettersMax = 10;

/**
 * The same as one page: for a short limit. A row may be long, so that no more is held of a letter than what is shown of it.
 * @param shown takes that from a letter, and keeps no part of its row.
 * @throws PatchbayError `usage` `noSuchDeadLetter` where `after` names neither; `noSuchRun`.
 */
export async function listDeadLetters<Shown>(
  home: Pick<Home, 'ledger'>,
  asked: DeadLetterQuery,
  shown: (letter: DeadLetter) => Shown,
): Promise<DeadLetterPage<Shown>> {
  const [letters, notices]: [Shown[], DeliveryRecord[]] = [[], []];
  for await (const page of deadLetterPages(home, asked, wholeLettersMax)) {
    letters.push(...page.letters.map(shown));
    notices.push(...page.notices);
  }
  return { letters, notices };
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

function statesAsked(state: DeadLetterQuery['state']): Pick<DeadLetterFilter, 'states'> {
  return state === 'all' ? {} : { states: state === 'open' ? ['open', 'redriven'] : [state] };
}

/** How many dead letters fit, by reason and by state: of lists that show the newest of them alone. */
export interface LetterCounts {
  /** By code and field, the largest first; each with one of its classes. */
  readonly groups: readonly LettersOfReason[];
  /** States without any are left out. */
  readonly states: ReadonlyMap<DeadLetterState, number>;
}

const statesOf: Readonly<Record<DeadLetterQuery['state'], readonly DeadLetterState[]>> = {
  open: ['open', 'redriven'],
  redriven: ['redriven'],
  closed: ['closed'],
  dropped: ['dropped'],
  all: ['open', 'redriven', 'closed', 'dropped'],
};

/** Those that the whole list has, whatever its limit. @throws PatchbayError `usage` `noSuchRun`. */
export async function countLetters(
  home: Pick<Home, 'ledger'>,
  asked: Pick<DeadLetterQuery, 'code' | 'run' | 'feed' | 'state'>,
): Promise<LetterCounts> {
  const { state, ...which } = await withWholeRunId(home, asked);
  const states = new Map<DeadLetterState, number>();
  const groups = new Map<string, LettersOfReason>();
  for (const one of statesOf[state]) {
    for (const reason of await home.ledger.deadLetters.counts({ ...fitting(which), states: [one] })) {
      const name = JSON.stringify([reason.code, reason.field]);
      groups.set(name, { ...reason, count: reason.count + (groups.get(name)?.count ?? 0) });
      states.set(one, reason.count + (states.get(one) ?? 0));
    }
  }
  return { groups: [...groups.values()].toSorted((a, b) => b.count - a.count), states };
}

/** Said of a run that has none of its letters, where they were looked for. */
export function lettersLeftWords({ counts: { dead } }: Pick<RunRecord, 'counts'>): string {
  const rows = dead === 1 ? '1 row' : `${dead.toLocaleString('en')} rows`;
  return `this run rejected ${rows}, and none is listed under it any more: each went in or was dropped since, or a newer run has rejected it again and has its dead letter now`;
}

/**
 * The run that a list was asked for and that has none of the letters, although it rejected rows: they are with the run that met them last.
 * Null where the question was another one.
 */
export async function runWithoutItsLetters(
  home: Pick<Home, 'ledger'>,
  { run: runId, feed, code, after, state }: Pick<DeadLetterQuery, 'run' | 'feed' | 'code' | 'after' | 'state'>,
): Promise<RunRecord | null> {
  if (runId === undefined || code !== undefined || after !== undefined) return null;
  if (state !== 'open' && state !== 'all') return null;
  const run = await findRun(home, runId);
  return run.counts.dead > 0 && (feed === undefined || feed === run.feed) ? run : null;
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

/** Which dead letters to try again, and how. */
export interface RetryRequest extends LetterSelection {
  /** Maps the cells of letters again, with the mapping as it is now. */
  readonly remap?: boolean;
  /** Why, in the person's words. */
  readonly reason?: string;
  /** Requests per second for these retries alone, below what the key allows. */
  readonly rate?: number;
}

/** @throws PatchbayError `usage` `rateTooHigh` where the key allows no more than that anyway. */
export function requireRateBelowKey(home: Pick<Home, 'config' | 'mode'>, rate: number | undefined): void {
  const { requestsPerSecond } = serviceFigures(home.config, home.mode);
  if (rate === undefined || requestsPerSecond === null || rate < requestsPerSecond) return;
  const message = `${counted(rate, 'request')} per second ${rate === 1 ? 'is' : 'are'} not below what the key allows: ${requestsPerSecond}`;
  throw new PatchbayError('usage', 'rateTooHigh', message, {
    hint: 'Give a lower rate, or leave --rate out. What the key allows is service.requestsPerSecond (PATCHBAY_RATE).',
  });
}

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
    : home.ledger.deadLetters.list({ ...fitting(request), states: ['redriven'], limit: lettersSearchedMax }));
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
 * @param onEntered called for each, one by one; `resumed` are the latter.
 * @returns both.
 * @throws PatchbayError `usage` `noDeadLetters` where no open letter fits; `letterNotOpen` | `noSuchDeadLetter` where all that are named
 *   are not open; `noSuchRun`.
 */
export async function retryLetters(
  { submit, actor }: Pick<Home, 'submit' | 'actor'>,
  asked: RetryRequest,
  onEntered: (entered: Pick<SubmittedRun, 'run' | 'resumed'>) => void = () => undefined,
): Promise<readonly RunRecord[]> {
  const request = await withWholeRunId(submit, asked);
  const underWay = await retriesUnderWay(submit, request);
  for (const run of underWay) onEntered({ run, resumed: true });
  if (underWay.length > 0 && !(await hasOpenLetters(submit, request))) return underWay;
  if (underWay.length === 0) await requireAnyOpen(submit, lettersNamed(request));
  const { ids, code, run, feed, all = false, remap = false, reason = null, rate = null } = request;
  const facts = {
    ...idsInAct(ids),
    code: code ?? null,
    run: run ?? null,
    ...(feed === undefined ? {} : { feed }),
  };
  const act = await actOf({ ...submit, actor }, 'deadRetry', reason, { ...facts, all, remap, rate });
  const entered = await redrive(submit, redriveChoice(request), act, (run) => onEntered({ run, resumed: false }));
  return [...underWay, ...entered];
}

function redriveChoice({ remap = false, rate, ...selection }: RetryRequest): RedriveChoice {
  return { ...chosenLetters(selection), remap, ...(rate === undefined ? {} : { rate }) };
}
