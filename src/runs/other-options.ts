/**
 * Whether a run stands for a file that a command brings again: only where the flags, the mapping and the label that decide how its rows are read, which
 * of them count and what is written of them are the same (`docs/contract.md`, "Two commands on a fresh machine"). Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { mappingVersion } from '#src/mapping/compile-mapping.ts';
import { shellWord } from '#src/shell-words.ts';

type Flags = Partial<Record<keyof RunOptions, string>>;

const ofRows = {
  only: '--only',
  limit: '--limit',
  createOnly: '--create-only',
  updateOnly: '--update-only',
  planId: '--plan',
} as const satisfies Flags;

const ofValues = {
  delimiter: '--delimiter',
  encoding: '--encoding',
  defaultCountry: '--default-country',
  onBlank: '--on-blank',
  onGone: '--on-gone',
  adopt: '--adopt',
  createAnyway: '--create-anyway',
  repair: '--repair',
} as const satisfies Flags;

const ofGuards = {
  accept: '--accept',
  maxChange: '--max-change',
  maxDead: '--max-dead',
  acceptReason: '--reason',
} as const satisfies Flags;

/** How a run reads its file. */
export type FileOptions = Pick<RunRecord, 'options' | 'mapping'> & { readonly sourceLabel?: string | null };

export interface OtherOption {
  /** As the run was begun: `--limit 100`, `without --only`. */
  readonly words: string;
  /** It decides which rows count, and says nothing of what is written of them. */
  readonly isOfRows: boolean;
}

/** What differs between a run and the same file as it is wanted now; empty where the run stands for it. `--verify` is not looked at. */
export function otherOptions(run: FileOptions, wanted: FileOptions): readonly OtherOption[] {
  const differing = (flags: Flags, isOfRows: boolean) =>
    entriesOf(flags).flatMap(([name, flag]) =>
      isDeepStrictEqual(tidy(run.options[name]), tidy(wanted.options[name]))
        ? []
        : [{ words: wordsFor(flag, run.options[name]), isOfRows }],
    );
  const mapping = isReadAlike(run, wanted) ? [] : [{ words: mappingWords(run, wanted), isOfRows: false }];
  const isLabelled = (run.sourceLabel ?? null) === (wanted.sourceLabel ?? null);
  const label = isLabelled ? [] : [{ words: 'another source label', isOfRows: false }];
  return [...differing(ofRows, true), ...differing(ofValues, false), ...mapping, ...label];
}

/** Flags that were given for the file and that a run which was begun without them does not obey: limits of guards, and the reason. */
export function uncountedFlags(run: RunOptions, given: RunOptions): readonly string[] {
  return entriesOf(ofGuards).flatMap(([name, flag]) =>
    tidy(given[name]) === null || given[name] === run[name] ? [] : [flag],
  );
}

function entriesOf(flags: Flags): readonly (readonly [keyof RunOptions, string])[] {
  return Object.entries(flags) as [keyof RunOptions, string][];
}

/** Null where nothing was chosen. */
function tidy(value: RunOptions[keyof RunOptions]): unknown {
  if (value === false || value === undefined) return null;
  return Array.isArray(value) ? [...new Set(value)].toSorted() : value;
}

function wordsFor(flag: string, value: RunOptions[keyof RunOptions]): string {
  if (value === true) return flag;
  if (Array.isArray(value) && value.length > 1) return `${flag} with ${value.length} keys`;
  const [text = null] = Array.isArray(value) ? value : [value];
  if (text === null || text === false) return `without ${flag}`;
  return `${flag} ${shellWord(text === '\t' ? 'tab' : String(text))}`;
}

/** What a file is recognised as follows from its content, and is kept with its run. */
function isReadAlike(run: FileOptions, wanted: FileOptions): boolean {
  if (run.options.recognise && wanted.options.recognise && wanted.mapping === null) return true;
  const rejected = [run, wanted].map(({ mapping }) => stored(mapping?.ignoreRejected ?? null));
  return mappingVersion(run.mapping) === mappingVersion(wanted.mapping) && isDeepStrictEqual(rejected[0], rejected[1]);
}

/** As the ledger gives it back: without members that are undefined. */
function stored(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part));
}

function mappingWords({ options: { mappingNamed } }: FileOptions, wanted: FileOptions): string {
  if (mappingNamed === wanted.options.mappingNamed) return 'another version of its mapping';
  return wordsFor('--mapping', mappingNamed);
}
