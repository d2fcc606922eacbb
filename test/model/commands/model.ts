/**
 * The simple model: per key, what the files said and what became of the contact. It knows nothing of queues, leases,
 * retries or crashes.
 */
import { type Column, clearCell, columnsOf, type Feed, type FileLine, type Key, sameCell } from './commands.ts';

/** What one file said of one key. */
export interface Row {
  readonly runId: string;
  /** The order of arrival, over all feeds. */
  readonly sequence: number;
  readonly feed: Feed;
  readonly line: number;
  /** By column; a blank cell is left out, and the token that clears is an empty text. */
  readonly cells: Readonly<Partial<Record<Column, string>>>;
}

export interface KeyModel {
  readonly rows: Row[];
  /**
   * A person deleted the contact: `known` to the ledger, it stays gone. A create whose reply was lost is not known yet:
   * the product cannot tell that contact from one that was never made, and may make it again.
   */
  deleted: 'no' | 'known' | 'unknown';
}

export interface Model {
  readonly keys: Map<Key, KeyModel>;
  readonly runs: { readonly id: string; readonly rowCount: number }[];
  /** Runs that a feed's repetition of itself was. */
  readonly repeats: Set<string>;
  /** Faults that were ever in force. */
  readonly faults: Set<string>;
  /** People may have saved between a read and the update that was planned from it, so that it no longer fits. */
  isRaced: boolean;
  /** Items that people typed in, each after its key, in lower case: two writers who do not see each other may both add one. */
  readonly addedByHand: Set<string>;
}

export const newModel = (): Model => ({
  keys: new Map(),
  runs: [],
  repeats: new Set(),
  faults: new Set(),
  isRaced: false,
  addedByHand: new Set(),
});

export function keyModel(model: Model, key: Key): KeyModel {
  const known = model.keys.get(key);
  if (known !== undefined) return known;
  const fresh: KeyModel = { rows: [], deleted: 'no' };
  model.keys.set(key, fresh);
  return fresh;
}

/** The lines as they stand in the file: a cell that says the same says what the feed's last file said. */
export function writtenCells(model: Model, feed: Feed, { key, cells }: FileLine): readonly string[] {
  const last = model.keys.get(key)?.rows.findLast((row) => row.feed === feed);
  return columnsOf[feed].map((column, index) => {
    const cell = cells[index] ?? '';
    if (cell !== sameCell) return cell;
    if (last === undefined) return column === 'firstName' ? 'Fir' : '';
    const before = last.cells[column];
    if (before === undefined) return '';
    return before === '' ? clearCell : before;
  });
}

/** A line as it stands in the file: a cell for each column of its feed. */
export interface WrittenLine {
  readonly key: Key;
  readonly cells: readonly string[];
}

export function csvOf(feed: Feed, lines: readonly WrittenLine[]): string {
  const rows = lines.map(({ key, cells }) => [key, ...cells].join(','));
  return [['externalId', ...columnsOf[feed]].join(','), ...rows].map((row) => `${row}\r\n`).join('');
}

/** `cells` as written. */
export function rowOf(place: Omit<Row, 'cells'>, cells: readonly string[]): Row {
  const said = columnsOf[place.feed].flatMap((column, index) => {
    const cell = cells[index] ?? '';
    return cell === '' ? [] : [[column, cell === clearCell ? '' : cell] as const];
  });
  return { ...place, cells: Object.fromEntries(said) };
}
