/**
 * Loaded before a command (`NODE_OPTIONS=--import`): ends its own process with SIGKILL at a named step of the work.
 *
 * `TORTURE_KILL_AT` is STEP:MOMENT:OCCURRENCE, as `create:after:3`; the file of `TORTURE_KILL_MARK` is written just
 * before the end, so that a step that never came is told from one that did. `TORTURE_STEP_COUNTS` names a file that
 * gets how often each moment came, when the process ends by itself. Plain JavaScript: it is loaded by every Node.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const {
  TORTURE_KILL_AT: killAt = '',
  TORTURE_KILL_MARK: mark = '',
  TORTURE_STEP_COUNTS: countsFile = '',
} = process.env;

// The threads of a process load this too: the work is done by the first one.
if (isMainThread && (killAt !== '' || countsFile !== '')) {
  const [step, moment, occurrence] = killAt.split(':');
  const counts = new Map();
  subscribe('patchbay:step', (message) => {
    const name = `${message.step}:${message.moment}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (message.step !== step || message.moment !== moment || count !== Number(occurrence)) return;
    writeFileSync(mark, killAt);
    process.kill(process.pid, 'SIGKILL');
  });
  if (countsFile !== '') {
    process.on('exit', () => writeFileSync(countsFile, JSON.stringify(Object.fromEntries(counts))));
  }
}
