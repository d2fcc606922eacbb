/** What a mapping says about the file itself: its sheet, its encoding, what separates its cells. */
import { checkEncoding } from '#src/sources/decode.ts';
import { checkDelimiter } from '#src/sources/read-csv.ts';

/** As a file is opened with them; absent where it is detected. */
export interface FileReading {
  readonly sheet?: string;
  /** A label that `TextDecoder` knows, as a person named it for this file. */
  readonly encoding?: string;
  /** As its mapping names it for all files: one that was saved as UTF-8 for once is still read as that. */
  readonly encodingIfNotUtf8?: string;
  /** One character. */
  readonly delimiter?: string;
}

interface Said {
  readonly sheet?: string | null | undefined;
  readonly encoding?: string | null | undefined;
  readonly delimiter?: string | null | undefined;
}

/** A file in one of these is valid UTF-8, too: its bytes are those of ASCII. */
const likeAscii = /^(?:iso-2022|utf-16|hz-gb)/i;

/**
 * @param said what the mapping says; absent for a file that it did not make, such as a fix-file.
 * @param chosen what the command line says, which wins.
 */
export function fileReadingOf(said: Said | null | undefined, chosen: Said): FileReading {
  const sheet = chosen.sheet ?? said?.sheet;
  const encoding = chosen.encoding ?? (likeAscii.test(said?.encoding ?? '') ? said?.encoding : undefined);
  const otherwise = said?.encoding;
  const delimiter = chosen.delimiter ?? said?.delimiter;
  return {
    ...(sheet == null ? {} : { sheet }),
    ...(encoding == null ? {} : { encoding }),
    ...(encoding != null || otherwise == null ? {} : { encodingIfNotUtf8: otherwise }),
    ...(delimiter == null ? {} : { delimiter: delimiterOf(delimiter) }),
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
