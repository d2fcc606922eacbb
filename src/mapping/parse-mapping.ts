/**
 * The text of a mapping file → a mapping, or every mistake in it as `file:line:column: message`.
 */
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, type ParsedNode, parseDocument } from 'yaml';
import type { z } from 'zod';
import { PatchbayError } from '#src/errors.ts';
import { closestName } from './header.ts';
import { keysAt, type Mapping, mappingSchema } from './mapping-schema.ts';

type Path = readonly PropertyKey[];
type YamlDocument = Document.Parsed<ParsedNode>;

/** One mistake: its offset in the text, and a sentence. */
interface Mistake {
  readonly offset: number;
  readonly message: string;
}

const mistakesMax = 20;

/**
 * @param file how messages name the file.
 * @throws PatchbayError `usage`, `mappingInvalid`: one line per mistake.
 */
export function parseMapping(text: string, file: string): Mapping {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const broken = document.errors.map((error) => ({ offset: error.pos[0], message: error.message }));
  if (broken.length > 0) throw invalid(broken, file, lines);
  const result = mappingSchema.safeParse(readPlain(document, file, lines));
  if (result.success) return result.data;
  throw invalid(
    result.error.issues.flatMap((issue) => mistakesOf(issue, [], document)),
    file,
    lines,
  );
}

/** Aliases are followed up to the parser's limit, so that a few lines cannot become gigabytes. */
function readPlain(document: YamlDocument, file: string, lines: LineCounter): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid([{ offset: 0, message: error instanceof Error ? error.message : String(error) }], file, lines);
  }
}

function mistakesOf(issue: z.core.$ZodIssue, above: Path, document: YamlDocument): readonly Mistake[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, document));
  if (issue.code === 'invalid_union') {
    return meantBranch(issue.errors).flatMap((inner) => mistakesOf(inner, path, document));
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined && valueAt(document, path) === undefined;
  const name = path.map(String).join('.');
  const message = missing ? `"${name}" is missing` : name === '' ? issue.message : `${name}: ${issue.message}`;
  return [{ offset: offsetOf(document, path), message }];
}

/** Of a union's branches, the one for the kind of value that was written: the others fail at once. */
function meantBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  return branches.find((issues) => !issues.some(isOtherKind)) ?? branches.at(-1) ?? [];
}

/** Whether the branch, or each branch inside it, takes another kind of value than was written. */
function isOtherKind(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false;
  return (
    issue.code === 'invalid_type' ||
    (issue.code === 'invalid_union' && issue.errors.every((issues) => issues.some(isOtherKind)))
  );
}

function unknownKey(key: string, path: Path, document: YamlDocument): Mistake {
  const allowed = keysAt(path);
  const close = closestName(key, allowed);
  const advice = close === null ? `known here: ${allowed.join(', ')}` : `did you mean "${close}"?`;
  const where = path.length === 0 ? '' : ` in ${path.map(String).join('.')}`;
  return { offset: keyOffset(document, path, key), message: `unknown key "${key}"${where}; ${advice}` };
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
