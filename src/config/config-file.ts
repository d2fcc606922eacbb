/**
 * A config file as raw values, each with its line and column. Nothing is checked here but the YAML itself.
 *
 * Anchors, aliases and tags are refused: nothing in the file is ever expanded, so no file can grow. A message never repeats
 * what the file holds, except keys: a value may be a secret.
 */
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, visit, type YAMLMap } from 'yaml';
import { messageOf, systemCodeOf } from '../errors.ts';
import { NotSettings, readSettingsFile } from '../settings-file.ts';
import { parseSettings, yamlMistakes } from '../yaml-mistakes.ts';
import type { Layer, RawValue } from './layers.ts';

const keyCharactersMax = 100;

/** Reads the file at `path`; messages call it `shownPath`. Never throws: a file that cannot be read is a problem. */
export async function readConfigFile(path: string, shownPath: string): Promise<Layer> {
  const layer = { values: [], problems: [], warnings: [], folder: dirname(path) };
  try {
    return { ...layer, ...parseConfigFile(await readSettingsFile(path), shownPath) };
  } catch (error) {
    return { ...layer, problems: [`${shownPath}: ${await readProblem(error, path)}`] };
  }
}

function parseConfigFile(text: string, shownPath: string): Pick<Layer, 'values' | 'problems'> {
  const lines = new LineCounter();
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${shownPath}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const document = parseSettings(text, lines);
  const mistakes = yamlMistakes(text, document, [...document.errors, ...document.warnings]);
  const problems = mistakes.map(({ offset, message }) => `${place(offset)}: ${message}`);
  if (problems.length > 0) return { values: [], problems };
  visit(document, {
    Node: (_key, node) => {
      const refused = refusedYaml(node);
      if (refused !== null) problems.push(`${place(node.range?.[0] ?? 0)}: ${refused}`);
    },
  });
  const root = document.contents;
  if (problems.length > 0 || root === null || (isScalar(root) && root.value === null)) return { values: [], problems };
  if (!isMap(root)) {
    return { values: [], problems: [`${place(root.range[0])}: the file must hold sections, such as "data:"`] };
  }
  return { values: valuesOf(root, [], place, problems), problems };
}

/** The values of a map and of the maps within it. Ends since the parser has read the whole file. */
function valuesOf(
  map: YAMLMap.Parsed,
  path: readonly string[],
  place: (offset: number) => string,
  problems: string[],
): readonly RawValue[] {
  const seen = new Set<string>();
  return map.items.flatMap(({ key, value }): readonly RawValue[] => {
    // The text as written: a feed called 007 or yes is neither a number nor a truth value.
    const written = isScalar(key) ? (key.source ?? String(key.value)).slice(0, keyCharactersMax) : '(not a name)';
    // A folder's name is compared in the same encoding.
    const name = path.length === 1 && path[0] === 'feeds' ? written.normalize('NFC') : written;
    const keyOrigin = { kind: 'file', name: place(key.range[0]) } as const;
    const isTwice = seen.has(name);
    seen.add(name);
    // zod skips this name without a word.
    if (isTwice || name === '__proto__') {
      problems.push(
        `${keyOrigin.name}: ${isTwice ? 'this key is here a second time' : `no key may be called ${name}`}`,
      );
      return [];
    }
    const origin = { kind: 'file', name: place((value ?? key).range[0]) } as const;
    const one = { path: [...path, name], origin, keyOrigin };
    if (!isMap(value)) return [{ ...one, value: plainValue(value) }];
    return [{ ...one, value: {} }, ...valuesOf(value, one.path, place, problems)];
  });
}

/** A scalar as it is, and a list of scalars; what is nested deeper as empty, since the schema refuses it. */
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

async function readProblem(error: unknown, path: string): Promise<string> {
  if (error instanceof NotSettings) return `the file ${error.message}`;
  if (systemCodeOf(error) !== 'ENOENT') return messageOf(error);
  return (await isLink(path)) ? 'it is a link to a file that is not there' : 'there is no such file';
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
