/** A folder that looks like the project to a person who types commands there, with a data folder of its own. */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { root } from './read-document.ts';

export interface Workplace extends AsyncDisposable {
  readonly folder: string;
  /**
   * Runs one line in a shell, both outputs as one. `before` is the exit code of the line before, for `$?`. The first
   * line of each command is a process; a later one whose words mean nothing to a shell is carried out in this process.
   */
  run(line: string, before: number): Promise<{ readonly code: number; readonly output: string }>;
}

const timeoutMs = 60_000;
/** Commands that have run as processes of their own, in any workplace. */
const known = new Set<string>();
const plainLine = /^patchbay [\w ./-]+$/;

export async function openWorkplace(): Promise<Workplace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-docs-')));
  for (const name of ['config', 'package.json', '.npmrc'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  for (const name of ['src', 'jobs', 'node_modules']) await symlink(join(root, name), join(folder, name));
  // What the alias of the README is to a person.
  await mkdir(join(folder, 'bin'));
  await symlink(join(root, 'src/cli/patchbay.mjs'), join(folder, 'bin/patchbay'));
  return {
    folder,
    run: async (line, before) => {
      const command = /\bpatchbay ([a-z]+)/.exec(line)?.[1] ?? '';
      const isKnown = known.has(command);
      known.add(command);
      if (!isKnown || !plainLine.test(line)) return runShell(folder, `(exit ${before}); ${line}`);
      const { code, output } = await callPatchbay(line.split(' ').slice(1), { HOME: folder }, folder);
      return { code: code ?? -1, output };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function runShell(cwd: string, line: string): Promise<{ code: number; output: string }> {
  const env = {
    PATH: [join(cwd, 'bin'), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    HOME: cwd,
    TMPDIR: tmpdir(),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const shell = spawn('sh', ['-c', `exec 2>&1\n${line}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
  });
  const pieces: Buffer[] = [];
  shell.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  return new Promise((resolve, reject) => {
    shell.on('error', reject);
    shell.on('close', (code) => resolve({ code: code ?? -1, output: Buffer.concat(pieces).toString('utf8') }));
  });
}
