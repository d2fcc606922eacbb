/**
 * One JSON object per line to rows. A line that is no JSON breaks that row only.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { isLongerThan, shownValue } from '#src/sources/cell-text.ts';
import { type FormatReader, itemsPerSliceMax } from '#src/sources/format-reader.ts';
import { emptyNote, itemOf, type JsonOptions, recordTooLong, textRow, valueOptions } from '#src/sources/json-rows.ts';
import { createJsonTokens, JsonSyntaxError, type JsonTokens, unexpectedEnd } from '#src/sources/json-tokens.ts';
import { type BuiltValue, createValueBuilder, unexpected } from '#src/sources/json-value.ts';
import { createLineSplitter, type TextLine } from '#src/sources/line-splitter.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { createTally, type Tally } from './format-reader.ts';

/** Errors (`file`) come from the iterator: `jsonTooDeep`, `recordTooLong`, `tooManyRows`. */
export function readNdjson(text: AsyncGenerator<string>, options: JsonOptions): FormatReader {
  const tally = createTally(options.name, options.limits.rowsMax);
  return {
    head: { format: 'ndjson', columns: null, delimiter: null },
    slices: () => slicesOf(text, options, tally),
    tail: () => {
      const tail = tally.tail();
      return tail.recordCount > 0 ? tail : { ...tail, warnings: [...tail.warnings, emptyNote(options.name, true)] };
    },
  };
}

async function* slicesOf(
  text: AsyncGenerator<string>,
  options: JsonOptions,
  tally: Tally,
): AsyncGenerator<readonly SourceItem[]> {
  const splitter = createLineSplitter();
  const parseLine = createLineParser(options, tally);
  for await (const chunk of text) {
    yield* itemSlices(splitter.push(chunk), parseLine, tally);
    const open = splitter.open();
    if (open.chars > options.limits.recordBytesMax) throw recordTooLong(options, open.line);
  }
  yield* itemSlices(splitter.end(), parseLine, tally);
}

function* itemSlices(lines: readonly TextLine[], parseLine: (line: TextLine) => SourceItem, tally: Tally) {
  let slice: SourceItem[] = [];
  for (const line of lines) {
    if (line.text.trim() === '') {
      tally.blankLine();
      continue;
    }
    slice.push(parseLine(line));
    if (slice.length < itemsPerSliceMax) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

/** One tokenizer serves all lines, until one of them breaks it. */
function createLineParser(options: JsonOptions, tally: Tally): (line: TextLine) => SourceItem {
  let lineNumber = 1;
  let built: BuiltValue | null = null;
  let tokens: JsonTokens | null = null;
  const builder = createValueBuilder(valueOptions(options, tally, () => 0));

  const freshTokens = (): JsonTokens =>
    createJsonTokens((token) => {
      const placed = { ...token, line: lineNumber };
      if (built !== null) throw unexpected(placed);
      built = builder.push(placed);
    });

  return ({ text, line }) => {
    if (isLongerThan(text, options.limits.recordBytesMax)) throw recordTooLong(options, line);
    lineNumber = line;
    built = null;
    try {
      tokens ??= freshTokens();
      tokens.write(`${text}\n`);
      if (built === null) throw unexpectedEnd(line);
      return itemOf(built, tally);
    } catch (error) {
      tokens = null;
      builder.reset();
      if (!(error instanceof JsonSyntaxError)) throw error;
      const row = textRow(text, line, tally.nextRecord(line));
      return { type: 'broken', row, problem: brokenLine(error, text, line) };
    }
  };
}

function brokenLine(error: JsonSyntaxError, text: string, line: number): Problem {
  const message = `the line is not valid JSON: ${error.message}`;
  const hint = 'Each line must hold one complete {…} object.';
  return { code: 'jsonInvalid', line, field: null, value: shownValue(text), message, hint };
}
