/** Flags of every command over the environment, and what a variable means by itself (`docs/contract.md`, "Environment"). */
import { describe, expect, it } from 'vitest';
import { wantsColours } from '#src/cli/colours.ts';
import { exitWithError } from '#src/cli/exit.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { captureOutput } from './support/captured-output.ts';

async function levelOf(env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await callPatchbay(['config', 'print', ...flags], env, tempFolder());
  return /^log:\n {2}level: (.*)$/m.exec(stdout)?.[1] ?? stdout;
}

describe('--verbose', () => {
  it('wins over the level of the environment, by either name', async () => {
    expect(await levelOf({ LOG_LEVEL: 'error' })).toBe('error # LOG_LEVEL');
    expect(await levelOf({ LOG_LEVEL: 'error' }, '--verbose')).toBe('debug # flag');
    expect(await levelOf({ PATCHBAY_LOG_LEVEL: 'error' }, '-v')).toBe('debug # flag');
    expect(await levelOf({ LOG_LEVEL: '' }, '-v')).toBe('debug # flag');
    expect(await levelOf({ LOG_LEVEL: '' })).toBe('info # default');
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ LOG_LEVEL: 'debug' }, false, true],
    [{ LOG_LEVEL: '', PATCHBAY_LOG_LEVEL: 'debug' }, false, true],
    [{ LOG_LEVEL: 'trace' }, false, true],
    [{ LOG_LEVEL: 'warn' }, false, false],
  ])('as a level below info does, shows where a defect is: %j, %s', (env, verbose, shown) => {
    const captured = captureOutput();
    const own = process.env;
    process.env = { ...env };
    try {
      exitWithError(new TypeError('it is so'), { json: false, verbose });
    } finally {
      process.env = own;
    }
    expect(captured.stderr().includes('global-flags.test.ts')).toBe(shown);
  });
});

describe('colours', () => {
  const terminal = { isTTY: true };
  const pipe = {};

  it.each([
    ['a terminal has them', {}, terminal, {}, true],
    ['a pipe has none', {}, pipe, {}, false],
    ['--no-color', { color: false }, terminal, { FORCE_COLOR: '1' }, false],
    ['NO_COLOR', {}, terminal, { NO_COLOR: '1' }, false],
    ['NO_COLOR before FORCE_COLOR', {}, terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['an empty NO_COLOR is unset', {}, terminal, { NO_COLOR: '' }, true],
    ['FORCE_COLOR', {}, pipe, { FORCE_COLOR: '1' }, true],
    ['FORCE_COLOR=0 on a terminal', {}, terminal, { FORCE_COLOR: '0' }, false],
    ['FORCE_COLOR=false on a terminal', {}, terminal, { FORCE_COLOR: 'false' }, false],
    ['an empty FORCE_COLOR is unset', {}, terminal, { FORCE_COLOR: '' }, true],
    ['an empty FORCE_COLOR is unset in a pipe', {}, pipe, { FORCE_COLOR: '' }, false],
  ])('%s', (_, options, stream, env, wanted) => {
    expect(wantsColours(options, stream, env)).toBe(wanted);
  });
});
