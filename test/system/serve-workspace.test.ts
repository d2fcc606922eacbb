/** `patchbay serve --load` and `--dump`, as processes: what they print, the codes they leave, and Ctrl-C. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openTestService } from '#test/service/test-service.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { until } from '#test/support/until.ts';

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

/** `serve` in this process, for what ends by itself. */
function call(folder: string, ...args: readonly string[]) {
  return callPatchbay(['serve', ...args], {}, folder);
}

/** Leaves a store with so many invented contacts. */
async function makeStore(folder: string, contactCount: number): Promise<void> {
  const service = await openTestService({ store: join(folder, 's.sqlite'), seedContacts: contactCount });
  await service.close();
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

/** Resolves when a load has begun to write its store. */
async function draftIn(folder: string): Promise<void> {
  await until('a load', () => readdirSync(folder).some((name) => name.includes('.loading-')));
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

  const toFile = await call(folder, '--store', 's.sqlite', '--dump', 'out.json');
  expect(toFile).toMatchObject({
    code: 0,
    stdout: 'dumped 1 contact, 1 user, 7 custom fields to out.json\n',
    stderr: '',
  });
  const toStdout = await ended(start(folder, '--store', 's.sqlite', '--dump', '-', '--json'));
  expect(toStdout.stdout).toBe(readFileSync(join(folder, 'out.json'), 'utf8'));
  const asJson = await call(folder, '--store', 's.sqlite', '--dump', 'out.json.gz', '--json');
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
  const json = await call(folder, '--store', 's.sqlite', '--load', 'absent.json', '--json');
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
    expect((await call(folder, ...args)).code, args.join(' ')).toBe(2);
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
    await draftIn(folder);
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
  await draftIn(folder);
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
  await draftIn(folder);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const draft = expect.stringMatching(`^s\\.sqlite\\.loading-${killed.pid}-[0-9a-f]{12}$`);
  expect(readdirSync(folder).toSorted()).toEqual(['s.sqlite-lock', draft]);
  writeFileSync(join(folder, 'in.json'), JSON.stringify({ contacts }));
  await firstOutput(start(folder, '--port', '0', '--store', 's.sqlite', '--load', 'in.json'));
  expect(readdirSync(folder).filter((name) => name.includes('loading'))).toEqual([]);
});

test('a start that is killed while it invents contacts leaves a store that the next start fills', async () => {
  const folder = folderOfTest();
  const killed = start(folder, '--port', '0', '--store', 's.sqlite', '--contacts', '1000000');
  await until('a store', () => readdirSync(folder).includes('s.sqlite-wal'));
  killed.kill('SIGTERM');
  await once(killed, 'exit');
  const next = start(folder, '--port', '0', '--store', 's.sqlite', '--contacts', '3');
  await firstOutput(next);
  await call(folder, '--store', 's.sqlite', '--dump', 'out.json');
  expect(JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')).contacts).toHaveLength(3);
});

test('a dump whose reader leaves before its end is cut off, and says so', async () => {
  const folder = folderOfTest();
  await makeStore(folder, 5_000);
  for (const more of [[], ['--json', '--quiet']]) {
    const dump = start(folder, '--store', 's.sqlite', '--dump', '-', ...more);
    await once(dump.stdout, 'data');
    dump.stdout.destroy();
    const [[exitCode], stderr] = await Promise.all([once(dump, 'exit'), text(dump.stderr)]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('the dump is cut off [dumpNotWritten]');
  }
});

test.runIf(process.platform === 'linux')('a dump that standard output does not take is a failure', async () => {
  const folder = folderOfTest();
  await makeStore(folder, 5);
  const into = async (redirection: string) => {
    const command = `exec "$0" "$1" serve --store s.sqlite --dump - ${redirection}`;
    const child = spawn('sh', ['-c', command, process.execPath, cli], { cwd: folder, stdio: 'pipe' });
    const { exitCode, stderr } = await ended(child);
    return { exitCode, stderr };
  };
  expect(await into('>/dev/full')).toEqual({ exitCode: 2, stderr: expect.stringContaining('no space left on device') });
  expect(await into('>&-')).toEqual({ exitCode: 2, stderr: expect.stringContaining('standard output is closed') });
  expect(await into('>/dev/null')).toEqual({ exitCode: 0, stderr: expect.stringContaining('dumped 5 contacts') });
});

test.runIf(process.platform === 'linux').each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a load that waits for the writer of a named pipe', async (signal, code) => {
  const folder = folderOfTest();
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const service = start(folder, '--port', '0', '--store', 's.sqlite', '--load', 'fifo');
  await until('a load', () => readdirSync(folder).length >= 3);
  service.kill(signal);
  expect(await ended(service)).toEqual({ exitCode: code, stdout: '', stderr: 'interrupted; nothing was loaded\n' });
  expect(readdirSync(folder)).toEqual(['fifo']);
});

test.runIf(process.platform === 'linux')(
  'what a named pipe brings is loaded, also when its writer comes late',
  async () => {
    const folder = folderOfTest();
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    const service = start(folder, '--port', '0', '--store', 's.sqlite', '--load', 'fifo', '--json');
    await until('a load', () => readdirSync(folder).length >= 3);
    await writeFile(join(folder, 'fifo'), JSON.stringify({ contacts }));
    expect(JSON.parse(await firstOutput(service)).loaded.contacts).toBe(1);
  },
);

test('SIGHUP in the middle of a dump leaves no half one', async () => {
  const folder = folderOfTest();
  await makeStore(folder, 100_000);
  const dump = start(folder, '--store', 's.sqlite', '--dump', 'out.json');
  await until('a part of it', () => readdirSync(folder).some((name) => name.includes('.part-')));
  dump.kill('SIGHUP');
  expect(await ended(dump)).toEqual({ exitCode: 129, stdout: '', stderr: 'interrupted; no dump was written\n' });
  expect(readdirSync(folder)).toEqual(['s.sqlite']);
});

test('a service that is ended as soon as its start is told ends as at any time', async () => {
  const folder = folderOfTest();
  for (let turn = 0; turn < 3; turn += 1) {
    const service = start(folder, '--port', '0', '--store', 's.sqlite', '--json');
    await once(service.stdout, 'data');
    service.kill('SIGTERM');
    const [exitCode, signal] = await once(service, 'exit');
    expect([exitCode, signal]).toEqual([143, null]);
  }
  expect(readdirSync(folder)).toEqual(['s.sqlite']);
});

test('a damaged store ends the start with 2 and the file named', async () => {
  const folder = folderOfTest();
  await makeStore(folder, 200);
  const bytes = readFileSync(join(folder, 's.sqlite'));
  writeFileSync(join(folder, 's.sqlite'), bytes.fill(0xaa, 4096));
  const { exitCode, stderr } = await ended(start(folder, '--port', '0', '--store', 's.sqlite'));
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/cannot open the store .*s\.sqlite.*\[storeUnreadable\]/);
  expect(stderr).not.toContain('Nothing is lost');
});

test.each([
  ['--fault-seed', ''],
  ['--fault-seed', ' '],
  ['--port', ''],
  ['--fault', '*:latency=1s\n'],
])('%s %j is a usage error', async (option, value) => {
  expect((await call(folderOfTest(), option, value)).code).toBe(2);
});
