/**
 * The layer of a config file: YAML with sections that hold settings, read node by node so that each value and each
 * problem keeps its line and column.
 *
 * Anchors, aliases, tags and merge keys are refused: nothing in the file is ever expanded, so no file can grow.
 * A message never repeats what stands in the file besides keys: a value may be a secret.
 */
import { dirname } from 'node:path';
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { messageOf } from '../errors.ts';
import { NotSettings, readSettingsFile } from '../settings-file.ts';
import { closest } from './closest.ts';
import { feedNameProblem } from './feed-name.ts';
import type { GivenFeed, GivenValue, Layer, Origin } from './given-value.ts';
import { feedKeySynonyms, feedsMax } from './sections/feeds.ts';
import { feedGroup, type Group, sections, settings } from './settings.ts';

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
    text = await readSettingsFile(path);
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
  if (problems.length > 0) return { ...nothing, problems };
  visit(document, {
    Node: (_key, node) => {
      const refused = refusedYaml(node);
      if (refused !== null) problems.push(`${place(node.range?.[0] ?? 0)}: ${refused}`);
    },
  });
  const root = document.contents;
  if (problems.length > 0 || root === null || isNull(root)) return { ...nothing, problems };
  if (!isMap(root)) return failed(`${place(root.range[0])}: the file must hold sections, such as "data:"`);
  return readSections(root, context, place);
}

/** Walks the sections. Ends since groups are finitely deep and every value of the file is looked at once. */
function readSections(root: YAMLMap.Parsed, context: FileContext, place: (offset: number) => string): Layer {
  const values: GivenValue[] = [];
  const feeds: GivenFeed[] = [];
  const problems: string[] = [];
  for (const { name, node, value } of pairsOf(root)) {
    const section = sections.find((candidate) => candidate.name === name);
    if (section === undefined) problems.push(`${place(node.range[0])}: unknown section "${name}"${meant(name, null)}`);
    else if (section.kind === 'feeds') readFeeds(value);
    else readGroup(section, value, 'a section of settings');
  }
  return { values, feeds, problems, warnings: [] };

  function readFeeds(map: ParsedNode | null): void {
    if (isNull(map)) return;
    if (!isMap(map)) {
      problems.push(`${place(map?.range[0] ?? 0)}: feeds must be a group of feeds by name, such as "crm:"`);
      return;
    }
    for (const [count, { name: written, node, value }] of pairsOf(map).entries()) {
      if (count >= feedsMax) {
        problems.push(`${place(node.range[0])}: this is one feed more than the ${feedsMax} that are allowed`);
        return;
      }
      const name = written.normalize('NFC');
      const problem = feedNameProblem(name);
      if (problem !== null) problems.push(`${place(node.range[0])}: ${problem}`);
      else {
        feeds.push({ name, origin: originAt(node) });
        readGroup(feedGroup(name), value, 'a group of settings');
      }
    }
  }

  function readGroup(group: Group, map: ParsedNode | null, expected: string): void {
    if (isNull(map)) return;
    if (!isMap(map)) {
      problems.push(`${place(map?.range[0] ?? 0)}: ${group.key} must be ${expected}`);
      return;
    }
    for (const { name, node, value } of pairsOf(map)) {
      const member = group.members.find((candidate) => candidate.name === name);
      if (member === undefined) {
        problems.push(`${place(node.range[0])}: unknown key "${name}" in ${group.key}${meant(name, group)}`);
      } else if (member.kind === 'group') {
        readGroup(member, value, 'a group of settings');
      } else {
        const origin = originAt(value ?? node);
        values.push({ setting: member, value: plainValue(value), origin, folder: context.folder });
      }
    }
  }

  function originAt(node: ParsedNode): Origin {
    return { kind: context.kind, name: context.kind === 'default' ? 'default' : place(node.range[0]) };
  }
}

interface Pair {
  readonly name: string;
  readonly node: ParsedNode;
  readonly value: ParsedNode | null;
}

function pairsOf(map: YAMLMap.Parsed): Pair[] {
  return map.items.map(({ key, value }) => ({
    // The text as it stands there: a feed called 007 or yes is no number and no truth.
    name: isScalar(key) ? (key.source ?? String(key.value)).slice(0, 100) : '(not a name)',
    node: key,
    value,
  }));
}

/** A scalar as it is, a list of scalars too; what is nested deeper as empty, since the check refuses it. */
function plainValue(node: ParsedNode | null): unknown {
  if (node === null) return null;
  if (isScalar(node)) return node.value;
  return isSeq(node) ? node.items.map((item) => (isScalar(item) ? item.value : {})) : {};
}

function refusedYaml(node: Node): string | null {
  if ('source' in node && !isScalar(node)) return 'aliases (*name) are not supported here; write the value again';
  if ('anchor' in node && node.anchor !== undefined) return 'anchors (&name) are not supported here';
  return node.tag === undefined ? null : 'tags (!name) are not supported here';
}

function isNull(node: ParsedNode | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

/** A suggestion to append, or nothing. Looks for a setting of that name elsewhere, then into the group. */
function meant(name: string, group: Group | null): string {
  const inFeed = group?.path[0] === 'feeds';
  const here = group === null ? sections : group.members;
  const elsewhere = settings.find((each) => each.name === name || each.key === name)?.key;
  const synonym = inFeed && group.path.length === 2 ? feedKeySynonyms[name.toLowerCase()] : undefined;
  const suggestion =
    synonym ??
    elsewhere ??
    closest(
      name,
      here.map((each) => each.name),
    );
  return suggestion === null ? '' : `; did you mean "${suggestion}"?`;
}

const nothing: Layer = { values: [], feeds: [], problems: [], warnings: [] };

function failed(problem: string): Layer {
  return { ...nothing, problems: [problem] };
}

function readProblem(error: unknown): string {
  if (error instanceof NotSettings) return `the file ${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EACCES' ? 'the file may not be read by this user' : messageOf(error);
}
