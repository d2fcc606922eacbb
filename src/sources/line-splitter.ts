/**
 * Cuts text into lines (LF, CR, CRLF, mixed), whatever the chunks. For formats in which a line end is never data.
 */

export interface TextLine {
  readonly text: string;
  readonly line: number;
}

export interface LineSplitter {
  push(text: string): TextLine[];
  end(): TextLine[];
  /** The beginning of the line that has not ended yet: its number and length in characters. */
  open(): { readonly line: number; readonly chars: number };
}

export function createLineSplitter(): LineSplitter {
  let held = '';
  let line = 1;
  let afterReturn = false;
  return {
    push: (chunk) => {
      const lines: TextLine[] = [];
      // A line feed at the start of a chunk may be the second half of the line end before it.
      let start = afterReturn && chunk.startsWith('\n') ? 1 : 0;
      if (chunk !== '') afterReturn = chunk.endsWith('\r');
      const lineEnd = /\r\n|\n|\r/g;
      lineEnd.lastIndex = start;
      // Ends with the chunk: each turn goes past one line end.
      for (let end = lineEnd.exec(chunk); end !== null; end = lineEnd.exec(chunk)) {
        lines.push({ text: held + chunk.slice(start, end.index), line });
        held = '';
        line++;
        start = lineEnd.lastIndex;
      }
      held += chunk.slice(start);
      return lines;
    },
    end: () => {
      const last = held === '' ? [] : [{ text: held, line }];
      held = '';
      return last;
    },
    open: () => ({ line, chars: held.length }),
  };
}
