/** Follows a walk through the imports of its files. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export interface Walk {
  readonly what: string;
  readonly filesMax: number;
  /** In the order of reading. */
  readonly files: readonly string[];
  /** Files that run without being imported by the one before, with what connects them: a job of the queue, an injected adapter. */
  readonly joints: Readonly<Record<string, string>>;
  /** Called on the way, or naming its values, but understood without being opened: what each does, in a few words. */
  readonly leaves: Readonly<Record<string, string>>;
  /** A list that may shrink: without a limit, a long walk could hide here. */
  readonly leavesMax: number;
  /** Imported by files of the walk and not called on this way: what each is for. */
  readonly elsewhere: Readonly<Record<string, string>>;
}

export interface FollowedWalk {
  readonly absent: readonly string[];
  readonly unconnected: readonly string[];
  readonly unexplained: readonly string[];
  readonly needless: readonly string[];
}

export function followWalk({ files, joints, leaves, elsewhere }: Walk): FollowedWalk {
  const there = files.filter((file) => existsSync(join(root, file)));
  const imported = new Map(there.map((file) => [file, importsOf(file)]));
  const isListed = (file: string): boolean => files.includes(file);
  const all = new Set([...imported.values()].flat());
  const reasons = [...Object.keys(leaves), ...Object.keys(elsewhere)];
  return {
    absent: files.filter((file) => !there.includes(file)),
    unconnected: files.filter((file, index) => {
      const before = files.slice(0, index);
      return index > 0 && joints[file] === undefined && !before.some((one) => imported.get(one)?.includes(file));
    }),
    unexplained: [...imported].flatMap(([file, targets]) =>
      targets.filter((one) => !isListed(one) && !reasons.includes(one)).map((one) => `${file} imports ${one}`),
    ),
    needless: [
      ...reasons.filter((name, index) => isListed(name) || !all.has(name) || reasons.indexOf(name) !== index),
      ...Object.keys(joints).filter((name) => !isListed(name)),
    ],
  };
}

/** The project files that a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'/gm)].map(([, one = '']) => one);
  return [...new Set(specifiers.flatMap((one) => resolveImport(file, one)))].filter((one) => one.endsWith('.ts'));
}

function resolveImport(file: string, specifier: string): readonly string[] {
  if (specifier.startsWith('#')) return [specifier.slice(1)];
  return specifier.startsWith('.') ? [relative(root, resolve(root, dirname(file), specifier))] : [];
}
