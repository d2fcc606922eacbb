/**
 * Rejected rows go into the ledger, and letters are closed: parts of the transactions that stage rows and settle records.
 *
 * What a rejected row changes is decided by `rules/letters.ts`, row by row. The letters of many rows are read together and written
 * together, so that a later row of the same call meets what an earlier one changed.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FieldName } from '#src/contacts/desired.ts';
import { duplicateKey } from '#src/contacts/outcome.ts';
import { type DeadLetter, othersPerLetterMax } from '#src/ledger/letters.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import {
  type DeathPlace,
  type DyingRun,
  deathPlace,
  isAnsweredBy,
  isMetSince,
  isOfHeld,
  isUnsettled,
  type LetterContent,
  letterIdentity,
  partIn,
  rejectRow,
  type Success,
  unsettledStates,
} from '#src/ledger/rules/letters.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import type { LetterEntry, LetterFacts } from '#src/ledger/tables/letters.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import type { Row } from '#src/sources/row.ts';
import { speakFor, unchangedKind } from './confirmed.ts';

type LetterRoom = Pick<Tables, 'letters'>;

/** A row that was rejected, on its way into the ledger. */
export interface DyingRow {
  readonly dead: DeadRow;
  /** The run whose file said it, where that is not the run at hand. */
  readonly sequence?: number;
}

/**
 * Enters rejected rows of one run: their letters, and the rows in their run. One call should not have more than 500 rows.
 * @returns how many letters are new with this run, each counted once since that instant.
 */
export async function enterDeadRows(
  { letters: tables }: LetterRoom,
  run: DyingRun,
  rows: readonly DyingRow[],
  moment: { readonly atMs: number; readonly readSinceMs?: number },
): Promise<number> {
  if (rows.length === 0) return 0;
  const place = deathPlace(run, moment);
  const met = await lettersAtHand(tables, place, rows);
  const entries = new Map<string, LetterEntry>();
  const closed = new Set<string>();
  const opened = new Set<string>();
  const close = (letter: LetterFacts): void => {
    if (!isUnsettled(letter.state)) return;
    met.put({ ...letter, state: 'closed', redriveRunId: null });
    closed.add(letter.id);
  };
  const others = await othersAtHand(tables, met.all(), place);
  const ofRun: { readonly dead: DeadRow; readonly letterId: string }[] = [];
  let newCount = 0;
  for (const { dead, sequence = place.sequence } of rows) {
    const fixed = dead.letterId === undefined ? null : met.byId(dead.letterId);
    const identity = letterIdentity(dead, fixed);
    const known = met.byIdentity(identity, dead.code);
    const death = rejectRow({ ...place, sequence }, dead, fixed, known);
    if (death.closes !== null && fixed !== null) close(fixed);
    if (death.closesOthersOfKey) {
      for (const other of met.triedOfKey(dead.key))
        if (other.code !== dead.code && partIn(other.identity) === partIn(identity)) close(other);
    }
    if (death.letter.kind === 'keeps') {
      if (death.letter.opensAgain) opened.add(death.letter.id);
      ofRun.push({ dead, letterId: death.letter.id });
      continue;
    }
    const id = known?.id ?? `d${randomUUID().replaceAll('-', '').slice(0, 12)}`;
    const { content, seenAgain } = death.letter;
    const seenBy = (entries.get(id)?.seenBy ?? 0) + (seenAgain ? 1 : 0);
    const firstRunId = known?.firstRunId ?? place.runId;
    const entry = { ...content, others: others(id, content, dead.letterId), id, firstRunId, seenBy };
    entries.set(id, entry);
    closed.delete(id);
    met.put({ ...entry, state: 'open', lastAtMs: place.atMs });
    ofRun.push({ dead, letterId: id });
    if (death.isNew) newCount += 1;
  }
  await tables.write([...entries.values()]);
  await tables.change([...closed], closing);
  await tables.change([...opened], { state: 'open', redriveRunId: null });
  await tables.addDeadRows(place.runSequence, ofRun);
  return newCount;
}

/** The letters that rejected rows may belong to, as the rows before have changed them. */
interface LettersAtHand {
  /** Of whichever feed. */
  byId(id: string): LetterFacts | null;
  /** Of the feed at hand. */
  byIdentity(identity: string, code: string): LetterFacts | null;
  /** Those that the run at hand tries again. */
  triedOfKey(key: string | null): readonly LetterFacts[];
  put(letter: LetterFacts): void;
  all(): readonly LetterFacts[];
}

/**
 * The rows that a letter had before the one at hand, each once: rows that share it are restored each from its own cells
 * (`src/runs/fix/fix-own-row.ts`). Those of an earlier run stay only beside one of them that is tried again: a new file says all rows of its
 * key, and beside them the older ones would be taken for them. Only letters that several rows of one run have, or had, are read for it.
 */
async function othersAtHand(
  tables: Tables['letters'],
  letters: readonly LetterFacts[],
  { runId }: DeathPlace,
): Promise<(id: string, now: Pick<LetterContent, 'key' | 'row'>, triedId: string | undefined) => readonly Row[]> {
  const ids = letters.flatMap(({ id, code, runId: metBy }) => (code === duplicateKey || metBy === runId ? [id] : []));
  const read = ids.length === 0 ? [] : await tables.read(ids);
  // A person who is forgotten is found by the key of the letter: it keeps no row of another one.
  const nameOf = (id: string, key: string): string => `${id} ${key}`;
  const before = new Map<string, { readonly isOfRun: boolean; readonly rows: readonly RowWithText[] }>();
  for (const { id, key, row, others = [], runId: metBy } of read) {
    if (key === null || row === null) continue;
    before.set(nameOf(id, key), { isOfRun: metBy === runId, rows: [...others, row].map(withText) });
  }
  return (id, { key, row }, triedId) => {
    // Without a key nothing tells that a person who is forgotten is in another row of the letter.
    if (row === null || key === null) return [];
    const [name, now] = [nameOf(id, key), withText(row)];
    const { isOfRun = false, rows = [] } = before.get(name) ?? {};
    const isKept = isOfRun || (triedId === id && rows.some(({ text }) => text === now.text));
    const others = isKept ? rows.filter(({ text }) => text !== now.text).slice(-othersPerLetterMax) : [];
    before.set(name, { isOfRun: true, rows: [...others, now] });
    return others.map((one) => one.row);
  };
}

interface RowWithText {
  readonly row: Row;
  readonly text: string;
}

function withText(row: Row): RowWithText {
  return { row, text: JSON.stringify(row.kind === 'cells' ? row.cells : row.object) };
}

async function lettersAtHand(
  tables: Tables['letters'],
  { feed, runId, isRedrive }: DeathPlace,
  rows: readonly DyingRow[],
): Promise<LettersAtHand> {
  const letters = new Map<string, LetterFacts>();
  const ids = new Map<string, string>();
  const ofKey = new Map<string | null, Set<string>>();
  const put = (letter: LetterFacts): void => {
    letters.set(letter.id, letter);
    ids.set(placeOf(letter.identity, letter.code), letter.id);
    ofKey.set(letter.key, (ofKey.get(letter.key) ?? new Set()).add(letter.id));
  };
  const byId = (id: string): LetterFacts | null => letters.get(id) ?? null;

  const fixes = [...new Set(rows.flatMap(({ dead }) => dead.letterId ?? []))];
  if (fixes.length > 0) {
    for (const letter of await tables.facts({ by: 'id', ids: fixes })) {
      if (letter.feed === feed) put(letter);
      else letters.set(letter.id, letter);
    }
  }
  const of = rows.map(({ dead }) => ({
    identity: letterIdentity(dead, dead.letterId === undefined ? null : byId(dead.letterId)),
    code: dead.code,
  }));
  for (const letter of await tables.facts({ by: 'identity', feed, of })) put(letter);
  // Only a redrive tries letters again.
  if (isRedrive) {
    const keys = [...new Set(rows.flatMap(({ dead }) => dead.key ?? []))];
    for (const letter of await tables.facts({ by: 'key', feed, keys })) put(letter);
  }
  return {
    byId,
    byIdentity: (identity, code) => byId(ids.get(placeOf(identity, code)) ?? ''),
    triedOfKey: (key) =>
      [...(ofKey.get(key) ?? [])].flatMap((id) => {
        const letter = byId(id);
        return letter?.state === 'redriven' && letter.redriveRunId === runId ? [letter] : [];
      }),
    put,
    all: () => [...letters.values()],
  };
}

const closing = { state: 'closed', redriveRunId: null } as const;

const placeOf = (identity: string, code: string): string => JSON.stringify([identity, code]);

/** How many letters one transaction changes. */
export const lettersPerSlice = 250;

/** A letter that has nothing left to be done, and the sequence of the run whose file said its row. */
export interface DoneLetter {
  readonly id: string;
  readonly sequence: number;
}

/**
 * Closes letters of which a row went in, or has nothing left to be done. One that the run has met itself stays: another of its rows was
 * rejected beside that one. @param runId the run that has done it.
 */
export async function closeLettersOfRows(room: LetterRoom, runId: string, done: readonly DoneLetter[]): Promise<void> {
  await closeLetters(room, runId, done, (letter) => letter.runId !== runId);
}

/** Settled letters, and those that a newer row has met since, stay as they are. */
async function closeLetters(
  { letters }: LetterRoom,
  runId: string,
  done: readonly DoneLetter[],
  fits: (letter: LetterFacts) => boolean = () => true,
): Promise<void> {
  if (done.length === 0) return;
  const sequences = new Map(done.map(({ id, sequence }) => [id, sequence]));
  const found = await letters.facts({ by: 'id', ids: [...sequences.keys()] });
  await closeUnsettled(
    letters,
    found.filter((letter) => fits(letter) && !isMetSince(letter, { runId, sequence: sequences.get(letter.id) ?? 0 })),
  );
}

/** Closes the letters of the feed that these successes answer. */
export async function closeLettersOf(
  { letters }: LetterRoom,
  feed: string,
  successes: readonly Success[],
): Promise<void> {
  if (successes.length === 0) return;
  const ofKey = Map.groupBy(successes, ({ key }) => key);
  const found = await letters.facts({ by: 'key', feed, keys: [...ofKey.keys()] });
  const heldFields = await heldFieldsOf(letters, found);
  await closeUnsettled(
    letters,
    found.filter((letter) =>
      (ofKey.get(letter.key ?? '') ?? []).some((success) => isAnsweredBy(success, letter, heldFields.get(letter.id))),
    ),
  );
}

/** By id, which held fields letters of such are about. */
async function heldFieldsOf(
  letters: Tables['letters'],
  found: readonly LetterFacts[],
): Promise<ReadonlyMap<string, readonly FieldName[]>> {
  const ids = found.filter(isOfHeld).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  return new Map(
    (await letters.read(ids)).map(({ id, desired }) => [id, desired?.taken?.map(({ field }) => field) ?? []]),
  );
}

async function closeUnsettled(
  letters: Tables['letters'],
  found: readonly Pick<DeadLetter, 'id' | 'state'>[],
): Promise<void> {
  const ids = found.filter(({ state }) => isUnsettled(state)).map(({ id }) => id);
  await letters.change(ids, closing);
}

/**
 * Closes the unsettled letters whose keys a run that was applied found unchanged: a success, too. Those of newer rows stay, and so do those
 * that no row answers. The rows of a redrive or a fix-file are older than it: of which age, the feed's memory of the key tells. Slice by slice;
 * a process that ends the run again after a crash does it again. A closed letter may still come back in a fix-file: its key remembers the
 * run, whose bitmap is not kept as long.
 */
export async function closeUnchanged({ reads, transact }: Store, runId: string): Promise<void> {
  const run = await reads.runs.place(runId);
  if (run === null) return;
  const { feed, sequence } = run;
  const [unchanged] = await reads.runs.bitmaps(feed, unchangedKind(run), sequence, sequence);
  if (unchanged === undefined) return;
  let after: LetterFacts | null = null;
  // Ends with the first short page: each goes on where the one before ended.
  for (;;) {
    const page: readonly LetterFacts[] = await reads.letters.facts({
      ...{ by: 'met', feed, states: unsettledStates },
      ...{ after, limit: lettersPerSlice },
    });
    const keys = [...new Set(page.flatMap(({ key }) => key ?? []))];
    const known = keys.length === 0 ? null : await reads.keys.read(keys, [feed]);
    const closed = page.filter((letter) => {
      const rows = known?.get(letter.key ?? '');
      const number = rows?.contact?.number ?? null;
      const saidIn = run.kind === 'file' ? sequence : (rows?.known[0]?.spoken ?? 0);
      return number !== null && hasBit(unchanged.bits, number) && isAnsweredBy({ sequence: saidIn }, letter);
    });
    const spoken = run.kind === 'file' ? [...new Set(closed.flatMap(({ key }) => key ?? []))] : [];
    if (closed.length > 0) {
      await transact(async (tables) => {
        await closeLetters(tables, runId, closed);
        await speakFor(
          tables,
          feed,
          spoken.map((key) => ({ key, sequence })),
        );
      });
    }
    if (page.length < lettersPerSlice) return;
    after = page.at(-1) ?? null;
    await nextTurn();
  }
}
