/**
 * A slice of a file on its way into the ledger: which of its rows stand, and what is written of it. Pure.
 *
 * A key that appears twice: where both rows are the same after mapping, the second is skipped; where they differ, all of
 * them are rejected, those of earlier slices too (`docs/rules.md`, "Workspace, feed, key"), unless the mapping says which one
 * wins. A row that is rejected on its own account counts as different from every other, and does not keep a later
 * row from winning. A part of a contact (`partOf` in `contacts/desired.ts`) is no such row: it gives way to one that is staged, and waits
 * for another run.
 */
import { areCalledOtherwise, hasKeyOfValue } from '#src/contacts/called.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { duplicateKeyProblem, type Problem } from '#src/contacts/outcome.ts';
import { skipSentences } from '#src/ledger/rules/events.ts';
import type { DeadRow, RunEvent, StagedSlice } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { type Row, recordOf } from '#src/sources/row.ts';
import type { Verdict } from './compare.ts';
import type { StagedTally } from './guards.ts';

type DuplicatePolicy = CompiledMapping['duplicateKeys'];

/** What happened to a key in the run at hand, when the same key comes again. */
export interface KeyTrace {
  readonly key: string;
  readonly line: number;
  readonly fingerprint: string;
  /** `unchanged` rows are counted and not stored; `dead` ones have a dead letter already. */
  readonly kind: 'unchanged' | 'staged' | 'dead';
  /** Of a row that an earlier slice has staged: where it is. */
  readonly position?: number;
  /** It is about a part of the contact. */
  readonly isPart?: true;
  /** What the row says, or its JSON, where that is at hand. */
  readonly desired?: DesiredContact | string;
}

/** What becomes of a row that has met another one with its key. */
interface Ended {
  /** `skipped` as a duplicate; `dead` since it differs. */
  readonly kind: 'skipped' | 'dead';
  /** Whether the other row came before it or after it. */
  readonly by: 'earlier' | 'later';
  readonly otherLine: number;
  /** By its name the other one is about another person. */
  readonly isOther?: true;
  /** About a part of the contact, which it is not done for: a run has each contact once. */
  readonly isPart?: true;
}

/** What becomes of a row: it stands as its verdict says, or ends. */
export type Fate = { readonly kind: 'stands' } | Ended;

export interface Resolution {
  /** One for each verdict, in their order. A rejected row stands as rejected. */
  readonly fates: readonly Fate[];
  /** Rows of earlier slices that stand no more, by key. */
  readonly earlierEnded: ReadonlyMap<string, Ended>;
  /** Keys of this slice that have a trace now which they did not have before it. */
  readonly traces: readonly KeyTrace[];
}

/** @param traces what earlier slices of the run have met of the keys at hand. */
export function resolveDuplicates(
  verdicts: readonly Verdict[],
  traces: ReadonlyMap<string, KeyTrace>,
  policy: DuplicatePolicy,
): Resolution {
  const fates: Fate[] = [];
  const earlierEnded = new Map<string, Ended>();
  const here = new Map<string, { readonly trace: KeyTrace; readonly index: number }>();
  for (const [index, verdict] of verdicts.entries()) {
    const { key } = verdict;
    if (!isJudged(verdict) || key === null) {
      fates.push({ kind: 'stands' });
      continue;
    }
    const before = here.get(key);
    const { fate, ended, trace } = meet(verdict, key, before?.trace ?? traces.get(key) ?? null, policy);
    fates.push(fate);
    if (ended !== null && before === undefined) earlierEnded.set(key, ended);
    else if (ended !== null && before !== undefined) fates[before.index] = ended;
    if (trace !== null) here.set(key, { trace, index });
  }
  return { fates, earlierEnded, traces: [...here.values()].map(({ trace }) => trace) };
}

interface Meeting {
  readonly fate: Fate;
  /** How the row before ends; null where it goes on as it was. */
  readonly ended: Ended | null;
  /** Null where the row leaves none: the one before still stands for the key. */
  readonly trace: KeyTrace | null;
}

type Judged = Exclude<Verdict, { readonly kind: 'left' | 'ignored' | 'superseded' }>;

/** Whether it stands for its key, or is rejected. */
function isJudged(verdict: Verdict): verdict is Judged {
  return verdict.kind !== 'left' && verdict.kind !== 'ignored' && verdict.kind !== 'superseded';
}

/** @param before the row that stands for the key so far, or the last of those that died; null where there is none. */
function meet(verdict: Judged, key: string, before: KeyTrace | null, policy: DuplicatePolicy): Meeting {
  const { line } = verdict;
  const stands: Fate = { kind: 'stands' };
  const isPart = verdict.kind === 'changed' && verdict.part !== undefined;
  if (isPart || before?.isPart === true) return meetPart(verdict, key, before, isPart);
  const desired = verdict.kind === 'changed' ? { desired: verdict.record.desired } : {};
  const ofOther = before !== null && areOthers(before, desired) ? ({ isOther: true } as const) : {};
  const dies = { kind: 'dead', by: 'later', otherLine: line, ...ofOther } as const;
  if (verdict.kind === 'rejected') {
    const trace = { key, line, fingerprint: '', kind: 'dead' } as const;
    if (before === null || before.kind === 'dead') return { fate: stands, ended: null, trace };
    if (policy === 'firstWins') return { fate: stands, ended: null, trace: null };
    return { fate: stands, ended: dies, trace };
  }
  const fingerprint = verdict.kind === 'changed' ? verdict.record.fingerprint : verdict.fingerprint;
  const trace = {
    key,
    line,
    fingerprint,
    kind: verdict.kind === 'changed' ? 'staged' : 'unchanged',
    ...desired,
  } as const;
  if (before === null || (before.kind === 'dead' && policy === 'lastWins')) return { fate: stands, ended: null, trace };
  const diesToo: Fate = { kind: 'dead', by: 'earlier', otherLine: before.line, ...ofOther };
  const of = before.desired === undefined ? {} : { desired: before.desired };
  const deadTrace = { key, line: before.line, fingerprint: '', kind: 'dead', ...of } as const;
  if (before.kind === 'dead') return { fate: diesToo, ended: null, trace: deadTrace };
  if (before.fingerprint === fingerprint || policy === 'firstWins') {
    return { fate: { kind: 'skipped', by: 'earlier', otherLine: before.line }, ended: null, trace: null };
  }
  if (policy === 'lastWins') {
    return { fate: stands, ended: { kind: 'skipped', by: 'later', otherLine: line }, trace };
  }
  return { fate: diesToo, ended: dies, trace: deadTrace };
}

/** Asked only where two rows meet: most rows are alone. */
function areOthers(one: Pick<KeyTrace, 'desired'>, other: Pick<KeyTrace, 'desired'>): boolean {
  if (one.desired === undefined || other.desired === undefined) return false;
  const read = (desired: DesiredContact | string) =>
    // Our own JSON of a desired contact.
    typeof desired === 'string' ? (JSON.parse(desired) as DesiredContact) : desired;
  const [here, there] = [read(one.desired), read(other.desired)];
  // An id is believed: its person may be called in two ways.
  return hasKeyOfValue(here) && areCalledOtherwise(here, there);
}

/** @param isPart whether it is the verdict that is about a part; else the one before. */
function meetPart(verdict: Judged, key: string, before: KeyTrace | null, isPart: boolean): Meeting {
  const { line } = verdict;
  const stands: Fate = { kind: 'stands' };
  // What is not staged gives way to nothing, and nothing to it.
  if (verdict.kind !== 'changed') return { fate: stands, ended: null, trace: null };
  const { fingerprint } = verdict.record;
  const trace = { key, line, fingerprint, kind: 'staged' } as const;
  if (!isPart) return { fate: stands, ended: { kind: 'skipped', by: 'later', otherLine: line, isPart: true }, trace };
  if (before?.kind !== 'staged') return { fate: stands, ended: null, trace: { ...trace, isPart } };
  return {
    fate: { kind: 'skipped', by: 'earlier', otherLine: before.line, isPart },
    ended: null,
    trace: null,
  };
}

/** An unchanged row of an earlier slice that turned out to be a duplicate: its cells must be read again. */
export interface LateDead {
  readonly key: string;
  readonly line: number;
  /** Tells it from its neighbours where a whole JSON file is one line. */
  readonly fingerprint: string;
  readonly problem: Problem;
}

/** What one slice writes and counts. */
export interface SliceContent {
  readonly slice: Omit<StagedSlice, 'runId' | 'feed' | 'rowsPerBatch' | 'atMs'>;
  readonly lateDead: readonly LateDead[];
  readonly tally: StagedTally;
  /** Keys of unchanged rows with fields that wait for a person, and the row's line. */
  readonly waitingLines: ReadonlyMap<string, number>;
}

/** @param earlier what earlier slices of the run have met of these keys. */
export function contentOf(
  verdicts: readonly Verdict[],
  { fates, earlierEnded }: Resolution,
  earlier: ReadonlyMap<string, KeyTrace>,
): SliceContent {
  const rows = verdicts.map((verdict, index): RowWithFate => ({ verdict, fate: fates[index] ?? { kind: 'stands' } }));
  const standing = rows.flatMap(({ verdict, fate }) => (fate.kind === 'stands' ? [verdict] : []));
  const ends = [...earlierEnded].flatMap(([key, ended]) => {
    const trace = earlier.get(key);
    return trace === undefined ? [] : [{ trace, ended }];
  });
  const dead = rows.flatMap(({ verdict, fate }) => deadRowOf(verdict, fate) ?? []);
  const withdrawnRows = ends.flatMap(({ trace, ended }) => withdrawnOf(trace, ended) ?? []);
  const deadCount = dead.length + withdrawnRows.filter(({ end }) => end.kind === 'dead').length;
  const earlierUnchanged = ends.filter(({ trace }) => trace.kind === 'unchanged');
  return {
    slice: {
      records: standing.flatMap((verdict) => (verdict.kind === 'changed' ? [verdict.record] : [])),
      dead,
      withdrawnRows,
      // A row that is rejected beside another one of its key answers nothing, though its contact is as it says.
      answered: rows.flatMap(({ verdict: { kind, letterId }, fate }) =>
        ['unchanged', 'ignored', 'superseded'].includes(kind) && letterId !== null && fate.kind !== 'dead'
          ? [letterId]
          : [],
      ),
      spoken: rows.flatMap(({ verdict, fate }) => {
        const isSpoken = verdict.kind === 'unchanged' && verdict.letterId !== null && fate.kind === 'stands';
        return isSpoken ? [{ key: verdict.key, sequence: verdict.sequence }] : [];
      }),
      events: [
        ...ends.flatMap(({ trace: { key, line }, ended }) => skippedEvent(key, line, ended)),
        ...rows.flatMap(({ verdict: { key, line, row, warnings }, fate }) => [
          ...warnings.map((warning) => warningEvent(key, warning, row)),
          ...skippedEvent(key, line, fate),
        ]),
        ...verdicts.flatMap((verdict) => (verdict.kind === 'ignored' ? [ignoredEvent(verdict)] : [])),
        ...verdicts.flatMap((verdict) => (verdict.kind === 'superseded' ? [supersededEvent(verdict)] : [])),
      ],
      counts: {
        rows: rows.length,
        unchanged: standing.filter(({ kind }) => kind === 'unchanged').length - earlierUnchanged.length,
        skipped:
          [...fates, ...earlierEnded.values()].filter(({ kind }) => kind === 'skipped').length +
          verdicts.filter((verdict) => !isJudged(verdict)).length,
        dead: deadCount,
        warnings: verdicts.reduce((count, { warnings }) => count + warnings.length, 0),
      },
    },
    lateDead: [
      ...earlierUnchanged.flatMap(({ trace: { key, line, fingerprint }, ended }) =>
        ended.kind === 'dead'
          ? [{ key, line, fingerprint, problem: duplicateKeyProblem(key, line, ended.otherLine, ended.isOther) }]
          : [],
      ),
      ...rows.flatMap(({ verdict, fate }) => lateDeadOf(verdict, fate) ?? []),
    ],
    tally: { ...tallyOf(rows), dead: deadCount },
    waitingLines: new Map(
      rows.flatMap(({ verdict, fate }) =>
        verdict.kind === 'unchanged' && verdict.heldCount > 0 && hasStood(fate) ? [[verdict.key, verdict.line]] : [],
      ),
    ),
  };
}

interface RowWithFate {
  readonly verdict: Verdict;
  readonly fate: Fate;
}

/** Whether the row stood for its key until a later one ended it, if any did. */
function hasStood(fate: Fate): boolean {
  return fate.kind === 'stands' || fate.by === 'later';
}

function tallyOf(rows: readonly RowWithFate[]): Omit<StagedTally, 'dead'> {
  const counted = rows.flatMap(({ verdict, fate }) => (hasStood(fate) ? [verdict] : []));
  const changed = counted.filter((verdict) => verdict.kind === 'changed');
  const updates = changed.filter(({ isUpdate }) => isUpdate);
  return {
    rows: rows.length,
    known: counted.filter(({ kind, isKnown }) => kind !== 'rejected' && kind !== 'ignored' && isKnown).length,
    shared: rows.filter(({ verdict }) => verdict.isKnown).length,
    updates: updates.length,
    creates: changed.filter(({ isKnown }) => !isKnown).length,
    clears: updates.reduce((count, { clears }) => count + clears, 0),
    cleared: updates.filter(({ clears }) => clears > 0).length,
    lossy: changed.filter(({ warnings }) => warnings.some(({ isLoss }) => isLoss === true)).length,
    gone: 0,
    goneCleared: 0,
  };
}

function deadRowOf(verdict: Verdict, fate: Fate): DeadRow | null {
  if (!isJudged(verdict)) return null;
  if (verdict.kind !== 'rejected') {
    const { key, line, row, letterId } = verdict;
    return fate.kind === 'dead' && row !== null
      ? deadDuplicate(key, { row, letterId }, duplicateKeyProblem(key, line, fate.otherLine, fate.isOther))
      : null;
  }
  const { row, key, letterId, problems } = verdict;
  return invalidRow(problems[0]?.code ?? 'invalid', key, { row, letterId }, problems);
}

/** A row whose cells were not read, since its record was known. */
function lateDeadOf(verdict: Verdict, fate: Fate): LateDead | null {
  if (verdict.kind !== 'unchanged' || verdict.row !== null || fate.kind !== 'dead') return null;
  const { key, line, fingerprint } = verdict;
  return { key, line, fingerprint, problem: duplicateKeyProblem(key, line, fate.otherLine, fate.isOther) };
}

/** How the record of a row of an earlier slice ends; null where there is none. */
function withdrawnOf(
  { key, line, kind, position }: KeyTrace,
  ended: Ended,
): NonNullable<StagedSlice['withdrawnRows']>[number] | null {
  if (kind !== 'staged' || position === undefined) return null;
  if (ended.kind === 'skipped') return { position, end: { kind: 'skipped' } };
  return { position, end: { kind: 'dead', problem: duplicateKeyProblem(key, line, ended.otherLine, ended.isOther) } };
}

function ignoredEvent({ line, row, problems }: Extract<Verdict, { readonly kind: 'ignored' }>): RunEvent {
  const [first] = problems;
  const message = `${skipSentences.ignored}: ${first?.message ?? ''}`;
  return { kind: 'skipped', line, ...recordOf(row), key: null, code: 'ignored', field: first?.field ?? null, message };
}

function supersededEvent({ line, row, key }: Extract<Verdict, { readonly kind: 'superseded' }>): RunEvent {
  const message = skipSentences.superseded;
  return { kind: 'skipped', line, ...recordOf(row), key, code: 'superseded', field: null, message };
}

/** @param row absent where the warning is about the file. */
export function warningEvent(key: string | null, warning: Problem, row: Row | null = null): RunEvent {
  const { line, code, field, value, message, hint } = warning;
  const ofFile = key === null && row === null ? { hint } : {};
  return { kind: 'warning', line, ...recordOf(row), key, code, field, value, message, ...ofFile };
}

function skippedEvent(key: string | null, line: number, fate: Fate): readonly RunEvent[] {
  if (fate.kind !== 'skipped') return [];
  const message =
    fate.isPart === true
      ? 'another dead letter of this contact is tried in the same run: retry this one again'
      : fate.by === 'earlier'
        ? `line ${fate.otherLine} already has the same contact`
        : 'a later line has the same contact, and the last one wins';
  return [{ kind: 'skipped', line, key, code: 'duplicate', field: null, message }];
}

/** A row as read, and the letter that it names, by which it stays as old as that. */
interface RowOfLetter {
  readonly row: Row;
  readonly letterId: string | null;
}

/** A row that is rejected since another one with its key differs. */
export function deadDuplicate(key: string, of: RowOfLetter, problem: Problem): DeadRow {
  return invalidRow(problem.code, key, of, [problem]);
}

function invalidRow(
  code: string,
  key: string | null,
  { row, letterId }: RowOfLetter,
  problems: readonly Problem[],
): DeadRow {
  const ofLetter = letterId === null ? {} : { letterId };
  return { class: 'invalid', code, line: row.line, key, problems, row, ...ofLetter, desired: null, answer: null };
}

/** The row hashes to be remembered of rows that only their fingerprint told to be unchanged: they make the next look cheap. */
export function refreshedOf(verdicts: readonly Verdict[], mappingVersion: string) {
  return verdicts.flatMap((verdict) =>
    verdict.kind === 'unchanged' && verdict.newRowHash !== null
      ? [{ key: verdict.key, rowHash: verdict.newRowHash, mappingVersion }]
      : [],
  );
}
