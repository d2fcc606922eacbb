/** Enters files as runs of a feed. The engine does the rest. */
import { basename, resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import { findMapping, placeOfMapping } from '#src/feeds/feeds.ts';
import type { ActFacts } from '#src/ledger/acts.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { noOptions, type RunOptions } from '#src/ledger/runs.ts';
import { checkCountry } from '#src/mapping/phone-cell.ts';
import { type NamedFile, type SubmitChoice, type SubmittedRun, submitFile } from '#src/runs/enter-run.ts';
import { shellWord } from '#src/shell-words.ts';
import { requireReadable } from '#src/sources/check-out.ts';
import { checkEncoding } from '#src/sources/decode.ts';
import type { InputFormat } from '#src/sources/file-name.ts';
import { checkDelimiter } from '#src/sources/read-csv.ts';
import { spoolInput } from '#src/sources/spool-input.ts';
import { actOf } from './acts.ts';
import { feedMeant } from './feed-names.ts';

/** How the files are read, and which guards they may pass. What is absent is detected, or comes from the feed. */
export interface ImportOptions {
  /** One character, or `tab`. */
  readonly delimiter?: string;
  readonly encoding?: string;
  /** Two letters, as `DE`. */
  readonly defaultCountry?: string;
  readonly onBlank?: 'keep' | 'clear';
  readonly onGone?: 'skip' | 'recreate';
  /** Shares from 0 to 1. */
  readonly maxChange?: number;
  readonly maxDead?: number;
  readonly accept?: boolean;
  readonly adopt?: boolean;
  readonly createAnyway?: boolean;
  readonly createOnly?: boolean;
  readonly updateOnly?: boolean;
  /** Keys, with their prefix. */
  readonly only?: readonly string[];
  readonly limit?: number;
  readonly verify?: boolean;
  readonly repair?: boolean;
  readonly reason?: string;
}

const onlyMax = 1_000;

/** @throws PatchbayError `usage` `choiceTwice`, `tooManyKeys`, and where delimiter, encoding or country is not one. */
export function checkImportOptions(options: ImportOptions): RunOptions {
  if (options.adopt === true && options.createAnyway === true) {
    const message = '--adopt links contacts that are there already, and --create-anyway creates them again';
    throw new PatchbayError('usage', 'choiceTwice', message, { hint: 'Give one of them.' });
  }
  if (options.createOnly === true && options.updateOnly === true) {
    const message = '--create-only leaves out contacts that are there, and --update-only those that are not';
    throw new PatchbayError('usage', 'choiceTwice', message, { hint: 'Give one of them.' });
  }
  if (options.verify === true && options.repair === true) {
    const message = '--verify writes nothing, and --repair writes back what people changed';
    throw new PatchbayError('usage', 'choiceTwice', message, { hint: 'Give one of them.' });
  }
  if (options.updateOnly === true && options.onGone === 'recreate') {
    const message = '--update-only makes no contact, and --on-gone recreate makes deleted ones again';
    throw new PatchbayError('usage', 'choiceTwice', message, { hint: 'Give one of them.' });
  }
  const only = (options.only ?? []).map((key) => key.normalize('NFC').trim());
  if (only.length > onlyMax) {
    throw new PatchbayError('usage', 'tooManyKeys', `--only takes at most ${onlyMax} keys, not ${only.length}`, {
      hint: 'Put these rows into a file of their own.',
    });
  }
  const delimiter = options.delimiter === 'tab' ? '\t' : (options.delimiter ?? null);
  if (delimiter !== null) checkDelimiter(delimiter);
  if (options.encoding !== undefined) checkEncoding(options.encoding);
  return {
    ...noOptions,
    delimiter,
    encoding: options.encoding ?? null,
    defaultCountry: options.defaultCountry === undefined ? null : checkCountry(options.defaultCountry),
    onBlank: options.onBlank ?? null,
    onGone: options.onGone ?? null,
    maxChange: options.maxChange ?? null,
    maxDead: options.maxDead ?? null,
    accept: options.accept === true,
    adopt: options.adopt === true,
    createAnyway: options.createAnyway === true,
    createOnly: options.createOnly === true,
    updateOnly: options.updateOnly === true,
    only,
    limit: options.limit ?? null,
    verify: options.verify === true,
    repair: options.repair === true,
    acceptReason: options.reason ?? null,
  };
}

export interface ImportTarget {
  readonly choice: SubmitChoice;
  /** The feed is not configured, has no folder and no run yet: perhaps a misspelt name, of the feed that is `meant`. */
  readonly newFeed: { readonly meant: string | null } | null;
}

/**
 * The feed that the files belong to, and the mapping that reads them.
 * @param mapping a file, or the name of a mapping; absent: the feed's.
 * @throws PatchbayError `usage`: what is wrong with the feed's name, its label or the mapping.
 */
export async function chooseTarget(
  home: Pick<Home, 'feeds' | 'ledger' | 'folders'>,
  { feed: name = mainFeed, mapping }: { readonly feed?: string; readonly mapping?: string },
): Promise<ImportTarget> {
  const named =
    mapping === undefined ? {} : { mapping: await findMapping(mapping), mappingNamed: placeOfMapping(mapping) };
  const { feeds, ledger } = home;
  const feed = await feeds.get(name);
  const isKnown = feeds.exists(feed.name) || (await ledger.runs.list({ feed: feed.name, limit: 1 })).length > 0;
  return { choice: { feed, ...named }, newFeed: isKnown ? null : { meant: await feedMeant(home, feed.name) } };
}

/**
 * Standard input as a file in the data folder, which the caller removes after it was entered or read.
 * @throws PatchbayError `usage` `stdinTerminal`; `file` `stdinEmpty`, `fileTooLarge`; `AbortError`.
 */
export function readStandardInput(
  { submit }: Pick<Home, 'submit'>,
  format: InputFormat | null,
  signal: AbortSignal,
): Promise<NamedFile> {
  return spoolInput(process.stdin, { folder: submit.folders.handedOver, format, signal });
}

/**
 * Whether any of the files can be entered, as far as this is known before it is read; why another cannot, `enterFiles` says.
 * @throws the system's errors of looking at a file.
 */
export async function isAnyThere(files: readonly (string | NamedFile)[]): Promise<boolean> {
  for (const file of files) {
    try {
      if (typeof file === 'string') requirePath(file, 'import');
      const { path, name } = typeof file === 'string' ? { path: resolve(file), name: basename(file) } : file;
      await requireReadable(path, name);
      return true;
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    }
  }
  return false;
}

/** Carries out work on the ledger that may be begun anew, once it answers (`src/ledger/wait-out.ts`). */
export type Patiently = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface Entering {
  readonly patiently: Patiently;
  /** Called file by file: where a later one ends it with an error, those that were entered are known. */
  readonly onEntered: (entered: SubmittedRun) => void;
  /** Why a file could not be entered. */
  readonly onRefused: (error: PatchbayError) => void;
}

/**
 * Copies each file and enters a run for it; where a run of the same content was cut off, that run continues. Each file has a run
 * of its own, also where two have the same content. One file that cannot be copied does not keep the others out.
 * @throws PatchbayError of any kind but `file`.
 */
export async function enterFiles(
  { submit, actor }: Pick<Home, 'submit' | 'actor'>,
  files: readonly (string | NamedFile)[],
  options: RunOptions,
  choice: SubmitChoice,
  { patiently, onEntered, onRefused }: Entering,
): Promise<void> {
  const besides = new Set<string>();
  for (const file of files) {
    try {
      if (typeof file === 'string') requirePath(file, 'import');
      const named = typeof file === 'string' ? resolve(file) : file;
      const entered = await patiently(async () => {
        const act = await actOf({ ...submit, actor }, 'import', options.acceptReason, choicesOf(options));
        return await submitFile(submit, named, options, choice, { act, besides });
      });
      besides.add(entered.run.id);
      onEntered(entered);
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
      onRefused(error);
    }
  }
}

/** What of the options lets a guard pass, takes contacts over, or changes what is done with the rows. Keys stay out, and their number does not. */
function choicesOf(options: RunOptions): ActFacts {
  const { accept, adopt, createAnyway, verify, repair, createOnly, updateOnly } = options;
  const { maxChange, maxDead, planId: plan, limit, only, onGone } = options;
  const flags = { accept, adopt, createAnyway, verify, repair, createOnly, updateOnly };
  const figures = { onGone, maxChange, maxDead, plan, limit, keys: only.length === 0 ? null : only.length };
  return Object.fromEntries([
    ...Object.entries(flags).filter(([, given]) => given),
    ...Object.entries(figures).filter(([, figure]) => figure !== null),
  ]);
}

const isAddress = (file: string): boolean => /^https?:\/\//i.test(file);

/**
 * A person may give an address where a command reads a file.
 * @param command that takes the file; one that reads standard input can be given what a download prints.
 * @throws PatchbayError `file` `addressNotTaken`.
 */
export function requirePath(file: string, command: 'import' | 'plan' | 'map'): void {
  if (isAddress(file)) throw addressNotTaken(file, command);
}

function addressNotTaken(address: string, command: 'import' | 'plan' | 'map'): PatchbayError {
  const message = `${address} is an address: ${command} reads files`;
  const once =
    command === 'map'
      ? `Download it, and name the file: curl -fsSLO ${shellWord(address)}`
      : `For once: curl -fsSL ${shellWord(address)} | patchbay ${command} -`;
  const again =
    'A feed takes it again and again: set take: to the address in the configuration (docs/operations.md, "Feeds").';
  return fileError('addressNotTaken', message, { file: address }, `${once}\n${again}`);
}
