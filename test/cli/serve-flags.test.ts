/** The launcher's flags keep long imports small; `serve` does without the one that makes its lists slow. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const cli = resolve(import.meta.dirname, '../../src/cli/patchbay.mjs');

// Only Linux tells the arguments of a running process in a file.
test.skipIf(process.platform !== 'linux')(
  'serve runs without --optimize-for-size, in the process that was started',
  async () => {
    const flags = ['--optimize-for-size', '--max-semi-space-size=8'];
    const child = spawn(process.execPath, [...flags, cli, '--json', 'serve', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    for await (const chunk of child.stdout) {
      expect(String(chunk)).toContain('"origin"');
      break;
    }
    const words = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0');
    expect(words).toContain('--max-semi-space-size=8');
    expect(words).not.toContain('--optimize-for-size');
  },
);
