/** Rows with the same key, within a slice and across slices, decided without a ledger. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { Verdict } from '#src/runs/compare.ts';
import {
  contentOf,
  type Fate,
  type KeyTrace,
  type Resolution,
  resolveDuplicates,
  type SliceContent,
} from '#src/runs/slice.ts';
import type { Row } from '#src/sources/row.ts';

type Policy = Parameters<typeof resolveDuplicates>[2];
type Kind = Exclude<Verdict['kind'], 'ignored'>;

function rowOn(line: number): Row {
  return { kind: 'cells', line, record: line, columns: ['externalId'], cells: [`cell ${line}`] };
}

/** A row whose content is one letter. */
function verdict(line: number, kind: Kind, content = 'x', key = 'a'): Verdict {
  const row = rowOn(line);
  const common = { line, row, key, letterId: null, isKnown: false, warnings: [] };
  if (kind === 'unchanged')
    return { kind, ...common, sequence: 1, fingerprint: content, heldCount: 0, newRowHash: null, isKnown: true };
  if (kind === 'changed') {
    const desired = { key, scalars: {}, source: null, emails: [], phones: [], customFields: [] };
    const record: NewStagedRecord = {
      ...{ line, sequence: 1, key, rowHash: '', fingerprint: content, mappingVersion: '', desired, row },
    };
    return { kind, ...common, record, isUpdate: false, clears: 0 };
  }
  const problem = { code: 'phoneInvalid', line, field: null, value: null, message: '', hint: '' };
  return { kind, ...common, problems: [problem] };
}

function fatesOf(policy: Policy, ...verdicts: readonly Verdict[]): readonly string[] {
  return resolveDuplicates(verdicts, new Map(), policy).fates.map(show);
}

function show(fate: Fate): string {
  return fate.kind === 'stands' ? 'stands' : `${fate.kind} by ${fate.by} line ${fate.otherLine}`;
}

describe('the same key twice in a slice', () => {
  it.each<Policy>(['dead', 'firstWins', 'lastWins'])('skips what says the same again, whatever wins: %s', (policy) => {
    expect(fatesOf(policy, verdict(2, 'changed'), verdict(3, 'changed'), verdict(4, 'changed'))).toEqual([
      ...['stands', 'skipped by earlier line 2', 'skipped by earlier line 2'],
    ]);
    expect(fatesOf(policy, verdict(2, 'unchanged'), verdict(3, 'changed'))).toEqual([
      ...['stands', 'skipped by earlier line 2'],
    ]);
  });

  it('rejects all that differ, with the line of another, also where the first of them comes again', () => {
    const rows = [verdict(2, 'changed', 'x'), verdict(3, 'changed', 'y'), verdict(4, 'changed', 'x')];
    expect(fatesOf('dead', ...rows)).toEqual([
      'dead by later line 3',
      'dead by earlier line 2',
      'dead by earlier line 2',
    ]);
  });

  it('lets the chosen one win', () => {
    const rows = [verdict(2, 'changed', 'x'), verdict(3, 'unchanged', 'y'), verdict(4, 'changed', 'z')];
    expect(fatesOf('firstWins', ...rows)).toEqual(['stands', 'skipped by earlier line 2', 'skipped by earlier line 2']);
    expect(fatesOf('lastWins', ...rows)).toEqual(['skipped by later line 3', 'skipped by later line 4', 'stands']);
  });

  it('takes a rejected row for one that differs: it ends the row before it, and a chosen later one still wins', () => {
    const rows = [verdict(2, 'changed'), verdict(3, 'rejected'), verdict(4, 'changed')];
    expect(fatesOf('dead', ...rows)).toEqual(['dead by later line 3', 'stands', 'dead by earlier line 3']);
    expect(fatesOf('lastWins', ...rows)).toEqual(['dead by later line 3', 'stands', 'stands']);
    expect(fatesOf('firstWins', ...rows)).toEqual(['stands', 'stands', 'skipped by earlier line 2']);
  });

  it('leaves rows without a key, and other keys, as they are', () => {
    const nameless = { ...verdict(2, 'rejected'), key: null } as Verdict;
    expect(
      fatesOf('dead', nameless, nameless, verdict(4, 'changed', 'x', 'b'), verdict(5, 'changed', 'y', 'c')),
    ).toEqual([...['stands', 'stands', 'stands', 'stands']]);
  });
});

const partOn = (line: number): Verdict => ({ ...verdict(line, 'changed', `part ${line}`), part: 'repair' }) as Verdict;

describe('a part of a contact beside a row of it', () => {
  it.each<Policy>(['dead', 'firstWins', 'lastWins'])('differs from none, and waits for another run: %s', (policy) => {
    expect(fatesOf(policy, partOn(0), verdict(3, 'changed'))).toEqual(['skipped by later line 3', 'stands']);
    expect(fatesOf(policy, verdict(3, 'changed'), partOn(0))).toEqual(['stands', 'skipped by earlier line 3']);
    expect(fatesOf(policy, partOn(1), partOn(2))).toEqual(['stands', 'skipped by earlier line 1']);
  });

  it.each<Kind>(['rejected', 'unchanged'])('goes in where that does not: %s', (kind) => {
    expect(fatesOf('lastWins', partOn(0), verdict(3, kind))).toEqual(['stands', 'stands']);
    expect(fatesOf('lastWins', verdict(3, kind), partOn(0))).toEqual(['stands', 'stands']);
  });
});

type Traces = ReadonlyMap<string, KeyTrace>;

function sliceOf(verdicts: readonly Verdict[], policy: Policy, earlier: Traces = new Map()) {
  const resolution = resolveDuplicates(verdicts, earlier, policy);
  return { resolution, content: contentOf(verdicts, resolution, earlier) };
}

/** What is remembered of a slice that was written. */
function remembered({ resolution, content }: { resolution: Resolution; content: SliceContent }): Traces {
  const positions = new Map(content.slice.records.map(({ key }, index) => [key, index + 1]));
  return new Map(
    resolution.traces.map((trace) => {
      const position = trace.kind === 'staged' ? positions.get(trace.key) : undefined;
      return [trace.key, { ...trace, ...(position === undefined ? {} : { position }) }];
    }),
  );
}

describe('what a slice writes', () => {
  it('withdraws a staged row of an earlier slice that differs, and asks for an unchanged one to be read again', () => {
    const rows = [verdict(2, 'changed', 'x', 'a'), verdict(3, 'unchanged', 'x', 'b')];
    const second = [verdict(9, 'changed', 'y', 'a'), verdict(10, 'changed', 'y', 'b')];
    const { slice, lateDead } = sliceOf(second, 'dead', remembered(sliceOf(rows, 'dead'))).content;
    expect(slice.withdrawnRows).toMatchObject([
      { position: 1, end: { kind: 'dead', problem: { line: 2, code: 'duplicateKey' } } },
    ]);
    expect(lateDead).toMatchObject([{ key: 'b', line: 3, fingerprint: 'x', problem: { code: 'duplicateKey' } }]);
    expect(slice.dead.map(({ line }) => line)).toEqual([9, 10]);
    expect(slice.counts).toMatchObject({ rows: 2, unchanged: -1, skipped: 0, dead: 3 });
  });

  it('asks for a row to be read that was known by its text, and differs from another with its key', () => {
    const known = { ...verdict(3, 'unchanged', 'x'), row: null } as Verdict;
    const { slice, lateDead } = sliceOf([verdict(2, 'changed', 'y'), known], 'dead').content;
    expect(lateDead).toMatchObject([{ key: 'a', line: 3, fingerprint: 'x', problem: { code: 'duplicateKey' } }]);
    expect(slice.dead.map(({ line }) => line)).toEqual([2]);
    expect(slice.counts).toMatchObject({ rows: 2, unchanged: 0, skipped: 0, dead: 1 });
  });

  it('withdraws without a dead letter where the last one wins', () => {
    const first = remembered(sliceOf([verdict(2, 'changed', 'x')], 'lastWins'));
    const { slice } = sliceOf([verdict(9, 'changed', 'y')], 'lastWins', first).content;
    expect(slice.withdrawnRows).toEqual([{ position: 1, end: { kind: 'skipped' } }]);
    expect(slice.events).toMatchObject([{ kind: 'skipped', line: 2, code: 'duplicate' }]);
    expect(slice.records.map(({ line }) => line)).toEqual([9]);
  });

  it('withdraws a part of an earlier slice for a row, and says that its letter waits', () => {
    const first = remembered(sliceOf([partOn(0)], 'lastWins'));
    const { slice } = sliceOf([verdict(9, 'changed', 'y')], 'lastWins', first).content;
    expect(slice.withdrawnRows).toEqual([{ position: 1, end: { kind: 'skipped' } }]);
    expect(slice.events).toMatchObject([{ kind: 'skipped', message: expect.stringContaining('retry this one again') }]);
  });

  it('answers the dead letter of a row that needs nothing any more, and names it on a rejected one', () => {
    const rows = [
      { ...verdict(2, 'unchanged', 'x', 'a'), letterId: 'mended' },
      { ...verdict(3, 'rejected', 'x', 'b'), letterId: 'again' },
    ];
    const { slice } = sliceOf(rows, 'dead').content;
    expect(slice.answered).toEqual(['mended']);
    expect(slice.dead).toMatchObject([{ key: 'b', letterId: 'again' }]);
  });

  it('answers no dead letter of a row that needs nothing any more, where another row of its key differs', () => {
    const { slice } = sliceOf(
      [{ ...verdict(2, 'unchanged', 'x'), letterId: 'mended' }, verdict(3, 'changed', 'y')],
      'dead',
    ).content;
    expect(slice.answered).toEqual([]);
    expect(slice.dead).toMatchObject([{ line: 2, letterId: 'mended' }, { line: 3 }]);
  });

  it('counts a contact for the guards where a row stood for it', () => {
    const rows: readonly Verdict[] = [
      { ...verdict(2, 'changed', 'x', 'a'), isKnown: true, isUpdate: true, clears: 2 } as Verdict,
      verdict(3, 'changed', 'x', 'a'),
      verdict(4, 'changed', 'x', 'b'),
      verdict(5, 'unchanged', 'x', 'c'),
      { ...verdict(6, 'rejected', 'x', 'd'), isKnown: true },
    ];
    expect(sliceOf(rows, 'dead').content.tally).toEqual({
      ...{ rows: 5, known: 2, shared: 3, updates: 1, creates: 1, clears: 2, cleared: 1, dead: 1, lossy: 0 },
      ...{ gone: 0, goneCleared: 0 },
    });
  });
});

const policies = fc.constantFrom<Policy>('dead', 'firstWins', 'lastWins');
const rowsOfFile = fc
  .array(
    fc.record({
      kind: fc.constantFrom<Kind>('unchanged', 'changed', 'rejected'),
      content: fc.constantFrom('x', 'y'),
      key: fc.constantFrom('a', 'b'),
    }),
    { maxLength: 8 },
  )
  .map((rows) => rows.map(({ kind, content, key }, index) => verdict(index + 2, kind, content, key)));

describe('a file cut into slices anywhere', () => {
  it('ends as the same file in one slice', () => {
    fc.assert(
      fc.property(rowsOfFile, fc.nat(8), policies, (rows, cut, policy) => {
        const whole = sliceOf(rows, policy);
        const first = sliceOf(rows.slice(0, cut), policy);
        const second = sliceOf(rows.slice(cut), policy, remembered(first));
        const fates = [...first.resolution.fates];
        for (const [key, ended] of second.resolution.earlierEnded) {
          const trace = first.resolution.traces.find((one) => one.key === key);
          fates[(trace?.line ?? 0) - 2] = ended;
        }
        expect([...fates, ...second.resolution.fates]).toEqual(whole.resolution.fates);
      }),
    );
  });

  it('accounts for each row once: unchanged, skipped, rejected or waiting to be written', () => {
    fc.assert(
      fc.property(rowsOfFile, fc.nat(8), policies, (rows, cut, policy) => {
        const first = sliceOf(rows.slice(0, cut), policy);
        const second = sliceOf(rows.slice(cut), policy, remembered(first));
        const contents = [first.content, second.content];
        const total = (of: (content: SliceContent) => number) => contents.reduce((sum, one) => sum + of(one), 0);
        const waiting = total(({ slice }) => slice.records.length - (slice.withdrawnRows?.length ?? 0));
        const ended = total(({ slice, lateDead }) => {
          const { unchanged = 0, skipped = 0, dead = 0 } = slice.counts;
          return unchanged + skipped + dead + lateDead.length;
        });
        expect(waiting + ended).toBe(rows.length);
        expect(total(({ slice }) => slice.counts.rows ?? 0)).toBe(rows.length);
      }),
    );
  });
});
