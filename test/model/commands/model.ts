/**
 * The simple model: per key, what the files said and what people did, in the order it happened. It knows nothing of
 * queues, leases, retries or crashes.
 */
import type { Feed, FileLine, Key } from './commands.ts';

/** What one file said of one key. */
export interface Row {
  readonly kind: 'row';
  readonly runId: string;
  readonly feed: Feed;
  readonly line: number;
  readonly role: string;
  readonly phone: string;
}

export interface Edit {
  readonly kind: 'role' | 'addPhone' | 'removePhone';
  readonly value: string;
  /** Runs that were at rest then: their rows were written before the edit, or never will be. */
  readonly before: ReadonlySet<string>;
}

export interface KeyModel {
  /** Rows and edits in the order they came. */
  readonly history: (Row | Edit)[];
  /**
   * A person deleted the contact: `known` to the ledger, it stays gone. A create whose reply was lost is not known yet:
   * the product cannot tell that contact from one that was never made, and may make it again.
   */
  deleted: 'no' | 'known' | 'unknown';
}

export interface Model {
  readonly keys: Map<Key, KeyModel>;
  readonly runs: { readonly id: string; readonly rowCount: number }[];
  /** Faults that were ever in force. */
  readonly faults: Set<string>;
}

export const newModel = (): Model => ({ keys: new Map(), runs: [], faults: new Set() });

export const firstNameOf = (key: Key): string => `Ann ${key}`;
const roles = ['Engineer', 'Sales', 'Buyer'] as const;
/** Numbers tell who wrote them: each feed has ten, people have the rest. */
const firstNumber: Readonly<Record<Feed, number>> = { main: 100, crm: 110 };
const firstByHand = 120;

const phoneNumber = (last: number): string => `+1415555${String(last).padStart(4, '0')}`;
export const phoneByHand = (index: number): string => phoneNumber(firstByHand + (index % 80));
export const isOfFeed = (feed: Feed, phone: string): boolean => {
  const last = Number(phone.slice(-4));
  return last >= firstNumber[feed] && last < firstNumber[feed] + 10;
};

export function rowOf(runId: string, feed: Feed, line: FileLine, index: number): Row {
  const phone = phoneNumber(firstNumber[feed] + line.phone);
  return { kind: 'row', runId, feed, line: index + 2, role: roles[line.role] ?? '', phone };
}

export function csvOf(feed: Feed, lines: readonly FileLine[]): string {
  const rows = lines.map((line, index) => {
    const { role, phone } = rowOf('', feed, line, index);
    return `${line.key},${firstNameOf(line.key)},${role},${phone}`;
  });
  return ['externalId,firstName,role,phone', ...rows].map((row) => `${row}\r\n`).join('');
}

export function keyModel(model: Model, key: Key): KeyModel {
  const known = model.keys.get(key);
  if (known !== undefined) return known;
  const fresh: KeyModel = { history: [], deleted: 'no' };
  model.keys.set(key, fresh);
  return fresh;
}
