/**
 * The text of a mapping file → a mapping, or every mistake in it as `file:line:column: message`.
 */

import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, type Node, type ParsedNode } from 'yaml';
import type { z } from 'zod';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { closestName } from '#src/sources/column-name.ts';
import { parseSettings, yamlMistakes } from '#src/yaml-mistakes.ts';
import { keysAt, type Mapping, mappingSchema } from './mapping-schema.ts';

type Path = readonly PropertyKey[];
type YamlDocument = Document.Parsed<ParsedNode>;

/** One mistake: its offset in the text, and a sentence. */
interface Mistake {
  readonly offset: number;
  /** Where it was found, in words. */
  readonly path?: string;
  /** The key that was probably meant: what its absence causes is no mistake of its own. */
  readonly meant?: string;
  readonly isAbsence?: boolean;
  readonly message: string;
}

const mistakesMax = 20;
const yamlMistakesMax = 2;

/**
 * @param file how messages name the file.
 * @throws PatchbayError `usage`, `mappingInvalid`: one line per mistake.
 */
export function parseMapping(text: string, file: string): Mapping {
  const lines = new LineCounter();
  const document = parseSettings(text, lines);
  // What follows the first mistake is often its consequence alone.
  const broken = yamlMistakes(text, document, document.errors.slice(0, yamlMistakesMax)).slice(0, yamlMistakesMax);
  if (broken.length > 0) throw invalid(broken, file, lines);
  const result = mappingSchema.safeParse(readPlain(document, file, lines), { error: ownWords });
  if (result.success) return result.data;
  const mistakes = result.error.issues.flatMap((issue) => mistakesOf(issue, [], document));
  throw invalid(withoutConsequences(mistakes), file, lines);
}

/** Where a key is misspelt, that it is missing needs no word. */
function withoutConsequences(mistakes: readonly Mistake[]): readonly Mistake[] {
  const misspelt = new Set(
    mistakes.flatMap(({ path = '', meant }) => (meant === undefined ? [] : [path, joined(path, meant)])),
  );
  return mistakes.filter(
    ({ path, meant, isAbsence }) => meant !== undefined || !isAbsence || !misspelt.has(path ?? ''),
  );
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Aliases are followed up to the parser's limit, so that a few lines cannot become gigabytes. */
function readPlain(document: YamlDocument, file: string, lines: LineCounter): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const isTooMuch = /excessive alias/i.test(messageOf(error));
    const message = isTooMuch
      ? 'the aliases (*name) unfold to too much'
      : 'an alias (*name) stands for nothing: no &name comes before it';
    throw invalid([{ offset: 0, message }], file, lines);
  }
}

function mistakesOf(issue: z.core.$ZodIssue, above: Path, document: YamlDocument): readonly Mistake[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, document));
  if (issue.code === 'invalid_union') {
    const meant = meantBranch(issue.errors, isCollection(valueAt(document, path)));
    if (meant !== null) return meant.flatMap((inner) => mistakesOf(inner, path, document));
  }
  if (path.length === 0 && issue.code === 'invalid_type' && isEmpty(document)) {
    return [{ offset: 0, path: '', message: 'the mapping is empty; it needs at least name and key' }];
  }
  const isMissing = issue.code !== 'custom' && valueAt(document, path) === undefined;
  const name = inWords(path);
  const message = isMissing ? `"${name}" is missing` : name === '' ? issue.message : `${name}: ${issue.message}`;
  const isAbsence = isMissing || / needs one of |^expected one of /.test(issue.message);
  return [{ offset: offsetOf(document, path), path: name, isAbsence, message }];
}

function isEmpty({ contents }: YamlDocument): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

/** `phones[1].column`: the first entry is 1, as people count. */
function inWords(path: Path): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step + 1}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
}

/** For whatever the schema has no sentence of its own. */
function ownWords(issue: z.core.$ZodRawIssue): string | undefined {
  const found = kindOf(issue.input);
  if (issue.code === 'invalid_type')
    return `expected ${kinds[issue.expected] ?? 'another kind of value'}, found ${found}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum} are allowed`;
  if (issue.code === 'too_small') return `at least ${issue.minimum} are needed`;
  if (issue.code === 'invalid_value') return `expected ${issue.values.map(String).join(', ')}, found ${found}`;
  return issue.code === 'custom' ? undefined : `this does not fit here, found ${found}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object such as { key: value }',
  record: 'pairs such as { key: value }',
};

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' ? 'a number' : 'a text';
}

/**
 * Of a union's branches, the one for the kind of value that was written; null if there is none.
 * @param isNested a list or an object was written.
 */
function meantBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
  isNested: boolean,
): readonly z.core.$ZodIssue[] | null {
  return branches.find((issues) => !issues.some((issue) => isOtherKind(issue, isNested))) ?? null;
}

/** Whether the branch, or each branch inside it, takes another kind of value than was written. */
function isOtherKind(issue: z.core.$ZodIssue, isNested: boolean): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_value') return isNested;
  return (
    issue.code === 'invalid_type' ||
    (issue.code === 'invalid_union' &&
      issue.errors.every((issues) => issues.some((inner) => isOtherKind(inner, isNested))))
  );
}

function unknownKey(key: string, path: Path, document: YamlDocument): Mistake {
  const allowed = keysAt(path);
  const close = closestName(key, allowed);
  const advice = close === null ? `known here: ${allowed.join(', ')}` : `did you mean "${close}"?`;
  const where = path.length === 0 ? '' : ` in ${inWords(path)}`;
  const meant = close === null ? {} : { meant: close };
  return {
    offset: keyOffset(document, path, key),
    path: inWords(path),
    ...meant,
    message: `unknown key "${key}"${where}; ${advice}`,
  };
}

function valueAt(document: YamlDocument, path: Path): unknown {
  return path.length === 0 ? document.contents : document.getIn([...path], true);
}

/** The offset of a value; for a missing one, that of the nearest node that should hold it. Ends at the root. */
function offsetOf(document: YamlDocument, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const value = valueAt(document, path.slice(0, length));
    if (isNode(value)) return startOf(value);
  }
  return 0;
}

function keyOffset(document: YamlDocument, path: Path, key: string): number {
  const holder = valueAt(document, path);
  const pair = isMap(holder)
    ? holder.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
    : undefined;
  return pair !== undefined && isNode(pair.key) ? startOf(pair.key) : offsetOf(document, path);
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function invalid(mistakes: readonly Mistake[], file: string, lines: LineCounter): PatchbayError {
  const sorted = [...mistakes].sort((left, right) => left.offset - right.offset);
  const sentences = sorted.slice(0, mistakesMax).map(({ offset, message }) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}: ${message}`;
  });
  if (sorted.length > mistakesMax) sentences.push(`and ${sorted.length - mistakesMax} more`);
  return new PatchbayError('usage', 'mappingInvalid', sentences.join('\n'), {
    facts: { file, mistakeCount: sorted.length },
    hint: 'Correct the mapping; config/mappings/generic.yaml shows every key.',
  });
}
