/** Which letter a rejected row belongs to and what it changes there, without a database. */
import { describe, expect, it } from 'vitest';
import type { DesiredContact } from '#src/contacts/desired.ts';
import {
  type DeathPlace,
  inListOrder,
  isAnsweredBy,
  type KnownLetter,
  letterIdentity,
  partIn,
  rejectRow,
  type Success,
  takenBy,
} from '#src/ledger/rules/letters.ts';
import type { LetterFacts, RedriveRecord } from '#src/ledger/tables/letters.ts';
import { deadRow } from '#test/contracts/support/build.ts';

const place: DeathPlace = {
  runId: 'r2',
  feed: 'crm',
  file: 'b.csv',
  isRedrive: false,
  runSequence: 2,
  sequence: 2,
  atMs: 1_000,
  readSinceMs: 900,
};
const known: KnownLetter = {
  ...{ id: 'd1', feed: 'crm', code: 'phoneInvalid', identity: 'k1', key: 'k1', file: 'a.csv', sequence: 1 },
  ...{ state: 'open', runId: 'r1', firstRunId: 'r1', redriveRunId: null, lastAtMs: 800 },
};

/** A row, and each part that a letter may be about. */
function partsOf(key: string): Readonly<Record<string, DesiredContact>> {
  const row = { key, scalars: {}, source: null, emails: [], phones: [], customFields: [] };
  const taken = (['role', 'custom.tier'] as const).map((field) => ({ field, runId: 'r1', line: 2 }));
  const undo = (runId: string) => ({ runId, contactId: 'c1', changes: [], deletes: false });
  return {
    row,
    held: { ...row, taken },
    undo: { ...row, undo: undo('r1') },
    otherUndo: { ...row, undo: undo('r2') },
    repair: { ...row, repairs: true },
  };
}

describe('the identity of a rejected row', () => {
  it('is its key, or its content wherever it is in the file', () => {
    expect(letterIdentity(deadRow('k1'), null)).toBe('k1');
    const [here, there] = [2, 9].map((line) => letterIdentity({ ...deadRow(null), line }, null));
    expect(here).toMatch(/^row [0-9a-f]{24}$/);
    expect(there).toBe(here);
  });

  it('is that of the letter it was to fix, while key and code are the same', () => {
    const ofOldRow = { ...known, identity: 'row 7', key: null };
    expect(letterIdentity(deadRow(null), ofOldRow)).toBe('row 7');
    expect(letterIdentity(deadRow('k2'), ofOldRow)).toBe('k2');
    expect(letterIdentity(deadRow('k1'), known)).toBe('k1');
    expect(letterIdentity(deadRow('k2'), known)).toBe('k2');
    expect(letterIdentity(deadRow('k2', { code: 'emailInvalid' }), known)).toBe('k2');
  });

  it('is one of its own for each part of a contact, which the identity tells', () => {
    const parts = Object.values(partsOf('k1')).map((desired) =>
      partIn(letterIdentity(deadRow('k1', { desired }), null)),
    );
    expect(parts).toEqual([null, expect.stringMatching(/^held [0-9a-f]{24}$/), 'undo r1', 'undo r2', 'repair']);
    expect(partIn(letterIdentity(deadRow(null), null))).toBeNull();
  });
});

describe('a success', () => {
  const [row, held, undo, otherUndo, repair] = Object.values(partsOf('k1')).map((desired, index) => {
    const identity = letterIdentity(deadRow('k1', { desired }), null);
    return { name: index, identity, sequence: 3, state: 'open' } as const;
  });
  const letters = [row, held, undo, otherUndo, repair].flatMap((letter) => letter ?? []);
  const fields = ['role', 'custom.tier'] as const;
  const answeredBy = (part: string | null, sequence = 3, says: Success['says'] = undefined) =>
    letters
      .filter((letter) =>
        isAnsweredBy({ sequence, ...(part === null ? {} : { part }), ...(says && { says }) }, letter, fields),
      )
      .map(({ name }) => name);

  it('of a row answers its letters and those of held fields that it names, of a part those of that part alone', () => {
    const customFields = [{ key: 'tier', value: null }];
    expect(answeredBy(null)).toEqual([0]);
    expect(answeredBy(null, 3, { scalars: { role: 'Buyer' }, customFields: [] })).toEqual([0]);
    expect(answeredBy(null, 3, { scalars: { role: 'Buyer' }, customFields })).toEqual([0, 1]);
    expect(letters.slice(1).map(({ identity }) => answeredBy(partIn(identity)))).toEqual([[1], [2], [3], [4]]);
  });

  it('answers no newer letter, and none that is settled', () => {
    expect(answeredBy(null, 2)).toEqual([]);
    expect(row && isAnsweredBy({ sequence: 3 }, { ...row, state: 'dropped' })).toBe(false);
  });
});

describe('a rejected row', () => {
  it('enters a letter that is new with its run', () => {
    const death = rejectRow(place, deadRow('k1'), null, null);
    expect(death).toMatchObject({ closes: null, closesOthersOfKey: true, isNew: true });
    expect(death.letter).toMatchObject({ kind: 'enter', seenAgain: false, content: { identity: 'k1', file: 'b.csv' } });
  });

  it('opens a known letter again: seen once more, not new', () => {
    const death = rejectRow(place, deadRow('k1'), null, { ...known, state: 'closed' });
    expect(death).toMatchObject({ isNew: false, letter: { kind: 'enter', seenAgain: true } });
  });

  it('counts once where a run that is read again meets its own letter', () => {
    const own = { ...known, runId: 'r2', firstRunId: 'r2' };
    expect(rejectRow(place, deadRow('k1'), null, own)).toMatchObject({ isNew: true, letter: { seenAgain: false } });
    const met = { ...own, lastAtMs: 900 };
    expect(rejectRow(place, deadRow('k1'), null, met)).toMatchObject({ isNew: false, letter: { seenAgain: false } });
    const beforeTheClockWasSetBack = { ...own, lastAtMs: 7_000 };
    expect(rejectRow(place, deadRow('k1'), null, beforeTheClockWasSetBack)).toMatchObject({ isNew: true });
  });

  it('leaves a letter alone that a newer row has met since, and closes none of such', () => {
    const newer = { ...known, sequence: 3 };
    const keeps = { kind: 'keeps', id: 'd1', opensAgain: false };
    expect(rejectRow(place, deadRow('k1'), newer, newer)).toMatchObject({ letter: keeps, closes: null, isNew: false });
    expect(rejectRow(place, deadRow('k1', { code: 'emailInvalid' }), newer, null).closes).toBeNull();
    const ownRetry = { ...newer, state: 'redriven', redriveRunId: 'r2' } as const;
    expect(rejectRow(place, deadRow('k1'), ownRetry, ownRetry).letter).toMatchObject({ kind: 'enter' });
  });

  it('stays with the letter of another feed that it was to fix, and opens that again where nothing else would', () => {
    const other = { ...known, feed: 'shop' };
    const stays = { closes: null, closesOthersOfKey: false, isNew: false };
    const death = rejectRow(place, deadRow('k1', { code: 'otherFeed' }), other, null);
    expect(death).toEqual({ ...stays, letter: { kind: 'keeps', id: 'd1', opensAgain: false } });
    const closed = rejectRow(place, deadRow('k1', { code: 'otherFeed' }), { ...other, state: 'closed' }, null);
    expect(closed).toEqual({ ...stays, letter: { kind: 'keeps', id: 'd1', opensAgain: true } });
  });

  it('resolves the letter that it was to fix, where it is rejected for another reason', () => {
    expect(rejectRow(place, deadRow('k1', { code: 'emailInvalid' }), known, null).closes).toBe('d1');
    expect(rejectRow(place, deadRow('k1'), known, known).closes).toBeNull();
  });

  it('leaves that letter open where another row of it was rejected in the same run', () => {
    const met = { ...known, runId: place.runId };
    expect(rejectRow(place, deadRow('k1', { code: 'emailInvalid' }), met, null).closes).toBeNull();
  });

  it('keeps file and sequence of its letter in a redrive, and the sequence alone in a fix-file', () => {
    const content = (isRedrive: boolean) => rejectRow({ ...place, isRedrive }, deadRow('k1'), known, known).letter;
    expect(content(true)).toMatchObject({ content: { file: 'a.csv', sequence: 1 } });
    expect(content(false)).toMatchObject({ content: { file: 'b.csv', sequence: 1 } });
    const ofFile = rejectRow(place, deadRow('k1'), null, known).letter;
    expect(ofFile).toMatchObject({ content: { file: 'b.csv', sequence: 2 } });
  });

  it('without a key closes no other letter', () => {
    expect(rejectRow(place, deadRow(null), null, null).closesOthersOfKey).toBe(false);
  });
});

describe('a redrive', () => {
  const letter: LetterFacts = {
    ...{ ...known, feed: 'crm', key: 'k1', class: 'invalid', field: null, line: 3, lastAtMs: 5 },
  };
  const redrive = { runId: 'r9', feed: 'crm', ids: null, code: null, metBy: ['r1'], after: null, isTaking: true };
  const isTaken = (parts: Partial<RedriveRecord>, of: Partial<LetterFacts> = {}) =>
    takenBy({ ...redrive, ...parts })({ ...letter, ...of });

  it('takes open letters of its feed that fit its choice, and no others', () => {
    expect([isTaken({}), isTaken({ code: 'phoneInvalid' }), isTaken({ ids: ['d1'] })]).toEqual([true, true, true]);
    expect([isTaken({ code: 'another' }), isTaken({ ids: [] }), isTaken({ metBy: ['r2'] })]).toEqual([
      false,
      false,
      false,
    ]);
    expect([
      isTaken({}, { state: 'redriven' }),
      isTaken({}, { state: 'closed' }),
      isTaken({}, { feed: 'shop' }),
    ]).toEqual([false, false, false]);
  });
});

describe('a list', () => {
  it('is newest first, then by line and id', () => {
    const at = (lastAtMs: number, line: number, id: string) => ({ lastAtMs, line, id });
    const inOrder = [at(9, 7, 'd1'), at(8, 2, 'd4'), at(8, 3, 'd2'), at(8, 3, 'd3')];
    expect(inOrder.toReversed().toSorted(inListOrder)).toEqual(inOrder);
    expect(inListOrder(at(1, 1, 'd1'), at(1, 1, 'd1'))).toBe(0);
  });
});
