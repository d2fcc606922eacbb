/**
 * Tokens to one JSON value, by the grammar of JSON.
 *
 * Invariant: objects have no prototype, so a member called `__proto__` is a member like any other; a number that
 * JavaScript cannot hold exactly stays as the file writes it, digit by digit.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { cellProblem, isSoundCell, shownValue } from '#src/sources/cell-text.ts';
import { JsonSyntaxError, type JsonToken, TokenType } from '#src/sources/json-tokens.ts';
import type { JsonValue } from '#src/sources/row.ts';

export interface ValueOptions {
  readonly cellBytesMax: number;
  /** Called before a container opens, with how many are open then. Throws where that is too deep. */
  readonly onDepth: (depth: number, line: number) => void;
  /** A member name that stands twice in one object; the last one wins. */
  readonly onDuplicate: (field: string, line: number) => void;
}

export interface BuiltValue {
  readonly value: JsonValue;
  /** The first thing in it that cannot be kept, if any: the record is broken. */
  readonly problem: Problem | null;
  readonly line: number;
  readonly offset: number;
}

export interface ValueBuilder {
  /** Whether a list or an object has begun. */
  isOpen(): boolean;
  /** Where the open value began, in UTF-8 bytes from the start of the text. */
  openOffset(): number;
  /** Goes on reading the open value but keeps nothing of it; what comes out is empty. */
  discard(): void;
  /** Takes a token; gives the value once it is complete. Throws JsonSyntaxError. */
  push(token: JsonToken): BuiltValue | null;
  /** Forgets what has begun. */
  reset(): void;
}

type Expected = 'firstKeyOrEnd' | 'key' | 'colon' | 'firstValueOrEnd' | 'value' | 'commaOrEnd';

interface Frame {
  /** Exactly one of the two is set. */
  readonly object: { [name: string]: JsonValue } | null;
  readonly list: JsonValue[] | null;
  key: string;
  expected: Expected;
}

export function createValueBuilder(options: ValueOptions): ValueBuilder {
  let frames: Frame[] = [];
  let problem: Problem | null = null;
  let startLine = 0;
  let startOffset = 0;
  let discarding = false;

  const field = (): string => frames.flatMap((frame) => (frame.object ? [frame.key] : [])).join('.');

  const check = (text: string, line: number): void => {
    if (problem !== null || isSoundCell(text, options.cellBytesMax)) return;
    problem = cellProblem(text, line, field(), options.cellBytesMax);
  };

  /** Puts a complete value where it belongs; gives it back when it is the outermost one. */
  const place = (value: JsonValue): BuiltValue | null => {
    const frame = frames.at(-1);
    if (frame === undefined) return { value, problem, line: startLine, offset: startOffset };
    if (!discarding) {
      if (frame.list) frame.list.push(value);
      if (frame.object) frame.object[frame.key] = value;
    }
    frame.expected = 'commaOrEnd';
    return null;
  };

  const scalar = (token: JsonToken): JsonValue => {
    if (typeof token.value === 'string') check(token.value, token.line);
    if (typeof token.value !== 'number') return token.value;
    if (!Number.isFinite(token.value)) problem ??= numberTooLarge(token, field());
    return keptNumber(token.value, token.source);
  };

  const open = (token: JsonToken): void => {
    options.onDepth(frames.length + 1, token.line);
    const isObject = token.type === TokenType.LEFT_BRACE;
    frames.push({
      object: isObject ? Object.create(null) : null,
      list: isObject ? null : [],
      key: '',
      expected: isObject ? 'firstKeyOrEnd' : 'firstValueOrEnd',
    });
  };

  const close = (token: JsonToken): BuiltValue | null => {
    const frame = frames.at(-1);
    const fits = frame && (token.type === TokenType.RIGHT_BRACE) === (frame.object !== null);
    const may = frame?.expected === 'commaOrEnd' || frame?.expected.startsWith('first');
    if (!frame || !fits || !may) throw unexpected(token);
    frames.pop();
    return place(frame.object ?? frame.list ?? null);
  };

  const takeKey = (frame: Frame, token: JsonToken): void => {
    if (token.type !== TokenType.STRING || typeof token.value !== 'string') throw unexpected(token);
    frame.key = token.value;
    frame.expected = 'colon';
    check(token.value, token.line);
    if (frame.object && Object.hasOwn(frame.object, token.value)) options.onDuplicate(field(), token.line);
  };

  const push = (token: JsonToken): BuiltValue | null => {
    const frame = frames.at(-1);
    if (frame === undefined) {
      problem = null;
      startLine = token.line;
      startOffset = token.offset;
      discarding = false;
    }
    if (token.type === TokenType.RIGHT_BRACE || token.type === TokenType.RIGHT_BRACKET) return close(token);
    const expected = frame?.expected ?? 'value';
    if (token.type === TokenType.COMMA && frame && expected === 'commaOrEnd') {
      frame.expected = frame.object ? 'key' : 'value';
      return null;
    }
    if (token.type === TokenType.COLON && frame && expected === 'colon') {
      frame.expected = 'value';
      return null;
    }
    if (frame && (expected === 'key' || expected === 'firstKeyOrEnd')) {
      takeKey(frame, token);
      return null;
    }
    if (expected !== 'value' && expected !== 'firstValueOrEnd') throw unexpected(token);
    if (token.type === TokenType.LEFT_BRACE || token.type === TokenType.LEFT_BRACKET) {
      open(token);
      return null;
    }
    if (token.type === TokenType.COMMA || token.type === TokenType.COLON) throw unexpected(token);
    return place(scalar(token));
  };

  const discard = (): void => {
    discarding = true;
    // What was kept so far hangs on the open containers: empty ones take their place.
    frames = frames.map((frame) => ({ ...frame, object: frame.object && Object.create(null), list: frame.list && [] }));
  };

  const reset = (): void => {
    frames = [];
    problem = null;
  };

  return { isOpen: () => frames.length > 0, openOffset: () => startOffset, discard, push, reset };
}

/** Whole numbers beyond 2^53 lose digits as a JavaScript number: they stay text. */
function keptNumber(value: number, source: string): number | string {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? source : value;
}

function numberTooLarge(token: JsonToken, field: string): Problem {
  return {
    code: 'numberTooLarge',
    line: token.line,
    field,
    value: shownValue(token.source),
    message: 'the number is too large to be read',
    hint: 'Write it as a string if it is an id.',
  };
}

/** The token stands where JSON allows none such. */
export function unexpected(token: JsonToken): JsonSyntaxError {
  const shown = typeof token.value === 'number' ? token.source : shownValue(String(token.value)).slice(0, 40);
  return new JsonSyntaxError(`unexpected ${JSON.stringify(shown)}`, token.line);
}
