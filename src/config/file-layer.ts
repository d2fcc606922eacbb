/**
 * The layer of a config file: YAML with sections that hold settings, read node by node so that each value and each
 * problem keeps its line and column.
 *
 * Anchors, aliases, tags and merge keys are refused: nothing in the file is ever expanded, so no file can grow.
 * A message never repeats what stands in the file besides keys: a value may be a secret.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMap, isScalar, LineCounter, type Node, type ParsedNode, parseDocument, visit, type YAMLMap } from 'yaml';
import { messageOf } from '../errors.ts';
import { closest } from './closest.ts';
import type { GivenValue, Layer, Origin } from './given-value.ts';
import { type Section, sections, settings } from './settings.ts';

const bytesMax = 256 * 1024;

/** What YAML errors mean in plain words; others are named by their code. */
const yamlProblems: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key stands here a second time',
  MULTIPLE_DOCS: 'a config file holds one YAML document; remove the line "---"',
  TAB_AS_INDENT: 'YAML is indented by spaces, not by tabs',
  BAD_INDENT: 'this line is indented differently from its neighbours',
  MISSING_CHAR: 'a quote, a bracket or a colon is missing here',
};

/**
 * Reads the file at `path`. `shownPath` stands in messages. Never throws: a file that cannot be read is a problem.
 */
export async function fileLayer(path: string, shownPath: string, kind: 'default' | 'file' = 'file'): Promise<Layer> {
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > bytesMax) return failed(`${shownPath}: the file is larger than ${bytesMax} bytes`);
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    return failed(`${shownPath}: ${readProblem(error)}`);
  }
  return parseLayer(text, { shownPath, kind, folder: dirname(path) });
}

interface FileContext {
  readonly shownPath: string;
  readonly kind: 'default' | 'file';
  readonly folder: string;
}

function parseLayer(text: string, context: FileContext): Layer {
  const lines = new LineCounter();
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${context.shownPath}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const problems = [...document.errors, ...document.warnings].map(
    (error) => `${place(error.pos[0])}: ${yamlProblems[error.code] ?? `this is not YAML (${error.code})`}`,
  );
  if (problems.length > 0) return { values: [], problems, warnings: [] };
  visit(document, {
    Node: (_key, node) => {
      const refused = refusedYaml(node);
      if (refused !== null) problems.push(`${place(node.range?.[0] ?? 0)}: ${refused}`);
    },
  });
  const root = document.contents;
  if (problems.length > 0 || root === null || isNull(root)) return { values: [], problems, warnings: [] };
  if (!isMap(root)) return failed(`${place(root.range[0])}: the file must hold sections, such as "data:"`);
  const values: GivenValue[] = [];
  for (const { name, node, value } of pairsOf(root)) {
    const section = sections.find((candidate) => candidate.name === name);
    if (section === undefined) problems.push(`${place(node.range[0])}: unknown section "${name}"${meant(name, null)}`);
    else if (isMap(value)) readSection(section, value);
    else if (!isNull(value)) problems.push(`${place(value?.range[0] ?? 0)}: ${name} must be a section of settings`);
  }
  return { values, problems, warnings: [] };

  function readSection(section: Section, map: YAMLMap.Parsed): void {
    for (const { name, node, value } of pairsOf(map)) {
      const setting = section.settings.find((candidate) => candidate.name === name);
      const at = place((value ?? node).range[0]);
      const origin: Origin = { kind: context.kind, name: context.kind === 'default' ? 'default' : at };
      if (setting !== undefined) {
        values.push({ setting, value: plainValue(value), origin, folder: context.folder });
      } else {
        problems.push(`${place(node.range[0])}: unknown key "${name}" in ${section.name}${meant(name, section)}`);
      }
    }
  }
}

interface Pair {
  readonly name: string;
  readonly node: ParsedNode;
  readonly value: ParsedNode | null;
}

function pairsOf(map: YAMLMap.Parsed): Pair[] {
  return map.items.map(({ key, value }) => ({
    name: isScalar(key) ? String(key.value).slice(0, 100) : '(not a name)',
    node: key,
    value,
  }));
}

/** A scalar as it is; a list or a map as an empty one, since no setting takes either and the check says so. */
function plainValue(node: ParsedNode | null): unknown {
  if (node === null) return null;
  if (isScalar(node)) return node.value;
  return isMap(node) ? {} : [];
}

function refusedYaml(node: Node): string | null {
  if ('source' in node && !isScalar(node)) return 'aliases (*name) are not supported here; write the value again';
  if ('anchor' in node && node.anchor !== undefined) return 'anchors (&name) are not supported here';
  return node.tag === undefined ? null : 'tags (!name) are not supported here';
}

function isNull(node: ParsedNode | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

/** A suggestion to append, or nothing. Looks into the section first, then for a setting of that name elsewhere. */
function meant(name: string, section: Section | null): string {
  const here = section === null ? sections.map((each) => each.name) : section.settings.map((each) => each.name);
  const elsewhere = settings.find((each) => each.name === name || each.key === name)?.key;
  const suggestion = elsewhere ?? closest(name, here);
  return suggestion === null ? '' : `; did you mean "${suggestion}"?`;
}

function failed(problem: string): Layer {
  return { values: [], problems: [problem], warnings: [] };
}

function readProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'this is a folder, not a file';
  if (code === 'EACCES') return 'the file may not be read by this user';
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'the file is not UTF-8' : messageOf(error);
}
