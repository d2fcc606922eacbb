/**
 * The key, `externalId` (`rules.md`, "Workspace, feed, key"): trimmed, NFC, case kept, 1 to 75 code points.
 *
 * Empty, longer, with control characters, or damaged by a spreadsheet: the row is dead, the key is never guessed. What
 * other programs merely put around a key is taken off, and told: else the same people would come twice, once by each
 * program.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { readCell } from './cell.ts';
import { bad, type DeadCode, type Flaw, good, type Reading, type WarningCode } from './flaw.ts';
import { isPlaceholder } from './placeholder.ts';
import { characterFlaw } from './text-cell.ts';

export const keyLengthMax = 75;

export const keyMissing: Flaw<DeadCode> = {
  code: 'keyMissing',
  message: 'the row has no key',
  hint: 'Fill in the key: without it nobody can tell whose row this is.',
};

/**
 * A number as a spreadsheet shows it when it is too long for the column: `1.2E+11`. A mantissa with decimals or an
 * exponent with its sign is asked for, since `1e5` and `12E5` are good article numbers.
 */
const spreadsheetNumber = /^[+-]?\d(?:[.,]\d+E\+?|E\+)\d{1,3}$/i;
/** `#REF!`, `#NAME?`, `#####`: what a spreadsheet shows instead of a value. */
const spreadsheetError = /^#(?:REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|N\/A|#+)$/i;

const unguarded: Flaw<WarningCode> = {
  code: 'keyUnguarded',
  message: `the key is guarded against formulas (by ' or ="…") and was read without the guard`,
  hint: 'Nothing to do: the same key without the guard is the same contact.',
};
const decimalsDropped: Flaw<WarningCode> = {
  code: 'keyDecimalsDropped',
  message: 'the key ends in .0, as some programs write whole numbers, and was read without it',
  hint: 'Export the column as text if the .0 belongs to the key.',
};
/** Programs that write `123.0` count in binary fractions: further digits are not the ones that were meant. */
const wholeNumberDigitsMax = 15;

/** `prefix` is the mapping's `keyPrefix`, or an empty string; it counts in the length. */
export function readKey(raw: JsonValue, prefix: string, from: 'csv' | 'json'): Reading<string> {
  const cell = readCell(raw, from);
  if (cell.kind === 'wrong') return { ok: false, flaw: cell.flaw };
  if (cell.kind === 'list') return bad('notText', 'the key is a list', 'Write one key per row, as a string.');
  if (cell.kind !== 'text' || isPlaceholder(cell.text)) {
    return { ok: false, flaw: keyMissing };
  }
  const bare = from === 'csv' ? withoutGuard(cell.text) : cell.text;
  const whole = /^\d+(?=\.0$)/.exec(bare)?.[0] ?? null;
  const text = whole ?? bare;
  if (text === '') return { ok: false, flaw: keyMissing };
  const isInexact = whole !== null && whole.length > wholeNumberDigitsMax;
  if (isInexact || spreadsheetNumber.test(text) || spreadsheetError.test(text)) {
    const hint = 'Format the key column as text in the spreadsheet, or export again without opening the file in one.';
    return bad('keyDamaged', 'a spreadsheet has damaged the key', hint);
  }
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  if (/[\t\r\n]/.test(text)) {
    return bad('controlCharacter', 'the key holds a line break or a tab', 'Write the key on one line.');
  }
  const key = `${prefix}${text}`.normalize('NFC');
  const length = [...key].length;
  if (length <= keyLengthMax) {
    const wasGuarded = typeof raw === 'string' && bare !== raw.trim();
    return good(key, [...(wasGuarded ? [unguarded] : []), ...(whole === null ? [] : [decimalsDropped])]);
  }
  const subject = prefix === '' ? 'the key' : 'the key with its prefix';
  return bad(
    'keyTooLong',
    `${subject} has ${length} characters; ${keyLengthMax} is the most`,
    'Use a shorter id column.',
  );
}

/** `'123` and `=+123`: an apostrophe before any key, as an export of ids has it, and the sign of a formula that is a number. */
function withoutGuard(text: string): string {
  return text
    .replace(/^'/, '')
    .trim()
    .replace(/^=(?=[+-]?\d+$)/, '');
}
