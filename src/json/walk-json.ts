/**
 * Walks through JSON text token by token, by the grammar of JSON, and builds nothing: for what `JSON.parse` does not
 * report, such as where in the text a value is, or where exactly the text stops being JSON.
 *
 * Slower than `JSON.parse`; only for records with something wrong or unusual in them.
 */

export interface Spot {
  readonly index: number;
  /** The names of the members around it, from the outside in, its own included; lists have none. */
  readonly path: () => string;
}

interface JsonVisitor {
  /** `isRepeated`: the same object has had a member of that name before. */
  readonly onName?: (name: string, spot: Spot, isRepeated: boolean) => void;
  readonly onString?: (text: string, spot: Spot) => void;
  /** As the text writes it. */
  readonly onNumber?: (source: string, spot: Spot) => void;
}

export interface Flaw {
  /** Of the first character that JSON does not allow; the length of the text where it ends too early. */
  readonly index: number;
  /** What JSON allows there; null inside a string, a number or a word. */
  readonly expected: string | null;
}

interface Container {
  /** Of an object; null for a list. */
  readonly names: Set<string> | null;
  name: string;
}

type Expected = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'colon' | 'commaOrEnd' | 'nothing';

const space = /[ \t\r\n]*/y;
const escapeToken = /["\\/bfnrt]|u[\dA-Fa-f]{4}/y;
/** As much of an escape of a code unit as there is. */
const escapeStart = /u[\dA-Fa-f]{0,3}/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = ['true', 'false', 'null'];

/** Calls the visitor in the order of the text. @returns null where the text is one JSON value. */
export function walkJson(text: string, visitor: JsonVisitor): Flaw | null {
  const containers: Container[] = [];
  let expected: Expected = 'value';
  let index = 0;

  const spot = (at: number): Spot => ({
    index: at,
    path: () => containers.flatMap((one) => (one.names === null ? [] : [one.name])).join('.'),
  });
  const afterValue = (): Expected => (containers.length === 0 ? 'nothing' : 'commaOrEnd');
  const flaw = (): Flaw => ({ index, expected: wordsFor(expected, containers.at(-1)?.names === null) });

  /** Goes past one string, number or word. */
  const takeScalar = (): Flaw | null => {
    const start = index;
    const char = text[start] ?? '';
    if (char === '"') {
      const { end, isWhole } = stringFrom(text, start);
      if (!isWhole) return { index: end, expected: null };
      index = end;
      visitor.onString?.(String(JSON.parse(text.slice(start, end))), spot(start));
      return null;
    }
    const number = match(numberToken, text, start);
    if (number !== null) {
      index += number.length;
      visitor.onNumber?.(number, spot(start));
      return null;
    }
    const word = words.find((one) => one[0] === char);
    if (word === undefined) return char === '-' ? { index: start + 1, expected: null } : flaw();
    // Ends with the word.
    for (let at = 0; at < word.length; at += 1)
      if (text[start + at] !== word[at]) return { index: start + at, expected: null };
    index += word.length;
    return null;
  };

  const takeName = (): Flaw | null => {
    const start = index;
    const { end, isWhole } = stringFrom(text, start);
    if (!isWhole) return { index: end, expected: null };
    index = end;
    expected = 'colon';
    const container = containers.at(-1);
    if (!container?.names) return null;
    container.name = String(JSON.parse(text.slice(start, end)));
    visitor.onName?.(container.name, spot(start), container.names.has(container.name));
    container.names.add(container.name);
    return null;
  };

  const takeValue = (char: string): Flaw | null => {
    if (char !== '{' && char !== '[') {
      const wrong = takeScalar();
      expected = afterValue();
      return wrong;
    }
    containers.push({ names: char === '{' ? new Set() : null, name: '' });
    expected = char === '{' ? 'nameOrEnd' : 'valueOrEnd';
    index += 1;
    return null;
  };

  // Ends with the text: each turn goes past one token or leaves.
  for (;;) {
    index += match(space, text, index)?.length ?? 0;
    if (index >= text.length) return expected === 'nothing' ? null : flaw();
    const char = text[index] ?? '';
    const inList = containers.at(-1)?.names === null;
    const mayEnd = expected === 'commaOrEnd' || expected === (inList ? 'valueOrEnd' : 'nameOrEnd');
    if (mayEnd && char === (inList ? ']' : '}')) {
      containers.pop();
      index += 1;
      expected = afterValue();
    } else if (expected === 'commaOrEnd' && char === ',') {
      index += 1;
      expected = inList ? 'value' : 'name';
    } else if (expected === 'colon' && char === ':') {
      index += 1;
      expected = 'value';
    } else if ((expected === 'name' || expected === 'nameOrEnd') && char === '"') {
      const wrong = takeName();
      if (wrong !== null) return wrong;
    } else if (expected === 'value' || expected === 'valueOrEnd') {
      const wrong = takeValue(char);
      if (wrong !== null) return wrong;
    } else return flaw();
  }
}

/** Where the string that begins at `start` ends; if it is not whole, the index of the first character that it must not hold. */
function stringFrom(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
  let index = start + 1;
  // Ends: each turn goes past one character or one escape. No regular expression for the whole: it may be megabytes long.
  while (index < text.length) {
    const char = text.charCodeAt(index);
    if (char === 0x22) return { end: index + 1, isWhole: true };
    if (char < 0x20) break;
    index += 1;
    if (char !== 0x5c) continue;
    const escaped = match(escapeToken, text, index);
    if (escaped === null) return { end: index + (match(escapeStart, text, index) ?? '').length, isWhole: false };
    index += escaped.length;
  }
  return { end: index, isWhole: false };
}

function match(pattern: RegExp, text: string, index: number): string | null {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0] ?? null;
}

function wordsFor(expected: Expected, inList: boolean): string {
  switch (expected) {
    case 'value':
      return 'a value';
    case 'valueOrEnd':
      return 'a value or ]';
    case 'name':
      return 'a member name';
    case 'nameOrEnd':
      return 'a member name or }';
    case 'colon':
      return 'a colon';
    case 'commaOrEnd':
      return inList ? 'a comma or ]' : 'a comma or }';
    case 'nothing':
      return 'nothing more';
  }
}
