/**
 * Whether JSON text is one document or one object per line. The file's name does not decide: a `.json` often holds
 * lines, and a `.jsonl` now and then an array.
 */
import type { PeekedText } from '#src/sources/text-stream.ts';

export type JsonForm = 'document' | 'lines';

/** Enough of the text to tell: its first line, and the first character of the next line that is not blank. */
export function isEnoughForForm(head: string, recordBytesMax: number): boolean {
  const start = head.trimStart();
  if (start === '') return head.length > recordBytesMax;
  return start[0] !== '{' || head.length > recordBytesMax || secondLineStart(start) !== null;
}

/** `named` is what the ending says; it decides where the text leaves it open. */
export function jsonFormOf(text: PeekedText, named: JsonForm): JsonForm {
  const start = text.head.trimStart();
  if (start[0] === '[') return 'document';
  if (named === 'lines' || start === '') return named;
  // Line after line begins with an object; inside a document the second line begins with a member name.
  const firstLine = start.split(/[\r\n]/, 1)[0] ?? '';
  return start[0] === '{' && firstLine.trimEnd().endsWith('}') && secondLineStart(start) === '{' ? 'lines' : 'document';
}

/** The first character behind the first line that is not white space. */
function secondLineStart(start: string): string | null {
  const lineEnd = start.search(/[\r\n]/);
  return lineEnd < 0 ? null : (start.slice(lineEnd).trimStart()[0] ?? null);
}
