/**
 * Notices that were given up, as a part of the dead letters: a *notice* that its addressee did not take is a delivery; its id begins with
 * `n`, and it holds ids, codes and counts, no values. It belongs to no run.
 */

import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetterState } from '#src/ledger/letters.ts';
import { addressOf } from '#src/notices/addressees.ts';
import { actOf } from './acts.ts';

/** Which notices: all that fit. */
export interface NoticeFilter {
  readonly code?: string;
  /** Notices belong to no run: where one is asked for, none fits. */
  readonly run?: string;
  readonly feed?: string;
}

/** Which notices a person chose: these ids, as far as they are of notices, or all; in both cases those that fit. */
export interface NoticeChoice extends NoticeFilter {
  readonly ids: readonly string[];
}

export function isNoticeId(id: string): boolean {
  return id.startsWith('n');
}

const noticesPerPage = 250;

/**
 * Page by page, the newest first, so that a long list is never in memory as a whole. Ends with the list, or with its limit.
 * @param state those that were given up are `open`.
 * @param after the id of the last one of the page before, whatever has become of it since; null: from the newest one on.
 */
export async function* noticePages(
  { ledger }: Pick<Home, 'ledger'>,
  { state, limit, ...filter }: NoticeFilter & { readonly state: DeadLetterState | 'all'; readonly limit: number },
  after: string | null,
): AsyncGenerator<readonly DeliveryRecord[]> {
  const states = deliveryStates[state];
  if (filter.run !== undefined || states.length === 0) return;
  let last = after;
  let left = limit;
  while (left > 0) {
    const from = last === null ? {} : { after: last };
    const page = await ledger.deliveries.list({ states, ...from, limit: noticesPerPage });
    const found = page.filter((notice) => fits(filter, notice)).slice(0, left);
    if (found.length > 0) yield found;
    if (page.length < noticesPerPage) return;
    left -= found.length;
    last = page.at(-1)?.id ?? null;
  }
}

/** How many notices there are, by their type, and the codes that they were given up with, those of the newest first. */
export interface NoticeCounts {
  readonly count: number;
  readonly types: ReadonlyMap<string, number>;
  readonly codes: readonly string[];
}

export function noticeCountsOf(notices: readonly DeliveryRecord[]): NoticeCounts {
  const types = new Map<string, number>();
  for (const { type } of notices) types.set(type, 1 + (types.get(type) ?? 0));
  return { count: notices.length, types, codes: [...new Set(notices.flatMap(({ code }) => code ?? []))] };
}

/** Those of the whole list, whatever its limit. @param query its run is a whole id. */
export async function countNotices(
  home: Pick<Home, 'ledger'>,
  { code, run, feed, state }: NoticeFilter & { readonly state: DeadLetterState | 'all' },
): Promise<NoticeCounts> {
  const filter = {
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { run }),
    ...(feed === undefined ? {} : { feed }),
  };
  const all: DeliveryRecord[] = [];
  for await (const page of noticePages(home, { ...filter, state, limit: Number.POSITIVE_INFINITY }, null))
    all.push(...page);
  return noticeCountsOf(all);
}

const noticesLookedAtMax = 200;

/** Notices that were given up: how many, and the codes of the newest of them. Cheap: pages load again every few seconds. */
export async function readDeadNotices({
  ledger,
}: Pick<Home, 'ledger'>): Promise<{ readonly count: number; readonly codes: readonly string[] }> {
  const count = (await ledger.counts()).deadDeliveries;
  const newest = count === 0 ? [] : await ledger.deliveries.list({ states: ['dead'], limit: noticesLookedAtMax });
  return { count, codes: noticeCountsOf(newest).codes };
}

const deliveryStates: Readonly<Record<DeadLetterState | 'all', readonly DeliveryRecord['state'][]>> = {
  open: ['dead'],
  dropped: ['dropped'],
  all: ['dead', 'dropped'],
  redriven: [],
  closed: [],
};

function fits({ code, run, feed }: NoticeFilter, notice: DeliveryRecord): boolean {
  if (run !== undefined || (code !== undefined && notice.code !== code)) return false;
  return feed === undefined || addressOf(notice.feed).feed === feed;
}

/** One that was given up or dropped, or that waits for its next try after one that failed. */
export async function findNotice({ ledger }: Pick<Home, 'ledger'>, id: string): Promise<DeliveryRecord | null> {
  const found = isNoticeId(id) ? await ledger.deliveries.get(id) : null;
  if (found === null || found.state === 'delivered') return null;
  return found.state === 'waiting' && found.attempts === 0 ? null : found;
}

/** Whether only notices are named: these need no service. */
export function isForNoticesOnly({ ids }: Pick<NoticeChoice, 'ids'>): boolean {
  return ids.length > 0 && ids.every(isNoticeId);
}

/**
 * Puts the chosen notices back into the line, with all their attempts. The engine sends them. One that is named and still waits for its
 * next try is due now, with those of its feed that it waits for.
 * @param choice its run is a whole id.
 * @returns their ids.
 * @throws PatchbayError `usage` `noDeadLetters` where only notices are named and nothing was to be done for any of them.
 */
export async function retryNotices(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  choice: NoticeChoice & { readonly reason?: string },
): Promise<readonly string[]> {
  const { ledger, clock } = home;
  const nowMs = clock.nowMs();
  const sent: string[] = [];
  for (const id of [...(await chosenNotices({ ledger }, choice)), ...(await waitingNotices({ ledger }, choice))]) {
    if (await ledger.deliveries.retry(id, nowMs, await actOf(home, 'deadRetry', choice.reason))) sent.push(id);
  }
  if (sent.length > 0 || !isForNoticesOnly(choice)) return sent;
  const dueNow = await waitingNotices({ ledger }, choice);
  const message =
    dueNow.length > 0
      ? `${dueNow.join(', ')}: due already, for the running engine or the next one`
      : `there is no dead letter ${choice.ids.join(', ')}`;
  throw new PatchbayError('usage', 'noDeadLetters', message, { hint: 'List what is open with: patchbay dead ls' });
}

/** The ids of those that are named and still wait. */
async function waitingNotices(
  { ledger }: Pick<Home, 'ledger'>,
  { ids, ...filter }: NoticeChoice,
): Promise<readonly string[]> {
  const waiting: string[] = [];
  for (const id of ids.filter(isNoticeId)) {
    const notice = await ledger.deliveries.get(id);
    if (notice?.state === 'waiting' && fits(filter, notice)) waiting.push(id);
  }
  return waiting;
}

/** The ids of those that were given up. */
export async function chosenNotices(
  home: Pick<Home, 'ledger'>,
  { ids, ...filter }: NoticeChoice,
): Promise<readonly string[]> {
  const chosen: string[] = [];
  if (ids.length === 0) {
    const every = { ...filter, state: 'open', limit: Number.POSITIVE_INFINITY } as const;
    for await (const page of noticePages(home, every, null)) chosen.push(...page.map(({ id }) => id));
    return chosen;
  }
  for (const id of ids) {
    const notice = await findNotice(home, id);
    if (notice?.state === 'dead' && fits(filter, notice)) chosen.push(id);
  }
  return chosen;
}

/** As of rejected rows; one that is still tried is as one that is being tried again. */
const letterStates = {
  waiting: 'redriven',
  dead: 'open',
  dropped: 'dropped',
  delivered: 'closed',
} as const satisfies Record<DeliveryRecord['state'], DeadLetterState>;

/** A notice in the shape of `dead ls --json`, with its type and to whom it should have gone; what a notice does not have is null. */
export function noticeDocument(notice: DeliveryRecord): Readonly<Record<string, string | number | null>> {
  const { id, type, code, message, attempts, state } = notice;
  const { feed, addressee } = addressOf(notice.feed);
  return {
    id,
    run: null,
    feed,
    file: null,
    line: null,
    key: null,
    class: code?.endsWith('Gone') ? 'refused' : 'exhausted',
    code,
    field: null,
    message,
    attempts,
    seen: 1,
    state: letterStates[state],
    firstAt: isoInstant(notice.atMs),
    lastAt: isoInstant(notice.endedAtMs ?? notice.atMs),
    type,
    to: addressee,
  };
}

/** `dead show --json`: the notice with its data. */
export function noticeDetailDocument(notice: DeliveryRecord) {
  return { ...noticeDocument(notice), data: notice.data };
}

/** `webhook`, `slack`, `teams` or `mail`. */
export function addresseeOf({ feed }: DeliveryRecord): string {
  return addressOf(feed).addressee;
}
