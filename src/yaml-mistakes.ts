/**
 * What is wrong with the YAML of a settings file, in plain words and at the place where it is to be corrected: what is never closed is named
 * where it begins, and not where its absence is noticed.
 */
import {
  type Document,
  type ErrorCode,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type LineCounter,
  type ParsedNode,
  parseDocument,
} from 'yaml';

export interface YamlMistake {
  /** Of its first character in the text. */
  readonly offset: number;
  readonly message: string;
}

const words: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) takes neither an anchor nor a tag',
  BAD_ALIAS: 'an alias (*name) stands for nothing: there is no &name before it',
  BAD_COLLECTION_TYPE: 'tags (!name) are not supported here',
  BAD_DIRECTIVE: 'a line that begins with % is not supported here',
  BAD_DQ_ESCAPE: 'a text in double quotes holds a backslash that means nothing; write \\\\, or use single quotes',
  BAD_INDENT: 'this line is indented differently from its neighbours',
  BAD_PROP_ORDER: 'anchors (&name) and tags (!name) are not supported here',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a list or a group of keys begins here on the line of another key; put it on a line of its own, or in quotes if it is a text',
  BLOCK_IN_FLOW: 'a second colon begins a pair inside of a pair; put a text with a colon in quotes',
  DUPLICATE_KEY: 'this key is here a second time',
  IMPOSSIBLE: 'this cannot be read as YAML',
  KEY_OVER_1024_CHARS: 'this key is too long; perhaps a colon or a quote is missing before it',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing here',
  MULTILINE_IMPLICIT_KEY: 'a colon or a quote is missing here',
  MULTIPLE_ANCHORS: 'anchors (&name) are not supported here',
  MULTIPLE_DOCS: 'the file holds one YAML document; remove the line "---"',
  MULTIPLE_TAGS: 'tags (!name) are not supported here',
  NON_STRING_KEY: 'a key must be a text',
  RESOURCE_EXHAUSTION: 'lists or objects are nested too deep',
  TAB_AS_INDENT: 'YAML is indented by spaces, not by tabs',
  TAG_RESOLVE_FAILED: 'tags (!name) are not supported here',
  UNEXPECTED_TOKEN: 'this does not belong here; a text with such characters needs quotes',
};

/**
 * The document, with what is wrong with it in `errors`, apart from keys that are there twice: the parser would compare each key with every other
 * one, which takes minutes for some ten thousand. `yamlMistakes` finds them.
 */
export function parseSettings(text: string, lineCounter: LineCounter): Document.Parsed {
  return parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error', uniqueKeys: false });
}

/** What the parser says, or what is found here: where, and what it is. */
interface Found {
  readonly code: ErrorCode;
  readonly pos: readonly [number, number];
}

/**
 * In the order in which they were met: what follows the first is often its consequence alone.
 * @param document of `parseSettings`. @param text what it was parsed from. @param found its errors, or its warnings as well.
 */
export function yamlMistakes(text: string, document: Document.Parsed, found: readonly Found[]): readonly YamlMistake[] {
  // Only a text with such mistakes is walked through, and once, however many there are.
  const unclosedBefore = found.some(mayBeUnclosed) ? unclosedIn(text, document) : () => null;
  return merged(found, repeatedKeys(document)).map((mistake) => {
    const [offset] = mistake.pos;
    return (mayBeUnclosed(mistake) ? unclosedBefore(offset) : null) ?? { offset, message: words[mistake.code] };
  });
}

/** Each of the second before the first that is behind it; both keep their order. */
function merged(found: readonly Found[], repeated: readonly Found[]): readonly Found[] {
  const all: Found[] = [];
  let next = 0;
  for (const one of found) {
    for (let key = repeated[next]; key !== undefined && key.pos[0] < one.pos[0]; key = repeated[next]) {
      all.push(key);
      next += 1;
    }
    all.push(one);
  }
  return [...all, ...repeated.slice(next)];
}

/** In the order of the text. Texts, numbers and truth values differ from each other; lists and objects as keys are refused elsewhere. */
function repeatedKeys(document: Document.Parsed): readonly Found[] {
  const repeated: Found[] = [];
  for (const node of nodesOf(document.contents)) {
    if (!isMap(node)) continue;
    const seen = new Set<unknown>();
    for (const { key } of node.items) {
      if (!isScalar(key) || !key.range) continue;
      if (seen.has(key.value)) repeated.push({ code: 'DUPLICATE_KEY', pos: [key.range[0], key.range[1]] });
      seen.add(key.value);
    }
  }
  return repeated.toSorted((one, other) => one.pos[0] - other.pos[0]);
}

function mayBeUnclosed({ code }: { readonly code: ErrorCode }): boolean {
  return code === 'MISSING_CHAR' || code === 'BAD_INDENT';
}

const closers: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };

/** @returns what tells the last bracket or quote before a place which is open there; null where all are closed. */
function unclosedIn(text: string, document: Document.Parsed): (offset: number) => YamlMistake | null {
  const ends: number[] = [];
  /** With each end the last start of those that end there or before. */
  const starts: number[] = [];
  const open = [...rangesOf(document.contents)].filter(([start, end]) => isOpen(text, start, end));
  for (const [start, end] of open.toSorted(([, left], [, right]) => left - right)) {
    ends.push(end);
    starts.push(Math.max(start, starts.at(-1) ?? 0));
  }
  return (offset) => {
    const start = starts[countUpTo(ends, offset) - 1];
    const opener = text[start ?? text.length] ?? '';
    return start === undefined
      ? null
      : { offset: start, message: `this ${opener} is not closed: a ${closers[opener] ?? ''} is missing` };
  };
}

function isOpen(text: string, start: number, end: number): boolean {
  const closer = closers[text[start] ?? ''];
  return closer !== undefined && end > start && (end - start === 1 || text[end - 1] !== closer);
}

/** From where to where values and lists go, in any order. */
function* rangesOf(contents: ParsedNode | null): Generator<readonly [start: number, end: number]> {
  for (const node of nodesOf(contents)) {
    if ((isCollection(node) || isScalar(node)) && node.range) yield [node.range[0], node.range[1]];
  }
}

/** Keys, values and lists, in any order. Not by calls of itself, nor by a path to each: lists may be nested thousands of times. */
function* nodesOf(contents: ParsedNode | null): Generator<unknown> {
  const left: unknown[] = [contents];
  while (left.length > 0) {
    const node = left.pop();
    if (isPair(node)) left.push(node.key, node.value);
    else if (isCollection(node)) for (const item of node.items) left.push(item);
    yield node;
  }
}

/** @param sorted ascending. @returns how many are not above the limit. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
