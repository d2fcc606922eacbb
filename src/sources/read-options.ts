/** What a person may say about how a file is to be read. Checked before anything is read, and again when it is. */
import { PatchbayError } from '#src/errors.ts';

/** @throws PatchbayError `usage` `delimiterInvalid`. */
export function checkDelimiter(delimiter: string): void {
  if (delimiter.length === 1 && !/["\r\n\ufeff]/.test(delimiter)) return;
  const hint = 'Usual ones are , ; | and a tab.';
  const message = `the delimiter must be one character, not ${JSON.stringify(delimiter)}`;
  throw new PatchbayError('usage', 'delimiterInvalid', message, { hint });
}

/**
 * @returns the name under which the decoder knows it.
 * @throws PatchbayError `usage` `encodingUnknown`.
 */
export function checkEncoding(wanted: string): string {
  try {
    return new TextDecoder(wanted).encoding;
  } catch (error) {
    const hint = 'Known ones are utf-8, utf-16le, utf-16be, windows-1252, macintosh, iso-8859-15 and so on.';
    throw new PatchbayError('usage', 'encodingUnknown', `no encoding is called ${wanted}`, { hint, cause: error });
  }
}
