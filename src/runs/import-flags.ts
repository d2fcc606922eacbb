/** What a person chose for a file, as flags of `plan` and `import`: for commands that hints name, and that go on with it. Pure. */
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { operands, shellWord } from '#src/shell-words.ts';

export interface ChosenForFile {
  readonly feed: string;
  /** The mapping as it was named; null where it is the feed's. */
  readonly mappingNamed: string | null;
  readonly options: RunOptions;
}

/**
 * Words of a shell: the feed, how the file is read, which of its rows count, and the limits that were raised. What decides nothing about a
 * second import is left out: `--accept`, the reason, a plan.
 */
export function importFlags({ feed, mappingNamed, options }: ChosenForFile): readonly string[] {
  const { delimiter, encoding, defaultCountry, onBlank, onGone, only, limit, maxChange, maxDead } = options;
  const { createOnly, updateOnly, adopt, createAnyway, verify, repair } = options;
  const values = [
    ['--feed', feed === mainFeed ? null : feed],
    ['--mapping', mappingNamed],
    ['--delimiter', delimiter === '\t' ? 'tab' : delimiter],
    ['--encoding', encoding],
    ['--default-country', defaultCountry],
    ['--on-blank', onBlank],
    ['--on-gone', onGone],
    ['--max-change', percentOf(maxChange)],
    ['--max-dead', percentOf(maxDead)],
    ['--limit', limit === null ? null : `${limit}`],
    ...only.map((key) => ['--only', key] as const),
  ] as const;
  const chosen = [
    ['--create-only', createOnly],
    ['--update-only', updateOnly],
    ['--adopt', adopt],
    ['--create-anyway', createAnyway],
    ['--verify', verify],
    ['--repair', repair],
  ] as const;
  return [
    ...values.flatMap(([flag, value]) => (value === null ? [] : [flag, shellWord(value)])),
    ...chosen.flatMap(([flag, isChosen]) => (isChosen ? [flag] : [])),
  ];
}

/** @param share of 1. */
function percentOf(share: number | null): string | null {
  return share === null ? null : `${Number((share * 100).toPrecision(12))}%`;
}

/**
 * The note on contacts that stay deleted, with the command that makes them again.
 * @param isRepaired whether their rows may be unchanged, so that all contacts of the file must be looked at.
 * @param isLeast whether there may be more of them than were counted.
 */
export function staysGone(
  { feed, options }: Pick<RunRecord, 'feed' | 'options'>,
  count: number,
  isRepaired: boolean,
  isLeast = false,
): string {
  const contacts = `${isLeast ? 'at least ' : ''}${count === 1 ? '1 contact stays' : `${count} contacts stay`}`;
  const chosen = { ...options, createOnly: false, updateOnly: false, verify: false, repair: isRepaired };
  const command = makeAgainCommand({ feed, options: chosen });
  return `${contacts} deleted; to make ${count === 1 && !isLeast ? 'it' : 'them'} again: ${command}`;
}

/** Its file is named where a person named it. */
export function makeAgainCommand({ feed, options }: Pick<RunRecord, 'feed' | 'options'>): string {
  const { mappingNamed, path } = options;
  const flags = importFlags({ feed, mappingNamed, options: { ...options, onGone: 'recreate' } });
  return `patchbay import ${flags.join(' ')} ${path === null ? 'FILE' : operands(path)}`;
}
