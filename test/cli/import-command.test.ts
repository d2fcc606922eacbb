/** What `import` says of a file whose run was entered before: only a run that was cut off is called interrupted. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { goingOnWords, metWords } from '#src/cli/commands/import.ts';
import { stagingRun } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';

async function runIn(state: 'queued' | 'staging' | 'applying') {
  const { ledger, close } = await openTempLedger();
  onTestFinished(close);
  const run = await stagingRun(ledger, 'r-1');
  if (state === 'queued') return { ...run, state, startedAtMs: null };
  if (state === 'applying') await ledger.runs.move('r-1', ['staging'], 'applying', { atMs: 1 });
  return (await ledger.runs.get('r-1')) ?? run;
}

describe('a file whose run has not ended', () => {
  it('is gone on with where its run was begun and no process is left that works on it', async () => {
    for (const state of ['staging', 'applying'] as const)
      expect(goingOnWords(await runIn(state), true)).toBe('continuing run r-1, which was interrupted');
  });

  it('is followed where an engine is at work on it', async () => {
    for (const state of ['staging', 'applying'] as const)
      expect(goingOnWords(await runIn(state), false)).toBe('run r-1 is importing the same file: following it');
  });

  it.each([true, false])('is followed where its run has not begun (this process is the engine: %s)', async (isLeft) => {
    const words = 'run r-1 holds the same file and has not begun: following it';
    expect(goingOnWords(await runIn('queued'), isLeft)).toBe(words);
  });
});

describe('a file with other options than its run that has not ended', () => {
  it('is told what goes first, how that was begun, and how to end it', async () => {
    const ahead = { run: await runIn('applying'), options: ['--limit 100', 'without --only'] };
    expect(metWords({ run: await runIn('queued'), resumed: false, uncounted: [], ahead }, true)).toBe(
      'run r-1 of the same file, begun with other options (--limit 100, without --only), goes first; to end it: patchbay runs cancel r-1',
    );
  });

  it('is told which of its flags do not count, where the run stands for it', async () => {
    const going = { run: await runIn('applying'), resumed: true, ahead: null };
    expect(metWords({ ...going, uncounted: ['--accept', '--reason'] }, true)).toBe(
      'continuing run r-1, which was interrupted, as it was begun: --accept, --reason do not count',
    );
    expect(metWords({ ...going, uncounted: ['--accept'] }, false)).toBe(
      'run r-1 is importing the same file: following it, as it was begun: --accept does not count',
    );
  });

  it('is told nothing where there is no such run', async () => {
    const entered = { run: await runIn('queued'), resumed: false, uncounted: [], ahead: null };
    expect(metWords(entered, true)).toBeNull();
  });
});
