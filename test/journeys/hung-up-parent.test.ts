/** What npx started under nohup, while its thread is held: the hang-up ends its parent, and is not meant for it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';

const interrupt = new URL('../../src/cli/interrupt.ts', import.meta.url).href;

/** Holds its thread in a turn of its own, where the look at the parent comes before the next look at the system. */
const program = `
  import { listenForInterrupt } from ${JSON.stringify(interrupt)};
  const parent = process.ppid;
  const interrupt = listenForInterrupt(() => undefined);
  const holdWhile = (isHeld, msMax) => {
    const until = performance.now() + msMax;
    while (performance.now() < until && isHeld());
  };
  setImmediate(() => {
    process.stdout.write('held\\n');
    holdWhile(() => process.ppid === parent, 10_000);
    holdWhile(() => true, 300);
    setTimeout(() => {
      process.stdout.write('code ' + interrupt.exitCode() + '\\n');
      process.exit(0);
    }, 1_000);
  });
`;

async function codeAfterHangUp(startedAs: string): Promise<string> {
  const shell = spawn(
    'bash',
    ['-c', 'env _="$2" "$0" --input-type=module --eval "$1"; true', process.execPath, program, startedAs],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, npm_lifecycle_event: 'npx' },
    },
  );
  let printed = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    // To all that the terminal runs, as the system does it.
    if (printed === '') process.kill(-(shell.pid ?? 0), 'SIGHUP');
    printed += text;
  });
  await once(shell.stdout, 'end');
  return printed;
}

describe.concurrent('a process of which the parent is ended by a hang-up', () => {
  test('goes on under nohup, also where it sees the end of its parent before the signal', async () => {
    expect(await codeAfterHangUp('/usr/bin/nohup')).toBe('held\ncode null\n');
  });

  test('stops elsewhere', async () => {
    expect(await codeAfterHangUp('/usr/bin/bash')).toMatch(/^held\ncode (129|143)\n$/);
  });
});
