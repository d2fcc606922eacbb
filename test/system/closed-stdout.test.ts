/** What a command says may find no reader; what it does and how it ended must not depend on that (`docs/contract.md`, "Exit codes"). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';

const program = fileURLToPath(new URL('../../src/cli/patchbay.mjs', import.meta.url));

/** The writing end of a pipe of which the reading end is closed. */
function unread(journey: Journey): number {
  const pipe = `${journey.file('pipe', '')}.fifo`;
  spawnSync('mkfifo', [pipe]);
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(pipe, 'w');
  closeSync(reading);
  spawnSync('rm', [pipe]);
  return writing;
}

interface Said {
  readonly code: number | null;
  readonly stderr: string;
}

/** @param isNoteRead whether what it says on stderr finds a reader. */
async function run(journey: Journey, stdout: number, words: readonly string[], isNoteRead = true): Promise<Said> {
  const { PATH = '', HOME = '' } = process.env;
  const child: ChildProcess = spawn(process.execPath, [program, '--data', journey.data, ...words, '--sandbox'], {
    env: { PATH, HOME, PORT: '0' },
    stdio: ['ignore', stdout, isNoteRead ? 'pipe' : stdout],
  });
  closeSync(stdout);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child, 'close');
  return { code: child.exitCode, stderr };
}

/** With one row that is rejected. */
const rows = 'externalId,firstName,phone\nc-1,Ann,\nc-2,Bea,call me\n';

describe.runIf(process.platform === 'linux')('a command whose standard output is closed', () => {
  test('goes on to its end with its own exit code', async ({ journey }) => {
    const bad = journey.file('bad.csv', rows);
    const good = journey.file('good.csv', 'externalId,firstName\nc-3,Cy\n');
    expect(await run(journey, unread(journey), ['import', '--json', bad, good], false)).toMatchObject({ code: 3 });
    const archived = journey.names('sandbox/import/_done').filter((name) => name.endsWith('.csv'));
    expect(archived.map((name) => name.replace(/^.*__/, ''))).toEqual(['bad.csv', 'good.csv']);
    expect(await run(journey, unread(journey), ['runs', 'show', 'nope', '--json'])).toMatchObject({ code: 2 });
  });

  test('ends with 0 where it only lists', async ({ journey }) => {
    const file = journey.file('people.csv', rows);
    const { code, documents } = await journey.call(['import', '--sandbox', '--json', file]);
    expect(code).toBe(3);
    for (const words of [
      ['runs', 'ls'],
      ['runs', 'show', documents[0].run, '--json'],
      ['logs', '-f'],
    ])
      expect(await run(journey, unread(journey), words), words.join(' ')).toEqual({ code: 0, stderr: '' });
  });

  test('is given no list to its end, in a form that has one', async ({ journey }) => {
    const output = new URL('../../src/cli/output.ts', import.meta.url).href;
    const script = journey.file(
      'lists.mjs',
      `import { createOutput, outliveBrokenOutputs } from '${output}';
      outliveBrokenOutputs();
      for (const form of ['documents', 'lines']) {
        let readCount = 0;
        await createOutput({ json: true })[form]((async function* () {
          for (; readCount < 100_000; readCount += 1) yield 'x'.repeat(100);
        })());
        process.stderr.write(readCount < 10_000 ? 'ended ' : 'read to its end ');
      }`,
    );
    const stdout = unread(journey);
    const { stderr } = spawnSync(process.execPath, [script], { stdio: ['ignore', stdout, 'pipe'], encoding: 'utf8' });
    closeSync(stdout);
    expect(stderr).toBe('ended ended ');
  });

  test('or full ends with 1, and says why, unless another code is due', async ({ journey }) => {
    const full = (): number => openSync('/dev/full', 'w');
    const imported = await run(journey, full(), ['import', '--json', journey.file('people.csv', rows)]);
    expect(imported).toEqual({ code: 3, stderr: expect.stringContaining('standard output cannot be written: ENOSPC') });
    expect(await run(journey, full(), ['runs', 'ls'])).toMatchObject({ code: 1 });
  });
});
