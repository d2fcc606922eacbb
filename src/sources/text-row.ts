/**
 * Rows that hold a text under `_text`, since it could not be read as a record (`textRow`): in a fix-file and by `dead edit` a person repairs
 * the text, or writes the members of the record in its place (`docs/rules.md`, "Dead letters"). Pure.
 */
import { JsonError } from '#src/json/place.ts';
import { createMeasure } from '#src/json/value-scanner.ts';
import { createTally, defaultSourceLimits } from './format-reader.ts';
import { itemOf, jsonInvalid, textMember, textRow } from './json-item.ts';
import type { JsonValue, Row, SourceItem } from './row.ts';

/** The text of a row that holds nothing else; null for any other row. */
export function textAlone(row: Row): string | null {
  return row.kind === 'object' && Object.keys(row.object).length === 1 ? textIn(row.object) : null;
}

/** The text beside whatever else is in the object; null where there is none. */
export function textIn(object: { readonly [name: string]: JsonValue }): string | null {
  const text = object[textMember];
  return typeof text === 'string' ? text : null;
}

const { cellBytesMax, jsonDepthMax } = defaultSourceLimits;
const measure = createMeasure(jsonDepthMax);

/** Reads the text as a line of JSON. @returns the record, broken where it is none; in the place of the row that holds the text. */
export function readTextOf({ line, record }: Row, text: string): SourceItem {
  const place = { line, column: 1 };
  try {
    const { memberCount, isTooDeep } = measure(Buffer.from(text));
    if (isTooDeep)
      throw new JsonError('tooDeep', `more than ${jsonDepthMax} lists and objects inside each other`, place);
    const item = itemOf(text, memberCount, place, cellBytesMax, createTally('', 1));
    return { ...item, row: { ...item.row, record } };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { type: 'broken', row: textRow(text, line, record), problem: jsonInvalid(error, text, line) };
  }
}
