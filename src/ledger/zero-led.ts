/**
 * How long known numbers with zeros in front are. Keys lie in the order of their bytes, so that numbers are among other keys: `0032`,
 * `003A00000001`, `0041`. The look goes from page to page, and leaps over all keys that begin as the last one of a page where no number can be:
 * a feed's million ids that begin with `003A` cost one page.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyTables } from './tables/keys.ts';

const keysPerPage = 200;
/** Numbers of one export have one length, or a few. */
const numbersMax = 10_000;
/** Where no leap passes them, as `0000001-A`. */
const othersMax = 20_000;

/**
 * The lengths, in characters behind the prefix, of keys with a contact that are digits with a zero in front behind it, in any case of the
 * prefix; at most `limit`, of the first 10,000 such keys. Where they are among more than 20,000 others, the lengths from 1 to `limit`: any may
 * be there. Others get their turn after each page.
 */
export async function zeroLedLengths(
  keys: Pick<KeyTables, 'someContacts'>,
  prefix: string,
  limit: number,
): Promise<readonly number[]> {
  const lengths = new Set<number>();
  const folded = foldCase(prefix);
  const below = `${folded}1`;
  let from = `${folded}0`;
  let numbers = 0;
  let others = 0;
  // Ends: each page begins behind the one before, and both counts only grow.
  while (numbers < numbersMax && lengths.size < limit) {
    const page = await keys.someContacts(keysPerPage, { from, below });
    for (const { key, contactId } of page) {
      const isNumber = contactId !== null && /^\d+$/.test(key.slice(prefix.length));
      if (isNumber && lengths.size < limit) lengths.add(key.length - prefix.length);
      if (isNumber) numbers += 1;
      else others += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < keysPerPage) break;
    if (others > othersMax) return Array.from({ length: limit }, (_, index) => index + 1);
    from = `${folded}${nextNumber(last.key.slice(prefix.length))}`;
    await nextTurn();
  }
  return [...lengths];
}

/**
 * The first text of digits behind this one in the order of bytes. Digits come before letters and behind a hyphen, so the texts that begin with the
 * same digits are behind `003-` and before `003A`.
 * @param body begins with a zero.
 */
export function nextNumber(body: string): string {
  const digits = /^\d+/.exec(body)?.[0] ?? '';
  const other = body[digits.length];
  if (other === undefined || other < '0') return `${digits}0`;
  // Behind `0039A` there is no text that begins with `0039`: on with `004`.
  const raised = digits.replace(/9+$/, '');
  return `${raised.slice(0, -1)}${Number(raised.at(-1)) + 1}`;
}

/** As databases fold keys: ASCII letters only. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
