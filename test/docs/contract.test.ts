/**
 * Lists of words in `docs/contract.md` hold the words of the code's types, and no other: kinds, origins, states, exit codes.
 *
 * Each `Record` below is complete by its type: a word more or less does not compile.
 */
import { describe, expect, it } from 'vitest';
import type { DeadClass, JournalChange, JournalEntry } from '#src/contacts/outcome.ts';
import type { PlannedDeed } from '#src/contacts/planned.ts';
import { changesColumns } from '#src/journal/changes-file.ts';
import type { ActKind, Actor } from '#src/ledger/acts.ts';
import type { CreateState, KeyHistoryKind } from '#src/ledger/contacts.ts';
import type { Scrubbed } from '#src/ledger/forgetting.ts';
import type { DeadLetterState } from '#src/ledger/letters.ts';
import { finalRunStates, openRunStates, type RunKind, type RunOrigin } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { Theirs } from '#src/operations/contact.ts';
import type { ChangesKnown } from '#src/operations/run-story.ts';
import type { SourceRow } from '#src/operations/source-row.ts';
import type { WaitingFile } from '#src/runs/erase/waiting-files.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { faultKinds } from '#src/service/faults/faults.ts';
import { inputFormats } from '#src/sources/file-name.ts';
import { codeWords, readDocument, tableRows } from './support/read-document.ts';

const contract = readDocument('docs/contract.md');

/** A section without its heading. */
function section(heading: string): string {
  const [, text] =
    new RegExp(`^#+ ${heading.replaceAll(/[`.*]/g, '\\$&')}$\n([\\s\\S]*?)(?=^#+ |(?![\\s\\S]))`, 'm').exec(contract) ??
    [];
  if (text === undefined) throw new Error(`the contract has no section ${heading}`);
  return text.replaceAll(/\s+/g, ' ');
}

/** The words of `"name": "one|two"`. */
function wordsOfMember(text: string, name: string): readonly string[] {
  const all = [...text.matchAll(new RegExp(`"${name}": "([\\w|]+)"`, 'g'))].map((match) => match[1] ?? '');
  if (all.length === 0) throw new Error(`the section has no words of "${name}"`);
  return [...new Set(all.flatMap((words) => words.split('|')))].toSorted();
}

/** The words in backticks between two texts; what parentheses say of them is left out. */
function wordsBetween(text: string, start: string, end: string): readonly string[] {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from + start.length);
  if (from < 0 || to < 0) throw new Error(`the section does not say "${start}" … "${end}"`);
  return codeWords(text.slice(from + start.length, to).replaceAll(/\([^)]*\)/g, '')).toSorted();
}

function wordsOf(all: Readonly<Record<string, true>>): readonly string[] {
  return Object.keys(all).toSorted();
}

const runKinds: Record<RunKind, true> = { file: true, fixFile: true, redrive: true, held: true, undo: true };
const runOrigins: Record<RunOrigin, true> = {
  ...{ folder: true, command: true, schedule: true, request: true },
  ...{ retry: true, decision: true, undo: true },
};
const outcomeKinds: Record<RunEvent['kind'], true> = {
  ...{ warning: true, skipped: true, held: true, changed: true },
  ...{ match: true, missing: true, drift: true },
};
const writeKinds: Record<JournalEntry['kind'], true> = {
  ...{ create: true, patch: true, link: true, delete: true, adopt: true },
};
const changeReasons: Record<Exclude<JournalChange['why'], 'landed' | 'adopted' | 'givenBack'>, true> = {
  ...{ added: true, changed: true, cleared: true, removed: true, relabelled: true },
};
const changesKnown: Record<ChangesKnown, true> = { all: true, report: true, none: true, gone: true };
const deeds: Record<PlannedDeed, true> = { create: true, update: true, link: true, delete: true, none: true };
const reads: Record<Theirs['read'], true> = { fresh: true, remembered: true, none: true };
const rowKinds: Record<SourceRow['kind'], true> = { found: true, gone: true, absent: true };
const keyStates: Record<CreateState, true> = { none: true, lookup: true, intent: true, bound: true, conflict: true };
const historyKinds: Record<KeyHistoryKind, true> = {
  ...{ doubt: true, adopted: true, created: true, bound: true, conflict: true },
};
const actKinds: Record<ActKind, true> = {
  ...{ import: true, approve: true, restage: true, cancel: true, undo: true, heldTake: true },
  ...{ deadRetry: true, deadEdit: true, deadDrop: true, forget: true, forgetAllow: true },
  ...{ schedulePause: true, scheduleResume: true, scheduleRun: true },
  ...{ hostForget: true, ledgerCopy: true, sameWorkspace: true },
};
const actors: Record<Actor['by'], true> = { command: true, page: true, queue: true };
const scrubbed: Record<Scrubbed, true> = { overwritten: true, later: true, database: true };
const names: Record<WaitingFile['names'], true> = { person: true, unknown: true };
const letterStates: Record<DeadLetterState, true> = { open: true, redriven: true, closed: true, dropped: true };
const letterClasses: Record<DeadClass, true> = {
  ...{ invalid: true, refused: true, conflict: true, notApplied: true, exhausted: true, doubt: true },
};

describe('the contract names all words of', () => {
  it('exit codes', () => {
    const codes = tableRows(contract.slice(contract.indexOf('### Exit codes'), contract.indexOf('Of several files')))
      .flatMap(([cell = '']) => cell.split(', '))
      .map(Number);
    expect(codes.toSorted()).toEqual(Object.values(exitCodes).map(Number).toSorted());
  });

  it('an import: states and formats', () => {
    const text = section('`import --json`');
    expect(wordsOfMember(text, 'state')).toEqual([...finalRunStates, 'stopped'].toSorted());
    const formats = /`--format ([\w|]+)`/.exec(contract)?.[1] ?? '';
    expect(formats.split('|')).toEqual([...inputFormats]);
  });

  it('a run: kind, origin, state, outcomes and changes', () => {
    const text = section('`runs show --json`');
    expect(wordsBetween(text, '| `kind` |', ' | |')).toEqual(wordsOf(runKinds));
    expect(wordsBetween(text, 'by what the run came to be:', ', or null')).toEqual(wordsOf(runOrigins));
    expect(wordsBetween(text, 'has not ended, `state` is', ', as in')).toEqual(openRunStates.toSorted());
    expect(wordsBetween(text, '`match`, with `contact`); `kind` is', ' | |')).toEqual(wordsOf(outcomeKinds));
    expect(wordsOfMember(text, 'kind')).toEqual(wordsOf(writeKinds));
    expect(wordsBetween(text, '| `changesKnown` |', ' | |')).toEqual(wordsOf(changesKnown));
    const columns = wordsBetween(text, 'The columns of `<run>.changes.csv` are', ', one line');
    expect(columns).toEqual(changesColumns.toSorted());
  });

  it('a plan: what is done, and why', () => {
    const text = section('`plan --json`');
    expect(wordsOfMember(text, 'do')).toEqual(wordsOf(deeds));
    expect(wordsOfMember(text, 'why')).toEqual(wordsOf(changeReasons));
  });

  it('a contact: how it was read, its row, its state and history', () => {
    const text = section('`contact KEY --json`');
    expect(wordsBetween(text, '`read` is', '. Each').filter((word) => word !== '--offline')).toEqual(wordsOf(reads));
    const row = /`row` \(`kind`: (.*?)\), `said`/.exec(text)?.[1] ?? '';
    expect([...row.matchAll(/(?:^|; )`(\w+)`/g)].map((match) => match[1]).toSorted()).toEqual(wordsOf(rowKinds));
    expect(wordsBetween(text, 'in doubt: `kind` is', '. `state`')).toEqual(wordsOf(historyKinds));
    expect(wordsBetween(text, '`state` is', '.')).toEqual(wordsOf(keyStates));
  });

  it('acts of people, and what was forgotten', () => {
    const text = section('`logs --acts --json`');
    expect(wordsBetween(text, '`kind` is', ';')).toEqual(wordsOf(actKinds));
    expect(wordsOfMember(text, 'by')).toEqual(wordsOf(actors));
    const forget = section('`forget --json`');
    expect(wordsOfMember(forget, 'scrubbed')).toEqual(wordsOf(scrubbed));
    expect(wordsOfMember(forget, 'names')).toEqual(wordsOf(names));
  });

  it('dead letters: state and class', () => {
    const text = section('`dead ls --json`');
    expect(wordsOfMember(text, 'state')).toEqual(wordsOf(letterStates));
    expect(wordsBetween(text, '`class` is', '. ')).toEqual(wordsOf(letterClasses));
  });

  it('faults of the service', () => {
    const told = /Faults: ([\s\S]*?)\.\n/.exec(contract)?.[1] ?? '';
    const words = told
      .replaceAll(/\([^)]*\)/g, '')
      .split(',')
      .map((word) => word.trim());
    expect(words.toSorted()).toEqual(Object.keys(faultKinds).toSorted());
  });
});
