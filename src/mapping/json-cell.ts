/**
 * JSON in one cell of a table, as databases export a column of lists: `[{"type": "work", "number": "+1…"}]`; and what else programs write
 * in place of one number or address. Pure.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { type Flaw, isJsonObject, memberOf, type RejectionCode } from './cell.ts';
import { valueMemberOf } from './list-element.ts';
import { isPlaceholder } from './placeholder.ts';

const listForm = /^\s*(?:\[\s*[{"]|\{\s*")/;

/** The elements of a list that holds some, or one object by itself. Null for any other text. */
export function elementsInCell(text: string): readonly JsonValue[] | null {
  if (!listForm.test(text) || isPlaceholder(text, 'item')) return null;
  try {
    const value: JsonValue = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return null;
  }
}

/** The values of such a list as texts; any other text as it is. */
export function textsInCell(text: string): readonly string[] {
  const elements = elementsInCell(text);
  if (elements === null) return [text];
  const values = elements.map((element) => {
    const name = isJsonObject(element) ? valueMemberOf(element) : null;
    return isJsonObject(element) && name !== null ? memberOf(element, name) : element;
  });
  return values.map((value) => (typeof value === 'string' || typeof value === 'number' ? `${value}` : text));
}

/** Of an element in a cell whose value has no known name: no path of a mapping leads into a cell. */
export const valueUnknownInCell = (flaw: Flaw): Flaw => ({
  ...flaw,
  hint: 'Call the member "value" in the export, or export each value as a column of its own.',
});

/**
 * Of a cell that cannot be read: what it is, where that is plain to see.
 *
 * @param isRead whether a piece of the cell can be read by itself: `CORP\nina@example.com` holds no escape.
 */
export function namedFlaw(
  text: string,
  flaw: Flaw<RejectionCode>,
  isRead: (piece: string) => boolean,
): Flaw<RejectionCode> {
  if (/^\s*[[{].*[\]}]\s*$/s.test(text)) {
    const message = 'the cell holds a list or an object of a program, which is no JSON that can be read';
    const hint = 'Export each value as a column of its own, or the list as JSON: [{"type": "work", "value": "…"}].';
    return { ...flaw, message, hint };
  }
  const pieces = text.split(escapeCode);
  if (pieces.length < 2 || !pieces.every((piece) => piece.trim() === '' || isRead(piece))) return flaw;
  const message = 'the cell holds the escape of a line break or a tab, such as \\n, in place of the character';
  return {
    ...flaw,
    message,
    hint: 'Export the file again as CSV with the character itself in quotes; mysql -B, for one, writes such escapes.',
  };
}

const escapeCode = /\\[nrt]/;
