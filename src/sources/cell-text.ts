/**
 * What is wrong with the text of one cell or JSON string, whatever the format.
 */
import type { Problem } from '#src/contacts/outcome.ts';

/** Control characters but tab, line feed and carriage return. C1 too: they are the mark of a wrong encoding. */
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const valueCharsMax = 200;

export function holdsControlCharacter(text: string): boolean {
  return controlCharacter.test(text);
}

/** Whether `text` is longer than `bytesMax` in UTF-8; measures only what could be. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
}

/** A cell as a report shows it: well-formed, at most 200 characters. */
export function shownValue(text: string): string {
  return text.slice(0, valueCharsMax).toWellFormed();
}

/** Whether `cellProblem` has something to say. */
export function isSoundCell(text: string, bytesMax: number): boolean {
  return !isLongerThan(text, bytesMax) && !controlCharacter.test(text) && text.isWellFormed();
}

/** The problem of one cell, or null. Codes: `cellTooLong`, `controlCharacter`, `loneSurrogate`. */
export function cellProblem(text: string, line: number, field: string, bytesMax: number): Problem | null {
  const about = { line, field, value: shownValue(text) };
  if (isLongerThan(text, bytesMax)) {
    const message = `the value is longer than ${bytesMax} bytes`;
    return { ...about, code: 'cellTooLong', message, hint: 'Shorten it, or leave the column out of the export.' };
  }
  const control = controlCharacter.exec(text)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const message = `the value holds the control character U+${code}`;
    const hint = 'Remove it; where many rows have one, the file was probably saved in another encoding.';
    return { ...about, code: 'controlCharacter', message, hint };
  }
  if (!text.isWellFormed()) {
    const message = 'the value holds half a character (a lone surrogate)';
    return { ...about, code: 'loneSurrogate', message, hint: 'Type the value anew in the system it comes from.' };
  }
  return null;
}
