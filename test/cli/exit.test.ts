/** Exit codes and error documents (`docs/contract.md`, "Exit codes" and "Commands"). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorLines, exitWithError } from '#src/cli/exit.ts';
import { main } from '#src/cli/main.ts';
import { type ErrorKind, PatchbayError } from '#src/errors.ts';
import { adviceFor, adviceOfKind, errorDocument } from '#src/operations/error-document.ts';
import { exitCodeOf, worstExitCode } from '#src/runs/exit-code.ts';
import { withFlags } from '#src/shell-words.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

const codes: Record<ErrorKind, number> = {
  usage: 2,
  file: 3,
  auth: 4,
  guard: 5,
  unreachable: 6,
  transient: 6,
  damaged: 1,
  rejected: 3,
  bug: 1,
};

it.each(['--version', '-V'])('%s prints the version and exits with 0', async (word) => {
  const captured = captureOutput();
  await main(['node', 'patchbay', word]);
  expect(captured.stdout()).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(captured.exitCode() ?? 0).toBe(0);
});

describe('every kind of error has its exit code', () => {
  it.each(Object.entries(codes) as [ErrorKind, number][])('%s → %i', (kind, exitCode) => {
    expect(errorDocument(new PatchbayError(kind, 'x', 'it is so')).exitCode).toBe(exitCode);
  });

  it('anything else that is thrown → 1, with advice', () => {
    for (const thrown of [new TypeError('it is so'), 'it is so']) {
      expect(errorDocument(thrown)).toEqual({
        error: { code: 'unexpected', message: 'it is so', hint: expect.stringContaining('Nothing is lost') },
        exitCode: 1,
      });
    }
  });
});

describe('every state of a run has its exit code', () => {
  it.each([
    ['done', 0],
    ['doneWithDead', 3],
    ['failed', 3],
    ['stopped', 5],
    ['cancelled', 5],
    ['queued', null],
    ['staging', null],
    ['applying', null],
  ] as const)('%s → %s', (state, exitCode) => {
    expect(exitCodeOf(state)).toBe(exitCode);
  });
});

describe('several files exit with the worst code', () => {
  it.each([
    [[0, 0], 0],
    [[], 0],
    [[0, 3, 0], 3],
    [[3, 5], 5],
    [[3, 5, 6], 6],
    [[3, 5, 6, 4], 4],
    [[4, 2], 2],
    [[4, 2, 1], 1],
    [[0, 130], 130],
  ])('%j → %i', (all, worst) => {
    expect(worstExitCode(all)).toBe(worst);
    expect(worstExitCode(all.toReversed())).toBe(worst);
  });
});

describe('an error', () => {
  const error = new PatchbayError('file', 'fileMissing', 'a.csv is not there', { hint: 'Check the path.' });

  it('is one JSON document on stdout with --json, and its code is left', async () => {
    const captured = captureOutput();
    await exitWithError(error, { json: true });
    expect(captured.stdout().split('\n')).toEqual([expect.any(String), '']);
    expect(JSON.parse(captured.stdout())).toEqual({
      error: { code: 'fileMissing', message: 'a.csv is not there', hint: 'Check the path.' },
      exitCode: 3,
    });
    expect(captured.stderr()).toBe('');
    expect(captured.exitCode()).toBe(3);
  });

  it('is two lines on stderr for people, and nothing on stdout', async () => {
    const captured = captureOutput();
    await exitWithError(error, { json: false });
    expect(captured.stdout()).toBe('');
    expect(captured.stderr()).toBe('patchbay: a.csv is not there [fileMissing]\n  Check the path.\n');
    expect(captured.exitCode()).toBe(3);
  });

  it('sets several problems apart', () => {
    const several = { error: { code: 'configInvalid', message: 'a.yaml:1:1: one\na.yaml:2:1: two', hint: null } };
    expect(errorLines({ ...several, exitCode: 2 })).toBe(
      'patchbay: a.yaml:1:1: one\n  a.yaml:2:1: two [configInvalid]',
    );
  });

  it('neither moves the cursor nor colours the terminal', () => {
    const nasty = '\u001b[2Jevil\u0007\n';
    const lines = errorLines(errorDocument(new PatchbayError('file', 'x', nasty, { hint: nasty })));
    expect(lines.split('\n')).toHaveLength(2);
    expect(lines.replace('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('keeps the hint of whoever threw it; else advice by its code is given', () => {
    const hint = (given: PatchbayError) => errorDocument(given).error.hint;
    expect(hint(new PatchbayError('auth', 'keyRefused', 'no', { hint: 'Mine.' }))).toBe('Mine.');
    expect(hint(new PatchbayError('auth', 'keyRefused', 'no'))).toBe(adviceFor('keyRefused'));
    expect(hint(new PatchbayError('bug', 'whatever', 'no'))).toContain('Nothing is lost');
  });
});

describe('--json', () => {
  it.each([
    ['an unknown command', ['frobnicate'], 'usage'],
    ['an unknown option', ['import', 'a.csv', '--frobnicate'], 'usage'],
    ['a bad percentage', ['import', 'a.csv', '--max-dead', '101%'], 'usage'],
    ['a bad duration', ['import', 'a.csv', '--wait', 'soon'], 'waitInvalid'],
    ['nothing chosen', ['dead', 'retry'], 'nothingChosen'],
    ['an option without its value', ['import', 'a.csv', '--limit'], 'usage'],
    ['a missing config file', ['status', '--config', '/nowhere/patchbay.yaml'], null],
  ])('gives one document for %s, and exit code 2', async (_name, words, code) => {
    const captured = captureOutput();
    await main(['node', 'patchbay', ...words, '--json']);
    const document = JSON.parse(captured.stdout());
    expect(document).toMatchObject({ error: { message: expect.any(String) }, exitCode: 2 });
    if (code !== null) expect(document.error.code).toBe(code);
    expect(document.error.hint).toEqual(expect.any(String));
    expect(captured.exitCode()).toBe(2);
  });
});

describe('words that are no command', () => {
  it.each([
    [['frobnicate'], "unknown command 'frobnicate' [usage]", 'See: patchbay --help'],
    [['statu'], "unknown command 'statu' [usage]", 'Did you mean status? See: patchbay --help'],
    [
      ['runs', 'lst'],
      "unknown command 'runs lst' [usage]",
      'Did you mean: patchbay runs ls? See: patchbay runs --help',
    ],
    [['runs', 'aprove', 'r-1'], "unknown command 'runs aprove' [usage]", 'patchbay runs approve? See'],
    [['held', 'tak', 'file'], "unknown command 'held tak' [usage]", 'patchbay held take? See'],
    [['help', 'frobnicate'], "unknown command 'frobnicate' [usage]", 'See: patchbay --help'],
    [['help', 'statu'], "unknown command 'statu' [usage]", 'Did you mean: patchbay status --help?'],
    [['help', 'runs', 'shw'], "unknown command 'runs shw' [usage]", 'patchbay runs show --help? See: patchbay runs'],
    [['runs', 'help', 'zzz'], "unknown command 'runs zzz' [usage]", 'See: patchbay runs --help'],
    [['status', '--dta', 'x'], "unknown option '--dta' [usage]", 'Did you mean --data? See: patchbay status --help'],
    [
      ['import', 'a.csv', '--max-dead', 'x'],
      'Give a percentage from 0% to 100%. [usage]',
      'See: patchbay import --help',
    ],
    [['held', 'take', 'both'], 'Allowed choices are file, app. [usage]', 'See: patchbay held take --help'],
    [['runs', 'ls', '--stat', 'x'], "unknown option '--stat' [usage]", 'See: patchbay runs ls --help'],
    [['status', '--data'], "option '--data <dir>' argument missing", 'See: patchbay --help'],
    // Another option is no value: neither it nor the word behind it is taken for one.
    [['import', '--limit', '--adopt', 'a.csv'], "option '--limit <n>' argument missing", 'See: patchbay import --help'],
    [['import', '--limit', '--json=', 'a.csv'], "option '--limit <n>' argument '--json=' is invalid", 'import --help'],
    [['--data', '--verbose', 'status'], "option '--data <dir>' argument missing", 'See: patchbay'],
    [['runs', 'ls', '--feed', '--quiet', 'x'], "option '--feed <name>' argument missing", 'patchbay runs ls --help'],
    [['status', '--config', ''], 'flag: --config must be the path of a file, not "" [configInvalid]', 'with --config'],
    [['import', 'a.csv', '--verify', '--limit', '1'], '--verify looks at each contact of the file', '--only KEY'],
    [['import', 'a.csv', '--default-country', 'uk'], '"uk" is not a country code', 'The United Kingdom is GB.'],
    [['import', ''], 'the name of a file is empty [fileNameEmpty]', 'pattern'],
  ])('%j: exit code 2, one prefix, and the way on', async (words, message, hint) => {
    const captured = captureOutput();
    await main(['node', 'patchbay', ...words]);
    expect(captured.exitCode()).toBe(2);
    expect(captured.stdout()).toBe('');
    const [first = '', second = ''] = captured.stderr().split('\n');
    expect(first).toMatch(/^patchbay: /);
    expect(first).toContain(message);
    expect(second).toContain(hint);
  });

  it.each([
    [['ledger'], 'patchbay ledger check; patchbay ledger backup FILE; patchbay ledger copy --to URL|FILE'],
    [['config'], 'patchbay config check; patchbay config print; patchbay config schema'],
    [['ledger', '--data', '/srv'], 'patchbay --data /srv ledger check; patchbay --data /srv ledger backup FILE; '],
  ])('%j: exit code 2, the help of the group, and what to type', async (words, hint) => {
    const captured = captureOutput();
    await main(['node', 'patchbay', ...words]);
    expect([captured.exitCode(), captured.stdout()]).toEqual([2, '']);
    expect(captured.stderr()).toContain(`Usage: patchbay ${words[0]} `);
    expect(captured.stderr()).toContain(`patchbay: no command was given [usage]\n  Type one of: ${hint}`);
  });

  it('hosts alone is hosts ls, as other groups that have one', async () => {
    const captured = captureOutput();
    await main(['node', 'patchbay', 'hosts', '--sandbox', '--data', tempFolder()]);
    expect([captured.exitCode(), captured.stdout()]).toEqual([0, expect.stringMatching(/^no hosts: /)]);
  });

  it('carry the flags of the command into the commands of a hint', () => {
    const text =
      'List them with: patchbay runs ls. Or: patchbay runs approve --sandbox r-1, patchbay start, patchbay held';
    expect(withFlags(text, {})).toBe(text);
    expect(withFlags(text, { sandbox: true, data: '/tmp/a b' })).toBe(
      "List them with: patchbay --data '/tmp/a b' runs ls --sandbox. " +
        "Or: patchbay --data '/tmp/a b' runs approve --sandbox r-1, patchbay --data '/tmp/a b' start --sandbox, " +
        "patchbay --data '/tmp/a b' held --sandbox",
    );
  });
});

describe('advice', () => {
  it('is there for every error that is thrown without a hint', () => {
    const mute = sourceFiles('src')
      .filter((file) => !file.startsWith('src/service/'))
      .flatMap((file) => errorsWithoutHint(readFileSync(file, 'utf8')))
      .filter(({ kind, code }) => adviceFor(code) === null && adviceOfKind(kind as ErrorKind) === null);
    expect(mute).toEqual([]);
  });
});

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

/** Each `new PatchbayError('kind', 'code', …)` that names no hint up to its closing bracket. */
function errorsWithoutHint(text: string): { kind: string; code: string }[] {
  return [...text.matchAll(/new PatchbayError\(\s*'(\w+)',\s*'(\w+)'/g)].flatMap(
    ({ index, 1: kind = '', 2: code = '' }) => {
      let depth = 0;
      let end = index;
      do {
        if (text[end] === '(') depth += 1;
        if (text[end] === ')') depth -= 1;
        end += 1;
      } while (end < text.length && (depth > 0 || !text.slice(index, end).includes('(')));
      return /\bhint\b/.test(text.slice(index, end)) ? [] : [{ kind, code }];
    },
  );
}
