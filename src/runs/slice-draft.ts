/**
 * A slice of a file on its way into the ledger: decides for each row, in the file's order, whether it is unchanged,
 * staged, a duplicate or dead. Pure but for what it collects.
 *
 * A key that stands twice: identical after mapping, the second is skipped; differing, all are dead, also those met
 * before (`rules.md`, "Workspace, feed, key"). A row that is dead by itself differs from every other; it does not keep
 * the one that wins by choice from winning.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { CountDelta } from '#src/ledger/runs.ts';
import type { DeadRow, KeyTrace, NewStagedRecord, RecordEnd, RunEvent, StagedRecord } from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';

export type DuplicatePolicy = 'dead' | 'lastWins' | 'firstWins';

/** A row with its key. `record` is null where it is unchanged. */
export interface KeyedRow {
  readonly row: Row;
  readonly key: string;
  readonly fingerprint: string;
  readonly record: NewStagedRecord | null;
}

export class SliceDraft {
  readonly records: NewStagedRecord[] = [];
  readonly dead: DeadRow[] = [];
  readonly events: RunEvent[] = [];
  readonly withdrawn: { key: string; end: RecordEnd }[] = [];
  /** Unchanged rows of earlier slices that turned out to be duplicates: their cells must be read again. */
  readonly lateDead: { key: string; line: number; fingerprint: string; problem: Problem }[] = [];
  rows = 0;
  unchanged = 0;
  skipped = 0;
  withdrawnDead = 0;
  warnings = 0;
  heldFields = 0;
  private readonly met: Map<string, KeyTrace>;
  private readonly fresh = new Map<string, KeyTrace>();
  private readonly stagedBefore: ReadonlyMap<string, StagedRecord>;
  private readonly unchangedHere = new Map<string, Row>();
  private readonly policy: DuplicatePolicy;

  constructor(
    traces: ReadonlyMap<string, KeyTrace>,
    stagedBefore: ReadonlyMap<string, StagedRecord>,
    policy: DuplicatePolicy,
  ) {
    this.met = new Map(traces);
    this.stagedBefore = stagedBefore;
    this.policy = policy;
  }

  addDead(dead: DeadRow): void {
    this.rows += 1;
    this.dead.push(dead);
    if (dead.key === null) return;
    const before = this.met.get(dead.key);
    if (before !== undefined && before.kind !== 'dead') {
      if (this.policy === 'firstWins') return;
      this.kill(before, dead.line);
    }
    this.trace({ key: dead.key, line: dead.line, fingerprint: '', kind: 'dead' });
  }

  addWarnings(key: string | null, warnings: readonly Problem[]): void {
    this.warnings += warnings.length;
    this.events.push(...warnings.map((warning) => warningEvent(key, warning)));
  }

  addHeld(events: readonly RunEvent[]): void {
    this.heldFields += events.length;
    this.events.push(...events);
  }

  /** @returns whether the row stands for its key now: it is neither a duplicate nor dead. */
  add(keyed: KeyedRow): boolean {
    this.rows += 1;
    const before = this.met.get(keyed.key);
    if (before === undefined) return this.accept(keyed);
    if (before.kind === 'dead') return this.policy === 'lastWins' ? this.accept(keyed) : this.addToDead(keyed, before);
    if (before.fingerprint === keyed.fingerprint || this.policy === 'firstWins') return this.skip(keyed, before.line);
    if (this.policy === 'lastWins') {
      this.withdraw(before);
      return this.accept(keyed);
    }
    this.kill(before, keyed.row.line);
    return this.addToDead(keyed, before);
  }

  private addToDead({ key, row }: KeyedRow, before: KeyTrace): false {
    this.dead.push(this.duplicate(key, row, before.line));
    this.trace({ key, line: before.line, fingerprint: '', kind: 'dead' });
    return false;
  }

  /** Keys of this slice that stand as unchanged at its end. */
  get unchangedKeys(): readonly string[] {
    return [...this.fresh.values()].filter((trace) => trace.kind === 'unchanged').map((trace) => trace.key);
  }

  get traces(): readonly KeyTrace[] {
    return [...this.fresh.values()];
  }

  get counts(): CountDelta {
    return {
      rows: this.rows,
      unchanged: this.unchanged,
      skipped: this.skipped,
      dead: this.dead.length + this.withdrawnDead,
      warnings: this.warnings,
      heldFields: this.heldFields,
    };
  }

  private trace(trace: KeyTrace): void {
    this.met.set(trace.key, trace);
    this.fresh.set(trace.key, trace);
  }

  private accept({ row, key, fingerprint, record }: KeyedRow): true {
    if (record === null) {
      this.unchanged += 1;
      this.unchangedHere.set(key, row);
    } else {
      this.records.push(record);
    }
    this.trace({ key, line: row.line, fingerprint, kind: record === null ? 'unchanged' : 'staged' });
    return true;
  }

  private skip({ row, key }: KeyedRow, otherLine: number): false {
    this.skipped += 1;
    const message = `the same contact stands on line ${otherLine} already`;
    this.events.push({ kind: 'skipped', line: row.line, key, code: 'duplicate', field: null, message });
    return false;
  }

  /** `lastWins`: the row met before gives way. */
  private withdraw(before: KeyTrace): void {
    this.skipped += 1;
    const message = 'a later line holds the same contact, and the last one wins';
    this.events.push({ kind: 'skipped', line: before.line, key: before.key, code: 'duplicate', field: null, message });
    if (before.kind === 'unchanged') this.unchanged -= 1;
    else if (this.takeHere(before.key) === null) {
      this.withdrawn.push({ key: before.key, end: { outcome: 'skipped', reason: 'duplicate' } });
    }
  }

  /** The row met before is dead too. */
  private kill(before: KeyTrace, otherLine: number): void {
    const { key, line, fingerprint } = before;
    if (before.kind === 'unchanged') {
      this.unchanged -= 1;
      const row = this.unchangedHere.get(key);
      if (row !== undefined) this.dead.push(this.duplicate(key, row, otherLine));
      else this.lateDead.push({ key, line, fingerprint, problem: duplicateProblem(key, line, otherLine) });
      return;
    }
    const here = this.takeHere(key);
    if (here !== null) {
      this.dead.push(this.duplicate(key, here.row, otherLine));
      return;
    }
    const earlier = this.stagedBefore.get(key);
    if (earlier === undefined) return;
    this.withdrawnDead += 1;
    this.withdrawn.push({ key, end: { outcome: 'dead', dead: this.duplicate(key, earlier.row, otherLine) } });
  }

  private takeHere(key: string): NewStagedRecord | null {
    const index = this.records.findIndex((record) => record.key === key);
    return index < 0 ? null : (this.records.splice(index, 1)[0] ?? null);
  }

  private duplicate(key: string, row: Row, otherLine: number): DeadRow {
    return deadDuplicate(key, row, duplicateProblem(key, row.line, otherLine));
  }
}

export function warningEvent(key: string | null, { line, code, field, value, message }: Problem): RunEvent {
  return { kind: 'warning', line, key, code, field, value, message };
}

export function deadDuplicate(key: string, row: Row, problem: Problem): DeadRow {
  return {
    class: 'invalid',
    code: problem.code,
    line: row.line,
    key,
    problems: [problem],
    row,
    desired: null,
    answer: null,
  };
}

function duplicateProblem(key: string, line: number, otherLine: number): Problem {
  return {
    code: 'duplicateKey',
    line,
    field: null,
    value: key,
    message: `lines ${Math.min(line, otherLine)} and ${Math.max(line, otherLine)} have the same key and differ`,
    hint: 'Keep one of them, or choose duplicateKeys: firstWins or lastWins in the mapping.',
  };
}
