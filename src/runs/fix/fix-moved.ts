/**
 * Rows of a fix-file whose `_id` is that of another row, or of several.
 *
 * - As after a person has sorted some of the columns alone, the key is that of another letter. Neither row is put under the key of the other:
 *   the next fix-file has the row of the `_id` as it was.
 * - Copies of one row without a key that have got different keys: each goes in as a contact of its own, with a warning, as where rows share
 *   a letter that has a key (`fix-key.ts`).
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { TriedRow } from './fix-superseded.ts';

/** The same rows; those whose `_id` was moved are rejected with a word on that. @param letters of the rows at hand. */
export async function withMovedIds(
  deadLetters: Pick<Ledger['deadLetters'], 'ofKey'>,
  feed: string,
  letters: readonly DeadLetter[],
  rows: readonly TriedRow[],
): Promise<readonly TriedRow[]> {
  const keysHere = new Set(letters.flatMap((letter) => (letter.feed === feed ? (letter.key ?? []) : [])));
  const told: TriedRow[] = [];
  for (const row of rows) {
    const { otherKey = null, letter } = row;
    const isMoved =
      otherKey !== null && (keysHere.has(otherKey) || (await deadLetters.ofKey(feed, otherKey)).length > 0);
    told.push(isMoved && letter !== null ? { ...row, item: movedItem(row.item, letter, otherKey) } : row);
  }
  return told;
}

function movedItem(item: TriedRow['item'], { row: stored, key }: DeadLetter, otherKey: string): TriedRow['item'] {
  const { line, record } = item.row;
  const [old, given] = [JSON.stringify(key), JSON.stringify(otherKey)];
  const problem: Problem = {
    code: 'keyChanged',
    line,
    field: '_id',
    value: otherKey,
    message: `the row has the key ${given} of another rejected row, and by its _id it is the row of ${old}`,
    hint: `The _id is not in its own row any more, as after some of the columns were sorted alone. Sort the whole table, so that each _id is in the row of its key again, or take the fix-file again. The next fix-file has the row of ${old} as it was.`,
  };
  const row = stored === null ? item.row : { ...stored, line, record };
  const { letterId } = item;
  return {
    ...{ kind: 'broken', row, problem },
    ...(key === null ? {} : { key }),
    ...(letterId === undefined ? {} : { letterId }),
  };
}

/** The same rows; copies with other keys than the first of them have the warning. */
export function withCopiesTold(rows: readonly TriedRow[]): readonly TriedRow[] {
  const firstByRow = new Map<string, string>();
  return rows.map((row) => {
    const { item, letter, key } = row;
    if (item.kind !== 'row' || letter === null || letter.key !== null || key === null) return row;
    // Two rows of the original may look the same, and share the letter: they were in different lines.
    const name = `${letter.id} ${row.originalLine}`;
    const first = firstByRow.get(name) ?? key;
    firstByRow.set(name, first);
    if (first === key) return row;
    return { ...row, item: { ...item, warnings: [...(item.warnings ?? []), copied(item.row.line, first, key)] } };
  });
}

function copied(line: number, first: string, key: string): Problem {
  const [one, other] = [JSON.stringify(first), JSON.stringify(key)];
  const what = `the row is in the fix-file several times, with the keys ${one} and ${other}`;
  const hint = 'If that is not meant, undo the run, and leave the row in the fix-file once.';
  const message = `${what}: each goes in as a contact of its own; if that is not meant, undo the run, and leave the row in the fix-file once`;
  return { code: 'rowCopied', line, field: '_id', value: key, message, hint };
}
