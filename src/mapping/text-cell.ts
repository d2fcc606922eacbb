/**
 * Plain texts: trimmed, Unicode NFC; control characters and halves of characters kill the row.
 */
import { bad, type Flaw, good, type Reading, type WarningCode } from './flaw.ts';

const lineBreakReplaced: Flaw<WarningCode> = {
  code: 'lineBreakReplaced',
  message: 'a line break or tab inside the text was read as a space',
  hint: 'Nothing to do, unless the lines were meant to be different fields.',
};

/** What no text may hold; null when it holds none of it. Line breaks and tabs are judged by the caller. */
export function characterFlaw(text: string): ReturnType<typeof bad> | null {
  if (!text.isWellFormed()) {
    return bad('brokenCharacter', 'the text holds half a character', 'Export the file again as UTF-8.');
  }
  if (/[^\P{Cc}\t\r\n]/u.test(text)) {
    return bad(
      'controlCharacter',
      'the text holds a control character',
      'Remove it; it is often invisible: type the text anew.',
    );
  }
  return null;
}

/** One line of text: a name, a company, a label. A line break or tab inside becomes one space, with a warning. */
export function readText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  if (flaw !== null) return flaw;
  const trimmed = text.normalize('NFC').trim();
  // Each run is matched once, whatever is in it: a pattern that asks for the line break tries again at every space.
  const oneLine = trimmed.replace(/[\t\r\n ]+/g, (run) => (/[\t\r\n]/.test(run) ? ' ' : run));
  return good(oneLine, oneLine === trimmed ? [] : [lineBreakReplaced]);
}

/** Text of several lines: the value of a custom field. Line ends become `\n`, so that a file's own kind of line end is no change. */
export function readLongText(text: string): Reading<string> {
  const flaw = characterFlaw(text);
  return flaw ?? good(text.normalize('NFC').replace(/\r\n?/g, '\n').trim());
}
