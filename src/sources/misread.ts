/**
 * Text that was decoded wrongly before it came here: UTF-8 that another program took for Windows-1252 or Mac Roman ("MÃ¼ller",
 * "M√ºller"), or of which letters are lost ("M�ller"). It is valid text, so no encoding that is chosen here can repair it. It is
 * read as it is, with a warning, since only the program that makes the export knows what it was.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { shownValue } from './row.ts';

/**
 * What the two bytes of a letter in UTF-8 look like in Windows-1252, and the marks that three bytes begin with; in Mac Roman;
 * and the character that replaces what could not be decoded. `Ä` and `Å` count only before control characters and signs.
 */
const suspicious =
  /[ÂÃ][\u0080-\u00bf€‚ƒ„†‡ˆ‰Š‹ŒŽ‘’“•–—˜™š›œžŸ]|[ÄÅ][\u0080-\u009f‚ƒ„†‡ˆ‰ŠŒŽ‹™š›œžŸ¡-¿]|â(?:€|„¢|‚¬)|ï»¿|[√ƒ≈][^\p{ASCII}\s]|‚(?:Ä[^\p{ASCII}\s]|Ç¨)|\ufffd/u;
/** The same, as JSON may write it. */
const suspiciousEscape = /\\u00[cC][2-5]\\u00[89abAB]|\\u00[eE]2\\u20[aA][cC]|\\u[fF]{3}[dD]/;

/** Whether some text was decoded wrongly. A quick test, for all rows. */
export function looksMisread(text: string): boolean {
  return suspicious.test(text);
}

/** As `looksMisread`, for the text of a JSON value. */
export function mayHoldMisread(json: string): boolean {
  return suspicious.test(json) || suspiciousEscape.test(json);
}

/** The warning about a value that `looksMisread`. Codes: `textMisread`, `characterLost`. The message holds no value. */
export function misreadWarning(text: string, line: number, field: string): Problem {
  const about = { line, field, value: shownValue(text) };
  const where = `line ${line}, ${shownValue(field)}`;
  if (text.includes('\ufffd')) {
    return {
      ...about,
      code: 'characterLost',
      message: `${where}: letters were lost before the text came here, and "\ufffd" is in their place`,
      hint: 'Make the export again, as UTF-8. Correct these values where they come from, if they are wrong there.',
    };
  }
  const meant = repaired(text);
  const probably = meant === null ? '' : ` Probably it should be "${shownValue(meant)}".`;
  return {
    ...about,
    code: 'textMisread',
    message: `${where}: the text was decoded wrongly before it came here`,
    hint: `Make the export again and open it in no other program, or choose UTF-8 there.${probably}`,
  };
}

/** What the text was before a program took its UTF-8 for another encoding; null where it is not clear. */
function repaired(text: string): string | null {
  for (const label of ['windows-1252', 'macintosh']) {
    const bytes = bytesIn(text, label);
    if (bytes === null) continue;
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      // Not UTF-8 in this encoding: the next one may be.
    }
  }
  return null;
}

/** The bytes of the text in an encoding with one byte for each character; null where it holds other characters. */
export function bytesIn(text: string, label: string): Uint8Array | null {
  const all = new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const bytes = [...text].map((char) => all.indexOf(char));
  return bytes.includes(-1) ? null : Uint8Array.from(bytes);
}
