/**
 * Rules on dead letters (`docs/rules.md`, "Dead letters"): which letter a rejected row belongs to, what that row changes in it, and
 * which letters are closed by what. Pure: the caller holds the transaction and the rows.
 *
 * There is one letter per feed, identity and code. The identity of a row is its key, or its content where it has none; that of a part of a
 * contact is its key and the part, so that no letter of a row stands for it, and none of it for the row.
 */
import { createHash } from 'node:crypto';
import { saidValue } from '#src/contacts/base.ts';
import { type ContactPart, type DesiredContact, type FieldName, partOf } from '#src/contacts/desired.ts';
import {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterState,
  problemsPerLetterMax,
} from '#src/ledger/letters.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import type { LetterFacts, ListPlace, RedriveRecord } from '#src/ledger/tables/letters.ts';

/** Letters in these states are not settled: a success of their key closes them. */
export const unsettledStates = ['open', 'redriven'] as const satisfies readonly DeadLetterState[];

/** Only letters in these states are ever forgotten. */
export const settledStates = ['closed', 'dropped'] as const satisfies readonly DeadLetterState[];

/** Newest first, then by line. */
export function inListOrder(one: ListPlace, other: ListPlace): number {
  return other.lastAtMs - one.lastAtMs || one.line - other.line || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Where a row was rejected. */
export interface DeathPlace {
  readonly runId: string;
  readonly feed: string;
  readonly file: string;
  /** The rows of a redrive keep the file and the sequence that their letters name. */
  readonly isRedrive: boolean;
  /** Of the run at hand. */
  readonly runSequence: number;
  /** Of the run whose file said the row. */
  readonly sequence: number;
  readonly atMs: number;
  /** When the reading of the run's file began, or what else meets each letter at most once. */
  readonly readSinceMs: number;
}

/** The run whose rows are rejected. */
export type DyingRun = Pick<RunRecord, 'id' | 'feed' | 'fileName' | 'kind' | 'sequence'>;

/** @param moment `readSinceMs` is absent where each letter is met at most once. */
export function deathPlace(
  { id, feed, fileName, kind, sequence }: DyingRun,
  { atMs, readSinceMs = atMs }: { readonly atMs: number; readonly readSinceMs?: number },
): DeathPlace {
  const isRedrive = kind === 'redrive';
  return { runId: id, feed, file: fileName, isRedrive, runSequence: sequence, sequence, atMs, readSinceMs };
}

/** What the ledger holds about a letter that a rejected row may belong to. */
export type KnownLetter = Pick<
  LetterFacts,
  | 'id'
  | 'feed'
  | 'identity'
  | 'code'
  | 'key'
  | 'file'
  | 'sequence'
  | 'state'
  | 'runId'
  | 'firstRunId'
  | 'redriveRunId'
  | 'lastAtMs'
>;

/** What a rejected row changes. */
export interface Death {
  /**
   * `enter`: the letter is entered, or opened again with this content. `keeps`: the row belongs to a letter that keeps its content and is
   * open, since it is another feed's, or a newer row's.
   */
  readonly letter:
    | { readonly kind: 'enter'; readonly content: LetterContent; readonly seenAgain: boolean }
    | { readonly kind: 'keeps'; readonly id: string; readonly opensAgain: boolean };
  /** A letter that the row was to fix and that is resolved, since the row was rejected for another reason. */
  readonly closes: string | null;
  /** Whether letters of the key, and of the same part of it, that this run tries again and that have another code are closed. */
  readonly closesOthersOfKey: boolean;
  /** Whether the letter is new with this run, and no row before had it. */
  readonly isNew: boolean;
}

export interface LetterContent
  extends Pick<
      DeadLetter,
      'feed' | 'code' | 'key' | 'class' | 'runId' | 'file' | 'line' | 'field' | 'message' | 'hint' | 'problems'
    >,
    Pick<DeadLetter, 'row' | 'desired' | 'answer' | 'sequence'> {
  readonly identity: string;
  /** A letter that dies again in the redrive that took it still belongs to that. */
  readonly redriveRunId: string | null;
  readonly atMs: number;
}

/**
 * A row that got another key is that key's: under its old letter a later row of the old key would take its place.
 * @param fixed the letter that the row was to fix; null where there is none.
 */
export function letterIdentity(dead: DeadRow, fixed: KnownLetter | null): string {
  if (fixed !== null && fixed.code === dead.code && fixed.key === dead.key) return fixed.identity;
  if (dead.key === null) return `row ${contentHash(dead)}`;
  const part = dead.desired === null ? null : partOf(dead.desired);
  return part === null ? dead.key : `${part}\n${dead.key}`;
}

/** What the letter is about: null for a row. No key has a line break. */
export function partIn(identity: string): ContactPart | null {
  const end = identity.lastIndexOf('\n');
  return end < 0 ? null : identity.slice(0, end);
}

/** What was done for a key: letters of it that are newer wait for their own rows. */
export interface Success {
  readonly key: string;
  /** Of the run whose file said it. */
  readonly sequence: number;
  readonly part?: ContactPart;
  /** What the row says of fields: absent where it is not at hand. */
  readonly says?: Pick<DesiredContact, 'scalars' | 'customFields'>;
}

/**
 * Whether nothing is left to be done for the letter after a success of its key: a row that says the held fields of a letter gives their
 * values, too.
 * @param heldFields of a letter of held fields: which.
 */
export function isAnsweredBy(
  { sequence, part, says }: Omit<Success, 'key'>,
  letter: Pick<LetterFacts, 'sequence' | 'identity' | 'state'>,
  heldFields: readonly FieldName[] = [],
): boolean {
  if (!isUnsettled(letter.state) || letter.sequence > sequence) return false;
  if ((part ?? null) === partIn(letter.identity)) return true;
  if (part !== undefined || !isOfHeld(letter) || says === undefined) return false;
  return heldFields.length > 0 && heldFields.every((field) => saidValue(says, field) !== undefined);
}

/**
 * Whether a newer row waits under the letter: what becomes of an older one, which a slow run was at work on meanwhile, neither closes nor
 * changes it. @param row the run at hand, and the sequence of the run whose file said the row.
 */
export function isMetSince(
  { state, redriveRunId, sequence }: Pick<LetterFacts, 'state' | 'redriveRunId' | 'sequence'>,
  row: { readonly runId: string; readonly sequence: number },
): boolean {
  return isUnsettled(state) && redriveRunId !== row.runId && sequence > row.sequence;
}

/** Whether it is about a decision about held fields. */
export function isOfHeld({ identity }: Pick<LetterFacts, 'identity'>): boolean {
  return partIn(identity)?.startsWith('held ') === true;
}

/**
 * @param fixed the letter that the row was to fix. Where that is another feed's, the row is still that feed's: a letter of its own, and
 *   the id of that in a fix-file, would make it a row of the feed at hand.
 * @param known the feed's letter of that code and of the identity that `letterIdentity` gave.
 */
export function rejectRow(
  place: DeathPlace,
  dead: DeadRow,
  fixed: KnownLetter | null,
  known: KnownLetter | null,
): Death {
  if (fixed !== null && fixed.feed !== place.feed) {
    const letter = { kind: 'keeps', id: fixed.id, opensAgain: !isUnsettled(fixed.state) } as const;
    return { letter, closes: null, closesOthersOfKey: false, isNew: false };
  }
  const own = fixed !== null && isMetSince(fixed, place) ? null : fixed;
  const identity = letterIdentity(dead, fixed);
  const isElsewhere = own !== null && (own.code !== dead.code || own.identity !== identity);
  // Another row of it is rejected still.
  const closes = isElsewhere && own.runId !== place.runId ? own.id : null;
  if (known !== null && isMetSince(known, place)) {
    const letter = { kind: 'keeps', id: known.id, opensAgain: false } as const;
    return { letter, closes, closesOthersOfKey: dead.key !== null, isNew: false };
  }
  // A row that is tried again is still the row of its file, and found there. In a fix-file it is found in that, and is no younger either.
  const origin = place.isRedrive ? own : null;
  const isOwn = known !== null && known.runId === place.runId;
  const sequence = own?.sequence ?? place.sequence;
  const [first] = dead.problems;
  const content: LetterContent = {
    identity,
    feed: place.feed,
    code: dead.code,
    key: dead.key,
    class: dead.class,
    runId: place.runId,
    file: origin?.file ?? place.file,
    line: dead.line,
    field: first?.field || null,
    message: first?.message ?? dead.code,
    hint: first?.hint ?? '',
    problems: dead.problems.slice(0, problemsPerLetterMax),
    row: dead.row,
    desired: dead.desired,
    answer: dead.answer,
    // Rows of a run that share a letter are as old as the oldest of them.
    sequence: isOwn ? Math.min(sequence, known.sequence) : sequence,
    redriveRunId: known?.redriveRunId === place.runId ? place.runId : null,
    atMs: place.atMs,
  };
  // A run that is read again after a crash meets its own letter again: that does not count.
  const seenAgain = known !== null && known.runId !== place.runId;
  // A later instant is one of the reading that was cut off: the wall clock was set back meanwhile.
  const isMetBefore = isOwn && known.lastAtMs >= place.readSinceMs && known.lastAtMs <= place.atMs;
  const isNew = known === null || (known.firstRunId === place.runId && !isMetBefore);
  return { letter: { kind: 'enter', content, seenAgain }, closes, closesOthersOfKey: dead.key !== null, isNew };
}

/** Whether a letter belongs into the list; its order and length apart. */
export function fitsFilter(
  { states, code, runId, feed, after }: Omit<DeadLetterFilter, 'ids' | 'limit'>,
  letter: LetterFacts,
): boolean {
  return (
    (states === undefined || states.includes(letter.state)) &&
    (code === undefined || code === letter.code) &&
    (runId === undefined || runId === letter.runId) &&
    (feed === undefined || feed === letter.feed) &&
    (after === undefined || inListOrder(after, letter) < 0)
  );
}

/** Which letters a redrive takes: open ones of its feed that fit its choice. */
export function takenBy({ feed, ids, code, metBy }: RedriveRecord): (letter: LetterFacts) => boolean {
  const [ofIds, ofRuns] = [ids === null ? null : new Set(ids), new Set(metBy)];
  return (letter) =>
    letter.state === 'open' &&
    letter.feed === feed &&
    (ofIds === null || ofIds.has(letter.id)) &&
    (code === null || code === letter.code) &&
    ofRuns.has(letter.runId);
}

/** The name of a redrive, in place of a file's. `firstId`: of the letter that was met first. */
export function redriveName(letterCount: number, firstId: string): string {
  return letterCount === 1 ? `dead letter ${firstId}` : `${letterCount} dead letters`;
}

/** Names a row without a key by its content. */
function contentHash({ row, line }: DeadRow): string {
  const content = row === null ? { line } : row.kind === 'cells' ? row.cells : row.object;
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24);
}

/** Whether something is left to be done for a letter in that state. */
export function isUnsettled(state: DeadLetterState): boolean {
  return state === 'open' || state === 'redriven';
}
