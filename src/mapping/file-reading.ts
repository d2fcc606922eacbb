/** What a mapping says about the file itself: its sheet, its encoding, what separates its cells. */
import { checkEncoding } from '#src/sources/decode.ts';
import { checkDelimiter } from '#src/sources/read-csv.ts';

/** As a file is opened with them; absent where it is detected. */
export interface FileReading {
  readonly sheet?: string;
  /** A label that `TextDecoder` knows. */
  readonly encoding?: string;
  /** One character. */
  readonly delimiter?: string;
}

/**
 * @param said what the mapping says; absent for a file that it did not make, such as a fix-file.
 * @param chosen what the command line says, which wins.
 */
export function fileReadingOf(
  said: { readonly [Name in keyof FileReading]?: string | undefined } | null | undefined,
  chosen: { readonly [Name in keyof FileReading]?: string | null | undefined },
): FileReading {
  const sheet = chosen.sheet ?? said?.sheet;
  const encoding = chosen.encoding ?? said?.encoding;
  const delimiter = chosen.delimiter ?? said?.delimiter;
  return {
    ...(sheet === undefined ? {} : { sheet }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter: delimiterOf(delimiter) }),
  };
}

/** A tab is written as a word. */
function delimiterOf(text: string): string {
  return text === 'tab' ? '\t' : text;
}

export function isEncoding(text: string): boolean {
  return isWithout(() => checkEncoding(text));
}

export function isDelimiter(text: string): boolean {
  return isWithout(() => checkDelimiter(delimiterOf(text)));
}

function isWithout(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
