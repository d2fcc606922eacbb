/**
 * Writes `schema-N.sql` and `schema-N.workspace.ndjson`: a ledger with work left open by the Patchbay of a checkout, and the contacts
 * that its service held then. A new schema gets its own when it comes, and none is made anew:
 *
 *     node test/journeys/old-ledgers/make-old-ledger.ts CHECKOUT
 *
 * In that folder stands a Patchbay with its packages. What is left open: `leaveOpen` below.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { oldConfig, oldFiles } from './left-open.ts';

const [checkout = ''] = process.argv.slice(2);
const launcher = join(resolve(checkout), 'src/cli/patchbay.mjs');
const folder = mkdtempSync(join(tmpdir(), 'pb-old-'));
const data = join(folder, 'data');
const store = join(folder, 'service.sqlite');
const key = 'key-for-journeys';
const running = new Set<ChildProcess>();

function file(name: keyof typeof oldFiles): string {
  writeFileSync(join(folder, name), oldFiles[name]);
  return join(folder, name);
}

const config = join(folder, 'patchbay.yaml');
writeFileSync(config, oldConfig);
const env = {
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, PATCHBAY_DATA: data, PATCHBAY_CONFIG: config, PORT: '0' },
  ...{ PATCHBAY_RATE: '500', PATCHBAY_UPSERT_LATEST_COMMIT: '1s', PATCHBAY_UPSERT_VISIBILITY_LAG: '0s' },
};

function begin(args: readonly string[], more: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, [launcher, ...args], { env: { ...env, ...more }, cwd: folder, detached: true });
  running.add(child);
  return child;
}

/** The group goes with it: the queue is a process of its own. */
async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((done) => child.once('exit', done));
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

async function carryOut(args: readonly string[], more: Readonly<Record<string, string>>): Promise<string> {
  const child = begin(args, more);
  let said = '';
  child.stdout?.on('data', (text: Buffer) => {
    said += text.toString();
  });
  child.stderr?.on('data', (text: Buffer) => {
    said += text.toString();
  });
  await new Promise((done) => child.once('close', done));
  running.delete(child);
  process.stderr.write(`${args.join(' ')}: ${child.exitCode}\n${said}\n`);
  return said;
}

function ask(sql: string): readonly Readonly<Record<string, SQLOutputValue>>[] {
  const db = new DatabaseSync(join(data, 'ledger.sqlite'), { readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

function hasSchedule(): boolean {
  try {
    const isFirstDesign = ask("SELECT 1 FROM sqlite_master WHERE name = 'records'").length === 0;
    return ask(isFirstDesign ? 'SELECT * FROM schedules' : "SELECT * FROM records WHERE kind = 'schedule'").length > 0;
  } catch {
    // It is not there yet.
    return false;
  }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await isSo()) return;
    await setTimeout(50);
  }
  throw new Error(`never: ${what}`);
}

async function serve(): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const child = begin(
    ['serve', '--port', '0', '--store', store, '--key', key, '--contacts', '0', '--numbers', '1', '--control'],
    {},
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => {
      said += text.toString();
    });
  }
  await until('the service listens', () => /http:\/\/127\.0\.0\.1:\d+/.test(said));
  return { child, origin: /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '' };
}

async function contactsAt(origin: string): Promise<readonly { readonly id: string; readonly externalId: string }[]> {
  const reply = await fetch(`${origin}/v1/contacts?maxResults=50`, { headers: { authorization: key } });
  return ((await reply.json()) as { data: { id: string; externalId: string }[] }).data;
}

async function fail(origin: string, faults: readonly string[]): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${origin}/__control`, { method: 'POST', headers, body: JSON.stringify({ faults }) });
}

function dump(path: string): string {
  const db = new DatabaseSync(path);
  const objects = db.prepare(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  const all = objects.all().map(({ type, name, sql }) => ({ type, name: String(name), sql: `${sql};` }));
  const tables = all.filter(({ type }) => type === 'table');
  const rows = tables.flatMap(({ name }) =>
    db
      .prepare(`SELECT * FROM "${name}"`)
      .all()
      .map((row) => `INSERT INTO "${name}" VALUES (${Object.values(row).map(literal).join(', ')});`),
  );
  const sequences = db.prepare('SELECT name, seq FROM sqlite_sequence').all();
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
  return [
    ...tables.map(({ sql }) => sql),
    ...rows,
    'DELETE FROM sqlite_sequence;',
    ...sequences.map(({ name, seq }) => `INSERT INTO sqlite_sequence VALUES (${literal(name ?? null)}, ${seq});`),
    ...all.filter(({ type }) => type !== 'table').map(({ sql }) => sql),
    `PRAGMA user_version = ${version};`,
    '',
  ].join('\n');
}

function literal(value: SQLOutputValue): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** @returns the origin of its service, which listens no more. */
async function leaveOpen(): Promise<string> {
  mkdirSync(join(folder, 'drop'));
  const { child, origin } = await serve();
  const service = { PATCHBAY_BASE_URL: origin, PATCHBAY_API_KEY: key };
  const start = begin(['start'], service);
  await until('the schedule is entered', () => hasSchedule());
  await kill(start);
  const names = await carryOut(['import', file('people.csv')], service);
  if (!names.includes('12 created')) throw new Error(names);
  const edited = (await contactsAt(origin)).find(({ externalId }) => externalId === 'p-1');
  await fetch(`${origin}/v1/contacts/${edited?.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', authorization: key },
    body: JSON.stringify({ defaultFields: { firstName: 'Annie' } }),
  });
  // A held field and a letter.
  await carryOut(['import', '--accept', file('mixed.csv')], service);
  await carryOut(['import', file('moved.csv')], service);
  const stopped = String(ask("SELECT id FROM runs WHERE state = 'stopped'")[0]?.id);
  await carryOut(['plan', '--run', stopped], service);
  await carryOut(['plan', file('later.csv')], service);
  // Killed while it writes, and killed while it looks at the contacts that are there.
  await fail(origin, ['create:hangAfter']);
  const writing = begin(['import', '--feed', 'crm', file('crm.csv')], service);
  await until('a create hangs', async () => (await contactsAt(origin)).some(({ externalId }) => externalId === 'c-1'));
  await kill(writing);
  await fail(origin, ['create:hangAfter', 'list:hangAfter']);
  const staging = begin(['import', '--feed', 'shop', file('shop.csv')], service);
  await until('rows are staged', () => {
    const [run] = ask(`SELECT state, "rows" FROM runs WHERE feed = 'shop'`);
    return run?.state === 'staging' && run.rows === 6;
  });
  await kill(staging);
  await kill(child);
  return origin;
}

async function main(): Promise<void> {
  const origin = await leaveOpen();
  const workspace = join(folder, 'workspace.ndjson');
  execFileSync(process.execPath, [launcher, 'serve', '--store', store, '--dump', workspace], { env, cwd: folder });
  const text = dump(join(data, 'ledger.sqlite')).replaceAll(folder, '{{folder}}').replaceAll(origin, '{{service}}');
  const version = /PRAGMA user_version = (\d+)/.exec(text)?.[1];
  const target = (name: string) => join(import.meta.dirname, `schema-${version}.${name}`);
  writeFileSync(target('sql'), text);
  writeFileSync(target('workspace.ndjson'), readFileSync(workspace));
  process.stderr.write(`${target('sql')}: ${text.length} characters\n`);
}

try {
  await main();
} finally {
  for (const child of running) await kill(child);
  if (process.env.KEEP === undefined) rmSync(folder, { recursive: true, force: true });
  else process.stderr.write(`${folder}\n`);
}
