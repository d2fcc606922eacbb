/** Dead letters: one per feed, key and code; never dropped, closed by a later success. */
import { expect, test } from 'vitest';
import type { DeadLetterState, LetterChoice, LettersCounted } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import {
  applyingRun,
  createdAtMs,
  deadRow,
  desired,
  ended,
  newRun,
  pendingOf,
  row,
  settleAs,
  settled,
  slice,
  stagingRun,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const everyLetter = { limit: 100 } as const;

async function kill(
  ledger: Ledger,
  run: RunRecord,
  dead: readonly DeadRow[],
  atMs = createdAtMs,
  readSinceMs = atMs,
): Promise<void> {
  const counts = { rows: dead.length, dead: dead.length };
  await ledger.runs.stage(slice(run, { dead, atMs, readSinceMs, counts }));
}

async function onlyLetter(ledger: Ledger) {
  const [letter, ...others] = await ledger.deadLetters.list(everyLetter);
  if (letter === undefined || others.length > 0) throw new Error(`${others.length} letters too many, or none`);
  return letter;
}

/** Enters a redrive of feed main's open letters that fit. */
const redriveOf = (ledger: Ledger, id: string, choice: LetterChoice, metBy: readonly string[] = ['r1']) =>
  ledger.deadLetters.enterRedrive(newRun(id), { ...choice, metBy });

const deadNewOf = async (ledger: Ledger, id: string) => (await ledger.runs.get(id))?.counts.deadNew;

const problemOf = (code: string) => ({
  ...{ code, line: 2, field: 'Phone', value: 'x', message: `wrong: ${code}`, hint: 'Correct it.' },
});

export function deadLetterContract(open: OpenLedger): void {
  test('a letter keeps all problems of its row, up to a number', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const problems = Array.from({ length: 60 }, (_, index) => problemOf(`phone${index}`));
    await kill(ledger, run, [deadRow('k1', { problems: problems.slice(0, 2) }), deadRow('k2', { line: 3, problems })]);
    const letters = (await (await reopen()).deadLetters.list(everyLetter)).toSorted((a, b) => a.line - b.line);
    expect(letters.map((letter) => letter.problems)).toEqual([problems.slice(0, 2), problems.slice(0, 50)]);
    // Met again with one problem, it has that one, with the value of the cell if there is one.
    const [id = ''] = letters.map((letter) => letter.id);
    for (const [index, value] of ['4.15E+09', null].entries()) {
      const problem = { ...problemOf('phoneInvalid'), value };
      const other = await stagingRun(ledger, `r${index + 2}`);
      await kill(ledger, other, [deadRow('k1', { problems: [problem] })], createdAtMs + index + 1);
      expect((await ledger.deadLetters.get(id))?.problems).toEqual([problem]);
    }
  });

  test('an edited letter gets its row, and what was made of the one before is forgotten, with the run that tries it', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1', { desired: desired('k1') })]);
    const { id } = await onlyLetter(ledger);
    const edited = { id, row: row('k1 edited') };
    const entered = await ledger.deadLetters.enterRedrive(newRun('r2'), { ids: [id], metBy: ['r1'], edited });
    expect(entered).toMatchObject({ id: 'r2', kind: 'redrive' });
    const letter = await onlyLetter(ledger);
    expect(letter).toMatchObject({
      id,
      row: edited.row,
      desired: null,
      state: 'redriven',
      redriveRunId: 'r2',
      seenCount: 1,
    });
    const again = { id, row: row('k1 once more') };
    expect(await ledger.deadLetters.enterRedrive(newRun('r3'), { ids: [id], metBy: ['r1'], edited: again })).toBeNull();
    expect((await onlyLetter(ledger)).row).toEqual(edited.row);
  });

  test('a dead row enters a letter with all that is known of it', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { feed: 'crm' });
    const answer = { status: 400, code: '0801400', title: 'Bad', message: 'no', trace: 't-1' };
    const dead = deadRow('k1', { class: 'refused', code: 'refused400', line: 7, desired: desired('k1'), answer });
    await kill(ledger, run, [dead], createdAtMs + 5);
    const letter = await onlyLetter(await reopen());
    expect(letter).toEqual({
      id: letter.id,
      runId: 'r1',
      feed: 'crm',
      file: 'r1.csv',
      line: 7,
      key: 'k1',
      class: 'refused',
      code: 'refused400',
      field: 'Phone',
      message: 'wrong: refused400',
      hint: 'Correct it.',
      problems: [{ ...problemOf('refused400'), line: 7 }],
      row: row('k1', 7),
      desired: desired('k1'),
      answer,
      attempts: 0,
      seenCount: 1,
      state: 'open',
      redriveRunId: null,
      sequence: run.sequence,
      firstAtMs: createdAtMs + 5,
      lastAtMs: createdAtMs + 5,
    });
    expect(await ledger.deadLetters.get(letter.id)).toEqual(letter);
    expect(await ledger.deadLetters.get('unknown')).toBeNull();
    expect(await deadNewOf(ledger, 'r1')).toBe(1);
  });

  test('there is one letter per feed, key and code', async () => {
    const { ledger } = await openForTest(open);
    const main = await stagingRun(ledger, 'r1');
    const crm = await stagingRun(ledger, 'r2', { feed: 'crm' });
    await kill(ledger, main, [deadRow('k1'), deadRow('k1', { line: 9 }), deadRow('k1', { code: 'emailInvalid' })]);
    await kill(ledger, crm, [deadRow('k1')]);
    const letters = await ledger.deadLetters.list(everyLetter);
    expect(letters.map(({ feed, code }) => `${feed} ${code}`).toSorted()).toEqual([
      'crm phoneInvalid',
      'main emailInvalid',
      'main phoneInvalid',
    ]);
    expect((await ledger.counts()).openLetters).toBe(3);
    expect((await ledger.runs.deadRows('r1', 0, 10)).map(({ line }) => line)).toEqual([2, 9, 2]);
  });

  test('a row without a key is known by what it holds, wherever it stands', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const other = await stagingRun(ledger, 'r2');
    await kill(ledger, run, [deadRow(null, { row: row('Ann') }), deadRow(null, { row: row('Bea') })]);
    await kill(ledger, other, [deadRow(null, { row: row('Ann', 40), line: 40 })], createdAtMs + 1);
    const letters = await ledger.deadLetters.list(everyLetter);
    expect(letters.map(({ line, seenCount }) => [line, seenCount])).toEqual([
      [40, 2],
      [2, 1],
    ]);
  });

  test('only another run makes it a repeat; a run that is read anew meets its own letter', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1')], createdAtMs + 1);
    await ledger.runs.beginStaging('r1', createdAtMs + 2);
    await kill(ledger, run, [deadRow('k1')], createdAtMs + 3);
    expect(await onlyLetter(ledger)).toMatchObject({ seenCount: 1, runId: 'r1' });
    expect(await deadNewOf(ledger, 'r1')).toBe(1);
    // In a later slice of the same reading.
    await kill(ledger, run, [deadRow('k1'), deadRow('k1', { line: 9 })], createdAtMs + 3, createdAtMs + 2);
    expect(await deadNewOf(ledger, 'r1')).toBe(1);
    const later = await stagingRun(ledger, 'r2');
    await kill(ledger, later, [deadRow('k1', { line: 5 })], createdAtMs + 4);
    expect(await onlyLetter(ledger)).toMatchObject({
      seenCount: 2,
      runId: 'r2',
      line: 5,
      file: 'r2.csv',
      sequence: later.sequence,
      firstAtMs: createdAtMs + 1,
      lastAtMs: createdAtMs + 4,
    });
    expect(await deadNewOf(ledger, 'r2')).toBe(0);
  });

  test('a letter that comes back after it was closed is open again, and not new', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1')]);
    const success = await applyingRun(ledger, 'r2', ['k1']);
    await settleAs(
      ledger,
      success,
      'w1',
      (await pendingOf(ledger, success)).map((record) => settled(record)),
    );
    expect(await onlyLetter(ledger)).toMatchObject({ state: 'closed' });
    const again = await stagingRun(ledger, 'r3');
    await kill(ledger, again, [deadRow('k1')]);
    expect(await onlyLetter(ledger)).toMatchObject({ state: 'open', seenCount: 2 });
    expect(await deadNewOf(ledger, 'r3')).toBe(0);
  });

  test('a success closes all letters of its key in its feed, and of no other', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const crm = await stagingRun(ledger, 'r2', { feed: 'crm' });
    await kill(ledger, run, [deadRow('k1'), deadRow('k1', { code: 'emailInvalid' }), deadRow('k2')]);
    await kill(ledger, crm, [deadRow('k1')]);
    const success = await applyingRun(ledger, 'r3', ['k1']);
    await settleAs(
      ledger,
      success,
      'w1',
      (await pendingOf(ledger, success)).map((record) => settled(record)),
    );
    const open_ = await ledger.deadLetters.list({ states: ['open'], limit: 10 });
    expect(open_.map(({ feed, key }) => `${feed} ${key}`).toSorted()).toEqual(['crm k1', 'main k2']);
    expect((await ledger.counts()).openLetters).toBe(2);
  });

  test('a success of an older file closes no letter of a newer row', async () => {
    const { ledger } = await openForTest(open);
    const older = await applyingRun(ledger, 'r1', ['k1']);
    await kill(ledger, await stagingRun(ledger, 'r2'), [deadRow('k1')]);
    await settleAs(
      ledger,
      older,
      'w1',
      (await pendingOf(ledger, older)).map((record) => settled(record)),
    );
    expect((await ledger.counts()).openLetters).toBe(1);
  });

  test('a file that holds a key unchanged closes all letters of it in its feed, and of no other key', async () => {
    const { ledger } = await openForTest(open);
    const made = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    await settleAs(
      ledger,
      made,
      'w1',
      (await pendingOf(ledger, made)).map((record) => settled(record)),
    );
    const dead = [deadRow('k1'), deadRow('k2'), deadRow(null), deadRow('k3')];
    await kill(ledger, await stagingRun(ledger, 'r2'), dead);
    await redriveOf(ledger, 'r3', { code: 'phoneInvalid' }, ['r2']);
    await kill(ledger, await stagingRun(ledger, 'r4', { feed: 'crm' }), [deadRow('k1')]);
    await stagingRun(ledger, 'r5');
    // The first key has the first number.
    await ledger.runs.confirm('r5', { unchanged: Uint8Array.of(2), met: Uint8Array.of(6) });
    await ledger.deadLetters.closeUnchanged('r5');
    const states = (await ledger.deadLetters.list(everyLetter)).map(
      ({ feed, key, code, state }) => `${feed} ${key} ${code} ${state}`,
    );
    expect(states.toSorted()).toEqual([
      'crm k1 phoneInvalid open',
      'main k1 phoneInvalid closed',
      'main k2 phoneInvalid redriven',
      'main k3 phoneInvalid redriven',
      'main null phoneInvalid redriven',
    ]);
  });

  test('a skip closes no letter', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1')]);
    const other = await applyingRun(ledger, 'r2', ['k1']);
    const skip = { outcome: 'skipped', reason: 'gone' } as const;
    await settleAs(
      ledger,
      other,
      'w1',
      (await pendingOf(ledger, other)).map((record) => ended(record, skip)),
    );
    expect((await ledger.counts()).openLetters).toBe(1);
  });

  test('letters are listed newest first, by ids, code, run and state', async () => {
    const { ledger } = await openForTest(open);
    const first = await stagingRun(ledger, 'r1');
    const second = await stagingRun(ledger, 'r2');
    await kill(ledger, first, [deadRow('k1')], createdAtMs + 1);
    await kill(ledger, first, [deadRow('k2', { code: 'emailInvalid' })], createdAtMs + 2);
    await kill(ledger, second, [deadRow('k3')], createdAtMs + 3);
    const keys = async (filter: Parameters<typeof ledger.deadLetters.list>[0]) =>
      (await ledger.deadLetters.list(filter)).map((letter) => letter.key);
    expect(await keys({ limit: 10 })).toEqual(['k3', 'k2', 'k1']);
    expect(await keys({ limit: 2 })).toEqual(['k3', 'k2']);
    expect(await keys({ code: 'phoneInvalid', limit: 10 })).toEqual(['k3', 'k1']);
    expect(await keys({ runId: 'r1', limit: 10 })).toEqual(['k2', 'k1']);
    expect(await keys({ states: ['closed', 'dropped'], limit: 10 })).toEqual([]);
    const [newest] = await ledger.deadLetters.list({ limit: 1 });
    expect(await keys({ ids: [newest?.id ?? '', 'unknown'], limit: 10 })).toEqual(['k3']);
    expect(await keys({ ids: [], limit: 10 })).toEqual([]);
  });

  test('letters are counted by class, code and field, the most frequent first, of a feed, run, code and state', async () => {
    const { ledger } = await openForTest(open);
    const shop = await stagingRun(ledger, 'r2', { feed: 'shop' });
    await kill(ledger, await stagingRun(ledger, 'r1'), [deadRow('k1', { code: 'emailInvalid' }), deadRow('k2')]);
    await kill(ledger, shop, [deadRow('k3')]);
    const counts = async (which: Omit<LettersCounted, 'states'>, state: DeadLetterState = 'open') =>
      (await ledger.deadLetters.counts({ ...which, states: [state] })).map(({ code, count }) => `${count} ${code}`);
    expect(await counts({})).toEqual(['2 phoneInvalid', '1 emailInvalid']);
    expect(await counts({ feed: 'shop' })).toEqual(['1 phoneInvalid']);
    expect(await counts({ runId: 'r1', code: 'emailInvalid' })).toEqual(['1 emailInvalid']);
    expect(await counts({ feed: 'shop', runId: 'r1' })).toEqual([]);
    const [reason] = await ledger.deadLetters.counts({ states: ['open'], feed: 'shop' });
    expect(reason).toEqual({ class: 'invalid', code: 'phoneInvalid', field: 'Phone', count: 1 });
    await redriveOf(ledger, 'r3', { code: 'emailInvalid' });
    expect(await counts({})).toEqual(['2 phoneInvalid']);
    expect(await counts({}, 'redriven')).toEqual(['1 emailInvalid']);
  });

  test('open letters are grouped by class, code and field, the largest group first, with an example', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [
      deadRow('k1'),
      deadRow('k2'),
      deadRow('k3', { class: 'conflict', code: 'twoContacts', problems: [] }),
    ]);
    const groups = await ledger.deadLetters.groups(10);
    expect(groups).toMatchObject([
      { class: 'invalid', code: 'phoneInvalid', field: 'Phone', count: 2, example: { code: 'phoneInvalid' } },
      { class: 'conflict', code: 'twoContacts', field: null, count: 1, example: { key: 'k3' } },
    ]);
    expect(await ledger.deadLetters.groups(1)).toHaveLength(1);
    const ids = (await ledger.deadLetters.list({ code: 'twoContacts', limit: 1 })).map((letter) => letter.id);
    await redriveOf(ledger, 'r2', { ids });
    expect(await ledger.deadLetters.groups(10)).toHaveLength(1);
  });

  test('only open letters are taken for another try, each by one run', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1')]);
    const { id } = await onlyLetter(ledger);
    expect(await ledger.deadLetters.openByRun({})).toEqual([{ feed: 'main', runId: 'r1', count: 1 }]);
    expect(await redriveOf(ledger, 'r2', { ids: [id, 'unknown'] })).toMatchObject({
      kind: 'redrive',
      state: 'queued',
      fileName: `dead letter ${id}`,
    });
    expect(await redriveOf(ledger, 'r3', { ids: [id] })).toBeNull();
    expect(await ledger.runs.get('r3')).toBeNull();
    expect(await ledger.deadLetters.openByRun({})).toEqual([]);
    expect(await onlyLetter(ledger)).toMatchObject({ state: 'redriven', redriveRunId: 'r2', attempts: 1 });
    expect((await ledger.counts()).openLetters).toBe(1);
  });

  test('a letter without a key is closed by a run that did not meet it; before, they are counted', async () => {
    const { ledger } = await openForTest(open);
    const nobody = (line: number) => deadRow(null, { line, row: row(`footer ${line}`, line) });
    const stage = async (id: string, dead: readonly DeadRow[], feed = 'crm') =>
      kill(ledger, await stagingRun(ledger, id, { feed }), dead);
    await stage('r1', [nobody(8), nobody(9), deadRow('k1')]);
    await stage('r2', [nobody(8)], 'shop');
    await stage('r3', [nobody(8)]);
    expect(await ledger.deadLetters.unmetCount('r3')).toBe(1);
    expect(await ledger.deadLetters.closeUnmet('r3')).toBe(1);
    const states = async () =>
      (await ledger.deadLetters.list(everyLetter))
        .map(({ feed, key, line, state }) => `${feed} ${key} ${line} ${state}`)
        .toSorted();
    expect(await states()).toEqual(['crm k1 2 open', 'crm null 8 open', 'crm null 9 closed', 'shop null 8 open']);
    expect(await ledger.deadLetters.unmetCount('r3')).toBe(0);
    expect(await ledger.deadLetters.closeUnmet('r3')).toBe(0);
    expect(await ledger.deadLetters.unmetCount('no run')).toBe(0);
    await stage('r4', [nobody(9)]);
    expect(await states()).toContain('crm null 9 open');
  });

  test('closed letters are forgotten by their age, open ones and those being tried again never', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1'), deadRow('k2'), deadRow('k3')], createdAtMs);
    const [closed, tried] = await ledger.deadLetters.list(everyLetter);
    // One that the run has met itself is answered by none of its rows.
    await ledger.runs.stage(slice(run, { answered: [closed?.id ?? ''] }));
    expect((await ledger.deadLetters.get(closed?.id ?? ''))?.state).toBe('open');
    await ledger.runs.stage(slice(await stagingRun(ledger, 'r2'), { answered: [closed?.id ?? ''] }));
    await redriveOf(ledger, 'r3', { ids: [tried?.id ?? ''] });
    const count = (await ledger.deadLetters.list(everyLetter)).length;
    await ledger.forget(createdAtMs, 0);
    expect(await ledger.deadLetters.list(everyLetter)).toHaveLength(count);
    await ledger.forget(createdAtMs + 1, 0);
    expect(await ledger.deadLetters.list(everyLetter)).toHaveLength(count - 1);
    const left = await ledger.deadLetters.list(everyLetter);
    expect(left.map(({ state }) => state).toSorted()).toEqual(['open', 'redriven']);
  });

  test('a redrive takes the open letters of its feed that fit and that the named runs met, whatever their number', async () => {
    const { ledger } = await openForTest(open);
    const [first, second, shop] = [
      await stagingRun(ledger, 'r1'),
      await stagingRun(ledger, 'r2'),
      await stagingRun(ledger, 'r3', { feed: 'shop' }),
    ];
    await kill(ledger, first, [deadRow('k1', { line: 3 }), deadRow('k2', { line: 2 }), deadRow('k3', { code: 'x' })]);
    await kill(ledger, second, [deadRow('k4')]);
    await kill(ledger, shop, [deadRow('k5')]);
    const code = 'phoneInvalid';
    expect(await ledger.deadLetters.openByRun({ code })).toEqual([
      { feed: 'main', runId: 'r1', count: 2 },
      { feed: 'main', runId: 'r2', count: 1 },
      { feed: 'shop', runId: 'r3', count: 1 },
    ]);
    expect(await redriveOf(ledger, 'r9', { code }, ['r1', 'r3'])).toMatchObject({ fileName: '2 dead letters' });
    const page = await ledger.deadLetters.lettersOf('r9', null, 1);
    expect(page).toMatchObject([{ key: 'k2', state: 'redriven', redriveRunId: 'r9', attempts: 1 }]);
    expect(await ledger.deadLetters.lettersOf('r9', page[0] ?? null, 10)).toMatchObject([{ key: 'k1' }]);
  });

  test('the letters of a redrive come in the order they were met, also those that died again in it; closed ones do not', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1'), deadRow('k2'), deadRow('k3')]);
    const redrive = await redriveOf(ledger, 'r2', {});
    if (redrive === null) throw new Error('no redrive was entered');
    await ledger.runs.beginStaging('r2', createdAtMs);
    const [first, second] = await ledger.deadLetters.lettersOf('r2', null, 10);
    await kill(ledger, redrive, [deadRow(first?.key ?? '', { letterId: first?.id ?? '' })]);
    await ledger.runs.stage(slice(redrive, { answered: [second?.id ?? ''] }));
    const left = await ledger.deadLetters.lettersOf('r2', null, 10);
    expect(left.map(({ state, sequence }) => [state, sequence])).toEqual([
      ['open', run.sequence],
      ['redriven', run.sequence],
    ]);
    await ledger.runs.move('r2', ['staging'], 'failed', { atMs: createdAtMs });
    await ledger.runs.prune('r2');
    expect(await ledger.deadLetters.lettersOf('r2', null, 10)).toEqual([]);
  });

  test('what dies again in a redrive stays the row of its file, be it of something else', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { fileName: 'people.csv' });
    await kill(ledger, run, [deadRow('k1', { line: 5 }), deadRow('k2', { line: 6 })]);
    const redrive = await redriveOf(ledger, 'r2', {});
    if (redrive === null) throw new Error('no redrive was entered');
    await ledger.runs.beginStaging('r2', createdAtMs);
    const [first, second] = await ledger.deadLetters.lettersOf('r2', null, 10);
    await kill(ledger, redrive, [
      deadRow('k1', { line: 5, letterId: first?.id ?? '' }),
      deadRow('k2', { line: 6, letterId: second?.id ?? '', code: 'emailInvalid' }),
    ]);
    const letters = await ledger.deadLetters.list({ states: ['open'], limit: 10 });
    expect(
      letters.map(({ key, file, line, sequence, runId }) => [key, file, line, sequence, runId]).toSorted(),
    ).toEqual([
      ['k1', 'people.csv', 5, run.sequence, 'r2'],
      ['k2', 'people.csv', 6, run.sequence, 'r2'],
    ]);
  });

  test('what a run took and did not settle is open again; what others took stays theirs', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1'), deadRow('k2')]);
    const letters = await ledger.deadLetters.list(everyLetter);
    const idOf = (key: string) => letters.find((letter) => letter.key === key)?.id ?? '';
    await redriveOf(ledger, 'r2', { ids: [idOf('k1')] });
    await redriveOf(ledger, 'r3', { ids: [idOf('k2')] });
    await ledger.runs.move('r2', ['queued'], 'failed', { atMs: createdAtMs });
    expect(await ledger.deadLetters.get(idOf('k1'))).toMatchObject({ state: 'open', redriveRunId: null, attempts: 1 });
    expect(await ledger.deadLetters.get(idOf('k2'))).toMatchObject({ state: 'redriven', redriveRunId: 'r3' });
  });

  test('a second try that dies the same way opens its letter; one that dies of something else closes it', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    await kill(ledger, run, [deadRow('k1'), deadRow('k2')]);
    const redrive = await redriveOf(ledger, 'r2', {});
    if (redrive === null) throw new Error('no redrive was entered');
    await ledger.runs.beginStaging('r2', createdAtMs);
    await kill(ledger, redrive, [deadRow('k1'), deadRow('k2', { code: 'refused400' })]);
    const states = (await ledger.deadLetters.list(everyLetter)).map(
      ({ key, code, state, redriveRunId }) => `${key} ${code} ${state} ${redriveRunId}`,
    );
    expect(states.toSorted()).toEqual([
      'k1 phoneInvalid open null',
      'k2 phoneInvalid closed null',
      'k2 refused400 open null',
    ]);
  });

  test('a record that dies while it is written enters a letter of the run whose file said it', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    const dead = deadRow('k1', { class: 'refused', code: 'refused422' });
    const ends = (await pendingOf(ledger, run)).map((record) => ended(record, { outcome: 'dead', dead }));
    await settleAs(ledger, run, 'w1', ends);
    const letter = await onlyLetter(ledger);
    expect(letter).toMatchObject({ runId: 'r1', file: 'r1.csv', sequence: run.sequence, state: 'open' });
    expect(await ledger.runs.deadRows('r1', 0, 10)).toMatchObject([{ letterId: letter.id, code: 'refused422' }]);
    expect((await ledger.runs.get('r1'))?.counts).toMatchObject({ dead: 1, deadNew: 1 });
  });
}
