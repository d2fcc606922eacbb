/**
 * Contact data inside of a member of JSON that by its name should hold it, and that nothing maps: `{"phone": {"cc": "49", "nsn": "…"}}`,
 * `{"phones": [{"nr": "…"}]}`. Pure.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject } from './cell.ts';
import { type ContactColumn, contactColumnOf } from './contact-columns.ts';
import { loneValueMemberOf } from './list-element.ts';
import { isPlaceholder } from './placeholder.ts';
import { unwrapped } from './wrapped-value.ts';

/** A text or number inside, with its path: `phone.cc`, `phones[].nr`. */
interface Leaf {
  readonly path: string;
  readonly text: string;
}

const depthMax = 4;
const phoneDigitsMin = 7;

/**
 * The column, with the line of a mapping that maps what is inside of the value. Null where that holds nothing of what the name says, as in
 * `{"email": {"verified": true}}`.
 */
export function contactInside(column: ContactColumn, name: string, value: JsonValue | undefined): ContactColumn | null {
  if (!isJsonObject(value) && !Array.isArray(value)) return null;
  const leaves = leavesOf(value, name, 1);
  if (!holdsContact(column.kind, leaves)) return null;
  // A number of which a part is elsewhere is no whole one.
  const counts = column.kind === 'phone' ? mayBeDialled : (leaf: Leaf) => isWhole(column.kind, leaf);
  const readable = new Set(leaves.filter(counts).map(({ path }) => path));
  const [path] = readable;
  const isElementRead =
    Array.isArray(value) && value.every((one) => isJsonObject(one) && loneValueMemberOf(one, name) !== null);
  if (isElementRead) return column;
  const inside = readable.size === 1 && path !== undefined ? path : `${name}${Array.isArray(value) ? '[]' : ''}.…`;
  return { ...column, line: column.line.replace(/"(?:[^"\\]|\\.)*"/, () => JSON.stringify(inside)) };
}

function leavesOf(raw: JsonValue, path: string, depth: number): readonly Leaf[] {
  const value = unwrapped(raw);
  if (typeof value === 'string' || typeof value === 'number') return [{ path, text: `${value}`.trim() }];
  if (depth > depthMax || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one: JsonValue) => leavesOf(one, `${path}[]`, depth + 1));
  return Object.entries(value).flatMap(([name, one]) => leavesOf(one, `${path}.${name}`, depth + 1));
}

type Kind = ContactColumn['kind'];

/** A number may be in several members, such as the code of its country and the rest. */
function holdsContact(kind: Kind, leaves: readonly Leaf[]): boolean {
  if (kind !== 'phone') return leaves.some((leaf) => isWhole(kind, leaf));
  const digits = leaves.filter(mayBeDialled).reduce((sum, { text }) => sum + digitsIn(text), 0);
  return digits >= phoneDigitsMin;
}

function isWhole(kind: Kind, leaf: Leaf): boolean {
  if (kind === 'phone') return mayBeDialled(leaf) && digitsIn(leaf.text) >= phoneDigitsMin;
  if (kind === 'email') return leaf.text.includes('@');
  const last = leaf.path.slice(leaf.path.lastIndexOf('.') + 1);
  const isNamed = /^(?:value|text|full)$/i.test(last) || contactColumnOf(last) !== null;
  return isNamed && /\p{L}/u.test(leaf.text) && !isPlaceholder(leaf.text, 'company');
}

/** Digits with signs between them: no date, link or id of letters. */
function mayBeDialled({ text }: Leaf): boolean {
  return /\d/.test(text) && /^[+\d\s()./-]+$/.test(text) && !/^\d{4}-\d{2}-\d{2}/.test(text);
}

function digitsIn(text: string): number {
  return text.replace(/\D/g, '').length;
}
