/** Imports run one way (`docs/design.md`, "Layout"; the table with its reasons: `src/README.md`). */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** A room, and the rooms that it may import from. Itself is always allowed. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  clock: [],
  log: [],
  steps: [],
  telemetry: [],
  'settings-file': [],
  'yaml-mistakes': [],
  'whole-file': ['errors'],
  'shell-words': [],
  'reserved-sources': [],
  'database-url': [],
  repeat: [],
  threads: [],
  json: ['errors'],
  config: ['errors', 'settings-file', 'yaml-mistakes', 'reserved-sources', 'database-url'],
  wire: [],
  contacts: ['errors', 'wire'],
  sources: ['errors', 'clock', 'log', 'whole-file', 'json', 'contacts', 'shell-words'],
  mapping: ['errors', 'settings-file', 'yaml-mistakes', 'reserved-sources', 'wire', 'contacts', 'sources'],
  rate: ['errors', 'clock', 'log'],
  workspace: ['errors', 'clock', 'log', 'telemetry', 'rate', 'wire', 'contacts'],
  ledger: ['errors', 'clock', 'wire', 'contacts', 'sources', 'mapping', 'whole-file', 'database-url'],
  journal: ['errors', 'clock', 'wire', 'contacts', 'sources', 'ledger'],
  schedules: ['errors', 'clock', 'log', 'config', 'ledger'],
  feeds: ['errors', 'config', 'sources', 'mapping', 'ledger'],
  notices: ['errors', 'clock', 'log', 'config', 'workspace', 'ledger', 'schedules'],
  snapshots: ['errors', 'clock', 'log', 'whole-file', 'wire', 'workspace', 'ledger'],
  upsert: [
    'errors',
    'clock',
    'log',
    'steps',
    'telemetry',
    'rate',
    'wire',
    'contacts',
    'mapping',
    'workspace',
    'ledger',
  ],
  runs: [
    ...['errors', 'clock', 'log', 'steps', 'config', 'wire', 'contacts', 'sources', 'mapping', 'workspace', 'ledger'],
    ...['upsert', 'feeds', 'whole-file', 'threads', 'telemetry', 'journal', 'shell-words', 'json'],
  ],
  plans: [
    ...['errors', 'clock', 'log', 'wire', 'contacts', 'sources', 'workspace', 'ledger', 'upsert', 'runs', 'journal'],
    'whole-file',
  ],
  takes: ['errors', 'clock', 'log', 'config', 'sources', 'workspace', 'ledger', 'feeds', 'runs', 'whole-file'],
  'dead-letters': ['errors', 'clock', 'config', 'feeds', 'ledger', 'mapping', 'runs', 'sources'],
  audits: ['errors', 'clock', 'log', 'contacts', 'workspace', 'ledger', 'whole-file'],
  queue: ['errors', 'clock', 'log', 'repeat', 'ledger', 'schedules', 'threads', 'whole-file'],
  jobs: [
    ...['errors', 'log', 'queue', 'runs', 'upsert', 'dead-letters', 'audits', 'schedules', 'snapshots', 'notices'],
  ],
  service: ['errors', 'clock', 'log', 'json', 'wire'],
  app: ['errors', 'clock', 'log', 'config', 'feeds', 'ledger', 'runs', 'shell-words'],
  operations: [
    ...['errors', 'clock', 'config', 'rate', 'wire', 'contacts', 'sources', 'mapping', 'workspace', 'ledger'],
    ...['schedules', 'feeds', 'snapshots', 'runs', 'dead-letters', 'audits', 'app', 'whole-file', 'notices', 'journal'],
    ...['plans', 'shell-words'],
  ],
  engine: [
    ...['errors', 'clock', 'log', 'config', 'rate', 'sources', 'workspace', 'ledger', 'upsert', 'runs', 'operations'],
    ...[
      'repeat',
      'queue',
      'jobs',
      'service',
      'app',
      'feeds',
      'schedules',
      'snapshots',
      'notices',
      'takes',
      'telemetry',
    ],
    'whole-file',
  ],
  metrics: ['ledger', 'telemetry'],
  traces: ['errors', 'clock', 'log', 'telemetry'],
  dashboard: [
    ...['errors', 'clock', 'log', 'json', 'config', 'sources', 'ledger', 'runs', 'schedules', 'app', 'operations'],
    ...['shell-words', 'contacts', 'journal', 'plans'],
  ],
  cli: [
    ...['errors', 'clock', 'log', 'config', 'wire', 'contacts', 'sources', 'ledger', 'feeds', 'schedules', 'snapshots'],
    ...['runs', 'audits', 'service', 'app', 'operations', 'engine', 'metrics', 'traces', 'dashboard', 'journal'],
    ...['plans', 'whole-file', 'shell-words', 'json'],
  ],
};

/** Pure rooms: no I/O, no clock, no random number. The named files are the exceptions, each a thin reader. */
const pureRooms = ['contacts', 'mapping'];
const impureFiles = ['src/mapping/load-mapping.ts'];
const ledgerRules = 'src/ledger/rules/';

interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const files = [...walk(join(root, 'src')), ...walk(join(root, 'jobs'))].map(readSource);

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return walk(path);
    return /\.(ts|mjs)$/.test(name) && !name.endsWith('.d.ts') ? [path] : [];
  });
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  return {
    path: relative(root, path),
    room: roomOf(path),
    text,
    imports: specifiers.flatMap((one) => resolveImport(path, one)),
  };
}

function resolveImport(from: string, specifier: string): string[] {
  if (specifier.startsWith('#src/')) return [join(root, 'src', specifier.slice(5))];
  if (specifier.startsWith('#jobs/')) return [join(root, 'jobs', specifier.slice(6))];
  return specifier.startsWith('.') ? [resolve(dirname(from), specifier)] : [];
}

function roomOf(path: string): string {
  const [top, room = ''] = relative(root, path).split('/');
  return top === 'jobs' ? 'jobs' : room.replace(/\.ts$/, '');
}

describe('the layers', () => {
  it('have a place for every room', () => {
    expect([...new Set(files.map((file) => file.room))].sort()).toEqual(Object.keys(mayImport).sort());
  });

  it('are imported one way only', () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((target) => !target.endsWith('.json') && roomOf(target) !== file.room)
        .filter((target) => !(mayImport[file.room] ?? []).includes(roomOf(target)))
        .map((target) => `${file.path} imports ${relative(root, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it('hold no cycle in the table itself', () => {
    const reaches = (from: string, wanted: string, seen = new Set<string>()): boolean =>
      (mayImport[from] ?? []).some((next) => {
        if (next === wanted) return true;
        if (seen.has(next)) return false;
        seen.add(next);
        return reaches(next, wanted, seen);
      });
    expect(Object.keys(mayImport).filter((room) => reaches(room, room))).toEqual([]);
  });

  it('keep the decisions pure: no I/O, no clock, no random number', () => {
    const forbidden =
      /'node:(?!crypto)[a-z/]+'|Date\.now\(|new Date\(\)|performance\.now|Math\.random|randomUUID|randomBytes|process\./;
    const wrong = files.filter(
      (file) =>
        (pureRooms.includes(file.room) || file.path.startsWith(ledgerRules)) &&
        !impureFiles.includes(file.path) &&
        forbidden.test(file.text),
    );
    expect(wrong.map((file) => file.path)).toEqual([]);
  });

  it('take the time as a parameter: the wall clock is read in one file', () => {
    const readers = files.filter(({ text }) => /Date\.now\(|new Date\(\)/.test(text)).map(({ path }) => path);
    expect(readers).toEqual(['src/clock.ts']);
  });

  it('keep the rules of the ledger free of its database', () => {
    const rules = files.filter(({ path }) => path.startsWith(ledgerRules));
    expect(rules.length).toBeGreaterThan(0);
    expect(rules.filter(({ text }) => /sqlite|Database/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('keep every file below 500 lines', () => {
    expect(files.filter((file) => file.text.split('\n').length > 500).map((file) => file.path)).toEqual([]);
  });
});
