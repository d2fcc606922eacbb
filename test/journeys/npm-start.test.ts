import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import { test } from '#test/support/journey.ts';
import { until } from '#test/support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('SIGTERM to the process of `npm start` ends the engine', async ({ journey }) => {
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PATCHBAY_DATA: journey.data, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: should the engine stay, it ends with the test.
    detached: true,
  });
  let said = '';
  const hear = (text: string): void => {
    said += text;
  };
  npm.stdout.setEncoding('utf8').on('data', hear);
  npm.stderr.setEncoding('utf8').on('data', hear);
  const { pid } = npm;
  if (pid === undefined) throw new Error('npm did not start');
  onTestFinished(() => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nobody is left, as it should be.
    }
  });
  const folders = { lockFile: join(journey.data, 'sandbox', 'engine.lock') };
  await until('the banner', () => said.includes('contacts.csv'));
  expect(isEngineRunning({ folders })).toBe(true);
  const gone = once(npm, 'exit');
  const killedMs = performance.now();
  npm.kill('SIGTERM');
  await gone;
  await until('the end of the engine', () => !isEngineRunning({ folders }));
  expect(performance.now() - killedMs, said).toBeLessThan(10_000);
});
