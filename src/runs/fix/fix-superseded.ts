/**
 * Rows of a fix-file whose keys their feed has settled since (`docs/rules.md`, "Dead letters"): they are skipped, whether they were corrected or
 * not, so that an older copy of a fix-file opens no letter of a person who went in meanwhile.
 *
 * By a newer row of the feed any of them is settled. A row that is as it was when its letter closed says nothing new either: it is skipped where
 * it would be rejected again, and so are all rows of one key that collide once more. One that a person chose among several of its key is no such row.
 */
import { duplicateKey } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { isUnsettled } from '#src/ledger/rules/letters.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { StageItem } from '#src/runs/compare.ts';

/** A row of a fix-file on its way into staging. */
export interface TriedRow {
  readonly item: StageItem;
  /** Null where the feed has no such letter, or no row stands for it. */
  readonly letter: DeadLetter | null;
  /** By what is to be looked up whether it is settled; null where it has none. */
  readonly key: string | null;
  /** It says what its letter has. */
  readonly isAsItWas: boolean;
  /** No other row of the slice names its letter. */
  readonly isAlone: boolean;
  /** Its `_line`. */
  readonly originalLine: string;
  /** Of a row that is rejected for it: the key that it has in place of its letter's. */
  readonly otherKey?: string;
}

/** The same rows as they are to be staged. */
export async function withSuperseded(
  contacts: Pick<Ledger['contacts'], 'superseded'>,
  feed: string,
  rows: readonly TriedRow[],
  duplicateKeys: CompiledMapping['duplicateKeys'],
): Promise<readonly StageItem[]> {
  const asked = rows.flatMap((row): readonly Asked[] => {
    const { letter, key } = row;
    if (letter === null || key === null) return [];
    const newer = { key, sequence: letter.sequence };
    return saysNothingNew(row) ? [newer, { key, sequence: letter.sequence - 1 }] : [newer];
  });
  const settled = await settledSince(contacts, feed, asked);
  const collides = duplicateKeys === 'dead' ? lettersAsTheyWere(rows) : new Set<string>();
  return rows.map((row): StageItem => {
    const { item, letter, key } = row;
    if (letter === null) return item;
    if (key === null) return saysNothingNew(row) ? { ...item, superseded: 'ifRejected' } : item;
    if (settled.has(nameOf({ key, sequence: letter.sequence }))) return { ...item, superseded: 'always' };
    const isSettled = saysNothingNew(row) && settled.has(nameOf({ key, sequence: letter.sequence - 1 }));
    // Each of them could be read: that they collide again is known before they are mapped.
    return isSettled ? { ...item, superseded: collides.has(letter.id) ? 'always' : 'ifRejected' } : item;
  });
}

/** Letters of rows with one key that differ, of which several rows are here and none was corrected. */
function lettersAsTheyWere(rows: readonly TriedRow[]): ReadonlySet<string> {
  const ofLetter = Map.groupBy(rows, ({ letter }) => letter?.id ?? '');
  const found = [...ofLetter].filter(
    ([, alike]) =>
      alike.every(({ letter, isAlone, isAsItWas }) => letter?.code === duplicateKey && !isAlone && isAsItWas) &&
      new Set(alike.map(({ item: { row } }) => JSON.stringify(row.kind === 'cells' ? row.cells : row.object))).size > 1,
  );
  return new Set(found.map(([id]) => id));
}

/** Without a key its letter tells alone; one that was dropped is opened again by its row. */
function saysNothingNew({ letter, key, isAsItWas, isAlone }: TriedRow): boolean {
  if (letter === null || !isAsItWas || (letter.code === duplicateKey && isAlone)) return false;
  return key === null ? letter.state === 'closed' : !isUnsettled(letter.state);
}

interface Asked {
  readonly key: string;
  readonly sequence: number;
}

const nameOf = ({ key, sequence }: Asked): string => `${sequence} ${key}`;

/** Those whose keys the feed has settled behind that run. */
async function settledSince(
  contacts: Pick<Ledger['contacts'], 'superseded'>,
  feed: string,
  asked: readonly Asked[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  // A key may be asked for by letters of several runs.
  for (const [sequence, keys] of Map.groupBy(asked, (one) => one.sequence)) {
    const distinct = [...new Set(keys.map(({ key }) => key))].map((key) => ({ key, sequence }));
    for (const key of await contacts.superseded({ feed, keys: distinct })) found.add(nameOf({ key, sequence }));
  }
  return found;
}
