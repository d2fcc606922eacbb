/** `src/cli/patchbay.mjs`, before the program proper is there: where compiled code is kept, and one sentence for each Node or folder that cannot run it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pb-launcher-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function launch(env: NodeJS.ProcessEnv, launcher = join(root, 'src/cli/patchbay.mjs')) {
  return spawnSync(process.execPath, [launcher, '--version'], { env, encoding: 'utf8' });
}

test('what was compiled is kept where no other user can write, and not in the folder for temporary files', () => {
  const [home, temporary] = [emptyFolder(), emptyFolder()];
  expect(launch({ HOME: home, TMPDIR: temporary })).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(join(temporary, 'node-compile-cache'))).toBe(false);
  const kept = join(home, '.cache', 'patchbay', 'compiled');
  expect(lstatSync(kept).mode & 0o777).toBe(0o700);
  expect(readdirSync(kept)).not.toEqual([]);
});

test('a folder that others can write to is not used, and a home that is none costs nothing but time', () => {
  const home = emptyFolder();
  const open = join(home, 'patchbay', 'compiled');
  mkdirSync(open, { recursive: true });
  chmodSync(open, 0o777);
  expect(launch({ XDG_CACHE_HOME: home })).toMatchObject({ status: 0, stderr: '' });
  expect(readdirSync(open)).toEqual([]);
  expect(launch({ HOME: '/dev/null' })).toMatchObject({ status: 0, stderr: '' });
});

test('a Node that does not run TypeScript, and a folder without packages, are refused in a sentence', () => {
  const env = { HOME: emptyFolder() };
  const untyped = launch({ ...env, NODE_OPTIONS: '--no-strip-types' });
  expect(untyped).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^Patchbay is written in TypeScript.*\n$/),
  });

  const copyTo = (...folders: readonly string[]): string => {
    const folder = join(emptyFolder(), ...folders);
    mkdirSync(join(folder, 'src/cli'), { recursive: true });
    for (const file of ['package.json', 'src/cli/patchbay.mjs', 'src/cli/main.ts'])
      copyFileSync(join(root, file), join(folder, file));
    return join(folder, 'src/cli/patchbay.mjs');
  };
  const bare = launch(env, copyTo('clone'));
  expect(bare).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^A package .*: run "npm ci" in .*clone\..*\n$/),
  });
  const installed = launch(env, copyTo('node_modules', 'patchbay'));
  expect(installed).toMatchObject({ status: 2, stderr: expect.stringMatching(/^Patchbay runs from a clone .*\n$/) });
});
