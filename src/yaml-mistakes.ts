/**
 * What is wrong with the YAML of a settings file, in plain words and at the place where it is to be corrected: what is never closed is named
 * where it begins, and not where its absence is noticed.
 */
import { type Document, type ErrorCode, isCollection, isScalar, type ParsedNode, visit } from 'yaml';

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
 * In the order in which they were met: what follows the first is often its consequence alone.
 * @param text what the document was parsed from. @param found its errors, or its warnings as well.
 */
export function yamlMistakes(
  text: string,
  document: Document.Parsed,
  found: Document.Parsed['errors'] | readonly Document.Parsed['warnings'][number][],
): readonly YamlMistake[] {
  return found.map(({ code, pos }) => {
    const isUnclosed = code === 'MISSING_CHAR' || code === 'BAD_INDENT';
    return (isUnclosed ? unclosedBefore(text, document, pos[0]) : null) ?? { offset: pos[0], message: words[code] };
  });
}

const closers: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };

/** The last bracket or quote before that place which is open there; null where all are closed. */
function unclosedBefore(text: string, document: Document.Parsed, offset: number): YamlMistake | null {
  let last: YamlMistake | null = null;
  const look = (node: ParsedNode): void => {
    const [start, end] = node.range;
    const opener = text[start] ?? '';
    const closer = closers[opener];
    if (closer === undefined || start >= offset || end > offset) return;
    const isClosed = end - start > 1 && text[end - 1] === closer;
    if (!isClosed && (last === null || start > last.offset))
      last = { offset: start, message: `this ${opener} is not closed: a ${closer} is missing` };
  };
  visit(document, {
    Node: (_key, node) => {
      if (isCollection(node) || isScalar(node)) look(node as ParsedNode);
    },
  });
  return last;
}
