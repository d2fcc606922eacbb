/** `patchbay serve --load` and `--dump`, as processes: what they print, the codes they leave, and Ctrl-C. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const cli = resolve(import.meta.dirname, '../../src/cli/patchbay.mjs');

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'serve-workspace-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function start(folder: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, [cli, 'serve', ...args], { cwd: folder, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function ended(child: Child): Promise<Ended> {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { exitCode, stdout, stderr };
}

/** What a service prints until it has said how to try it, or its one document. */
async function firstOutput(child: Child): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (/^(?:\{.*\}|try .*)\n/m.test(output)) return output;
  }
  throw new Error(`the service ended: ${output}`);
}

const contacts = [{ externalId: '1', defaultFields: { firstName: 'Ada' } }];

test('a loaded workspace is told at the start, dumped while it is served, and loaded from standard input', async () => {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'in.json'), JSON.stringify({ contacts }));
  const service = start(folder, '--port', '0', '--store', 's.sqlite', '--load', 'in.json', '--json');
  expect(JSON.parse(await firstOutput(service))).toMatchObject({
    store: 's.sqlite',
    loaded: { contacts: 1, users: 1, customFields: 7, phoneNumbers: 0, calls: 0, recordings: 0, messages: 0 },
  });

  const toFile = await ended(start(folder, '--store', 's.sqlite', '--dump', 'out.json'));
  expect(toFile).toEqual({
    exitCode: 0,
    stdout: 'dumped 1 contact, 1 user, 7 custom fields to out.json\n',
    stderr: '',
  });
  const toStdout = await ended(start(folder, '--store', 's.sqlite', '--dump', '-', '--json'));
  expect(toStdout.stdout).toBe(readFileSync(join(folder, 'out.json'), 'utf8'));
  const asJson = await ended(start(folder, '--store', 's.sqlite', '--dump', 'out.json.gz', '--json'));
  expect(JSON.parse(asJson.stdout)).toMatchObject({ store: 's.sqlite', dump: 'out.json.gz', contacts: 1 });

  const second = start(folder, '--port', '0', '--load', '-');
  second.stdin.end(toStdout.stdout);
  expect(await firstOutput(second)).toContain('loaded   1 contact, 1 user, 7 custom fields\n');
});

test('a file that cannot be loaded exits with 2, tells what is wrong, and leaves no store', async () => {
  const folder = folderOfTest();
  const bad = { defaultFields: { firstName: 'Ada', phoneNumbers: [{ name: 'a', value: '12' }] } };
  writeFileSync(join(folder, 'bad.json'), JSON.stringify({ contacts: [...contacts, bad, bad] }));
  const { exitCode, stdout, stderr } = await ended(start(folder, '--store', 's.sqlite', '--load', 'bad.json'));
  const problem = (index: number) =>
    `contacts[${index}].defaultFields.phoneNumbers[0].value (line 1): must be in E.164 format, as +14155550100`;
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr.split('\n')).toEqual([
    problem(1),
    problem(2),
    `patchbay: bad.json: ${problem(1)}; 2 problems in all [workspaceFileInvalid]`,
    '  Nothing was loaded. Correct the file and load it again.',
    '',
  ]);
  const json = await ended(start(folder, '--store', 's.sqlite', '--load', 'absent.json', '--json'));
  expect(JSON.parse(json.stdout)).toEqual({
    error: {
      code: 'workspaceFileUnreadable',
      message: 'cannot read absent.json: it is not there',
      hint: 'Check the path.',
    },
    exitCode: 2,
  });
  expect(readdirSync(folder)).toEqual(['bad.json']);
});

test('options that contradict each other, and a dump of no store, exit with 2', async () => {
  const folder = folderOfTest();
  for (const args of [
    ['--load', 'a.json', '--contacts', '5'],
    ['--load', 'a.json', '--numbers', '5'],
    ['--dump', 'a.json', '--store', 's.sqlite', '--load', 'b.json'],
    ['--dump', 'a.json', '--store', 's.sqlite', '--port', '0'],
    ['--dump', 'a.json'],
    ['--dump', 'a.json', '--store', 's.sqlite'],
  ]) {
    expect((await ended(start(folder, ...args))).exitCode, args.join(' ')).toBe(2);
  }
  expect(readdirSync(folder)).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of a load ends it at once and leaves no store',
  async (signal) => {
    const folder = folderOfTest();
    const service = start(folder, '--port', '0', '--store', 's.sqlite', '--load', '-');
    // The file never ends: only the signal does.
    service.stdin.on('error', () => undefined);
    service.stdin.write(`{"contacts":[\n${JSON.stringify(contacts[0])}`);
    while (readdirSync(folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
    service.kill(signal);
    const { exitCode, stdout, stderr } = await ended(service);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: signal === 'SIGINT' ? 130 : 143,
      stdout: '',
      stderr: 'interrupted; nothing was loaded\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  },
);

test('a load that is interrupted tells it in one document with --json', async () => {
  const folder = folderOfTest();
  const service = start(folder, '--port', '0', '--store', 's.sqlite', '--load', '-', '--json');
  service.stdin.on('error', () => undefined);
  while (readdirSync(folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
  service.kill('SIGINT');
  expect(JSON.parse((await ended(service)).stdout)).toEqual({
    error: { code: 'interrupted', message: 'interrupted; nothing was loaded', hint: null },
    exitCode: 130,
  });
});

test('what a killed load left behind is removed by the next one', async () => {
  const folder = folderOfTest();
  const killed = start(folder, '--port', '0', '--store', 's.sqlite', '--load', '-');
  killed.stdin.on('error', () => undefined);
  killed.stdin.write('{"contacts":[');
  while (readdirSync(folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(readdirSync(folder)).toEqual([`s.sqlite.loading-${killed.pid}`]);
  writeFileSync(join(folder, 'in.json'), JSON.stringify({ contacts }));
  await firstOutput(start(folder, '--port', '0', '--store', 's.sqlite', '--load', 'in.json'));
  expect(readdirSync(folder).filter((name) => name.includes('loading'))).toEqual([]);
});

test('a start that is killed while it invents contacts leaves a store that the next start fills', async () => {
  const folder = folderOfTest();
  const killed = start(folder, '--port', '0', '--store', 's.sqlite', '--contacts', '1000000');
  while (!readdirSync(folder).includes('s.sqlite-wal')) await new Promise((resolve) => setImmediate(resolve));
  killed.kill('SIGTERM');
  await once(killed, 'exit');
  const next = start(folder, '--port', '0', '--store', 's.sqlite', '--contacts', '3');
  await firstOutput(next);
  const dump = await ended(start(folder, '--store', 's.sqlite', '--dump', '-'));
  expect(JSON.parse(dump.stdout).contacts).toHaveLength(3);
});

test('a reader who has seen enough of a dump ends it quietly', async () => {
  const folder = folderOfTest();
  await firstOutput(start(folder, '--port', '0', '--store', 's.sqlite', '--contacts', '5000'));
  const dump = start(folder, '--store', 's.sqlite', '--dump', '-', '--quiet');
  await once(dump.stdout, 'data');
  dump.stdout.destroy();
  const [[exitCode], stderr] = await Promise.all([once(dump, 'exit'), text(dump.stderr)]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});
