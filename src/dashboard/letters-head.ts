/** The words above the list of dead letters: which they are, how many of how many, and what becomes of them. Pure. */
import { html } from 'hono/html';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type DeadLetterQuery, lettersLeftWords } from '#src/operations/dead-letters.ts';
import { count, counted, type Frame, type Markup } from './frame.ts';
import { addressOf } from './refresh.ts';

export interface ListedLetters {
  readonly query: DeadLetterQuery;
  /** How many letters are on this page. */
  readonly shownCount: number;
  /** How many of all letters are open, or being tried again. */
  readonly openCount: number;
  /** The run of an empty list that has rejected rows. */
  readonly leftBy: RunRecord | null;
}

export function lettersHead(frame: Frame, listed: ListedLetters): Markup {
  const { query, shownCount, openCount } = listed;
  if (shownCount === 0) return emptyHead(frame, listed);
  if (isNarrowed(query))
    return html`<p class="dim">${narrowedWords(listed)}. ${stateWords[query.state]}</p>${allOpen(frame, openCount)}`;
  const isCut = openCount > shownCount;
  return html`<p class="dim">${counted(openCount, 'open dead letter', 'open dead letters')}, one for each key and reason${
    isCut ? `; the newest ${shownCount === 1 ? 'one is' : `${count(shownCount)} are`} here` : ''
  }. ${stateWords.open}</p>`;
}

function emptyHead(frame: Frame, { query, openCount, leftBy }: ListedLetters): Markup {
  if (leftBy !== null) {
    const { feed } = leftBy;
    const words = lettersLeftWords(leftBy);
    return html`<p class="empty">T${words.slice(1)}. <a href="${addressOf(frame, '/dead-letters', { feed })}">What is open of the feed <bdi>${feed}</bdi></a></p>${allOpen(frame, openCount)}`;
  }
  return isNarrowed(query)
    ? html`<p class="empty">No such dead letters.</p>${allOpen(frame, openCount)}`
    : html`<p class="empty">No dead letters. A rejected row is listed here with its reason and what to do.</p>`;
}

/** Whether the address asks for less, or for others, than all open letters from the newest one on. */
export function isNarrowed({ code, run, feed, state, after }: DeadLetterQuery): boolean {
  return code !== undefined || run !== undefined || feed !== undefined || after !== undefined || state !== 'open';
}

/** `The newest 200 dropped dead letters of the feed crm`, `3 open dead letters with the code cellCount`. */
function narrowedWords({ query, shownCount }: ListedLetters): Markup {
  const { code, run, feed, state, after, limit } = query;
  const which = state === 'all' ? '' : `${adjectives[state]} `;
  const letters = `${which}dead ${shownCount === 1 ? 'letter' : 'letters'}`;
  const part = after === undefined ? 'The newest' : 'The next';
  const number = shownCount < limit ? count(shownCount) : `${part}${shownCount === 1 ? '' : ` ${count(shownCount)}`}`;
  return html`${number} ${letters}${code === undefined ? '' : html` with the code <code>${code}</code>`}${
    run === undefined ? '' : html` of the run <code>${run}</code>`
  }${feed === undefined ? '' : html` of the feed <bdi>${feed}</bdi>`}${
    after === undefined ? '' : html`, after <code>${after}</code>`
  }`;
}

function allOpen(frame: Frame, openCount: number): Markup {
  return openCount === 0
    ? html``
    : html`<p class="dim">${counted(openCount, 'open dead letter', 'open dead letters')}: <a href="${addressOf(frame, '/dead-letters')}">all that are open</a></p>`;
}

type ListedState = DeadLetterQuery['state'];

const adjectives: Readonly<Record<Exclude<ListedState, 'all'>, string>> = {
  open: 'open',
  redriven: 'retried',
  closed: 'closed',
  dropped: 'dropped',
};

/** What becomes of such letters, and what a person can do. */
const stateWords: Readonly<Record<ListedState, string>> = {
  open: "Fix the row in a run's fix-file and drop that file in again: a success closes the letter.",
  redriven: 'A run is trying their rows again now: a success closes the letter, anything else opens it again.',
  closed: 'Their rows have gone in since, or a later file no longer holds them. Nothing is left to be done.',
  dropped:
    'A person has dropped them: nothing is done for these rows any more. A file that brings such a row again opens its letter again.',
  all: "Of those that are open, fix the row in a run's fix-file and drop that file in again: a success closes the letter.",
};
