/** Which options keep a run from standing for the same file (`docs/contract.md`, "Two commands on a fresh machine"). */
import { describe, expect, it } from 'vitest';
import { noOptions, type RunOptions } from '#src/ledger/runs.ts';
import { otherOptions, uncountedFlags } from '#src/runs/other-options.ts';
import { mapping } from './support/runs-bench.ts';

const file = (options: Partial<RunOptions> = {}) => ({ options: { ...noOptions, ...options }, mapping: null });
const wordsOf = (run: Partial<RunOptions>, wanted: Partial<RunOptions>) =>
  otherOptions(file(run), file(wanted)).map(({ words }) => words);

describe('a run and the same file', () => {
  it.each<[Partial<RunOptions>, string, string]>([
    [{ only: ['c-1'] }, '--only c-1', 'without --only'],
    [{ only: ['c-1', 'c-2'] }, '--only with 2 keys', 'without --only'],
    [{ limit: 100 }, '--limit 100', 'without --limit'],
    [{ createOnly: true }, '--create-only', 'without --create-only'],
    [{ updateOnly: true }, '--update-only', 'without --update-only'],
    [{ planId: 'p-1' }, '--plan p-1', 'without --plan'],
    [{ delimiter: '\t' }, '--delimiter tab', 'without --delimiter'],
    [{ encoding: 'latin1' }, '--encoding latin1', 'without --encoding'],
    [{ defaultCountry: 'DE' }, '--default-country DE', 'without --default-country'],
    [{ onBlank: 'clear' }, '--on-blank clear', 'without --on-blank'],
    [{ onGone: 'recreate' }, '--on-gone recreate', 'without --on-gone'],
    [{ adopt: true }, '--adopt', 'without --adopt'],
    [{ createAnyway: true }, '--create-anyway', 'without --create-anyway'],
    [{ repair: true }, '--repair', 'without --repair'],
  ])('differ by %j, told as the run was begun', (options, begun, without) => {
    expect(wordsOf(options, {})).toEqual([begun]);
    expect(wordsOf({}, options)).toEqual([without]);
    expect(wordsOf(options, options)).toEqual([]);
  });

  it('do not differ by the order of keys, by guards, nor by how the file came', () => {
    expect(wordsOf({ only: ['c-1', 'c-2'] }, { only: ['c-2', 'c-1'] })).toEqual([]);
    const wanted = { accept: true, maxChange: 0.5, maxDead: 0.5, acceptReason: 'why' } as const;
    expect(wordsOf({ path: '/a.csv', origin: 'command', madeFolder: true }, wanted)).toEqual([]);
  });

  it('differ by the mapping that was named, by what it says, and by the label', () => {
    const named = { ...file({ mappingNamed: 'crm', recognise: false }), mapping: mapping({ key: 'Nr' }) };
    expect(otherOptions(named, named)).toEqual([]);
    expect(otherOptions(named, file())).toEqual([{ words: '--mapping crm', isOfRows: false }]);
    expect(otherOptions(named, { ...named, mapping: { ...mapping({ key: 'Nr' }), title: 'Our CRM' } })).toEqual([]);
    const changed = { ...named, mapping: mapping({ key: 'Id' }) };
    expect(otherOptions(named, changed)).toEqual([{ words: 'another version of its mapping', isOfRows: false }]);
    const labelled = { ...named, sourceLabel: 'crm' };
    expect(otherOptions(named, labelled)).toEqual([{ words: 'another source label', isOfRows: false }]);
  });

  it('do not differ where both are recognised: the run knows by now what its file is', () => {
    expect(otherOptions({ ...file(), mapping: mapping({ key: 'Nr' }) }, file())).toEqual([]);
  });
});

describe('flags that a run does not obey', () => {
  const begun = { ...noOptions, accept: true, maxChange: 0.5 };

  it('are those of guards, and the reason, that it was begun without', () => {
    const given = { ...noOptions, accept: true, maxChange: 0.8, maxDead: 0.1, acceptReason: 'why' };
    expect(uncountedFlags(begun, given)).toEqual(['--max-change', '--max-dead', '--reason']);
  });

  it('are none where it was begun with them, or none is given', () => {
    expect(uncountedFlags(begun, begun)).toEqual([]);
    expect(uncountedFlags(begun, noOptions)).toEqual([]);
  });
});
