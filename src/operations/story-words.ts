/**
 * The story of a run in words: how it came to be, what it is read by, what was approved, and what people did, with it or with anything else.
 * Command line and page show the same. Pure.
 */

import type { ActFacts, ActKind, ActRecord } from '#src/ledger/acts.ts';
import { counted, type GuardFigures, percent } from '#src/ledger/rules/approval.ts';
import type { RunOrigin, RunRecord } from '#src/ledger/runs.ts';

/** By what a run came to be. The path follows where it is known. */
export const originWords: Readonly<Record<RunOrigin, string>> = {
  folder: 'dropped into the import folder',
  command: 'named by a command:',
  schedule: 'taken by its schedule',
  request: 'taken by its schedule, on request',
  retry: 'a retry of dead letters',
  decision: 'a decision for held fields',
  undo: 'takes back what a run wrote',
};

/** Of a value that was not written, and has another owner from then on. */
export const ownerWords = { adopted: "the feed's own from then on", givenBack: "people's again" } as const;

type LayoutFacts = Pick<RunRecord, 'mapping' | 'shape' | 'counts'>;

/** What its rows are read by; null of a file that was not read, so that nothing was found out about it. */
export function layoutWords({ mapping, shape, counts }: LayoutFacts): string | null {
  if (mapping === null) return shape === null && counts.rows === 0 ? null : 'generic layout';
  return mapping.recognise === undefined ? `mapping ${mapping.name}` : `preset ${mapping.name}`;
}

/** One figure of an approval. Columns are counted: a share of them says nothing. */
export function approvedText({ guard, count, base }: GuardFigures): string {
  switch (guard) {
    case 'unmapped':
      return `despite unmapped columns: ${count}`;
    case 'columns':
      return `despite missing columns: ${count}`;
    case 'blanks':
      return `despite blank columns: ${count}`;
    default:
      return `${guard} ${count} of ${base} (${percent(base === 0 ? 1 : count / base)})`;
  }
}

/** What a person did: `approved run … stopped by guardChange`. Holds what people named: not printable as it is. Who, when and why are said beside it. */
export function actWhat({ kind, run, feed, schedule, facts }: Omit<ActRecord, 'reason'>): string {
  const about = [
    ...(schedule === null ? [] : [`schedule ${schedule}`]),
    ...(run === null ? [] : [`run ${run}`]),
    ...(feed === null ? [] : [`feed ${feed}`]),
    ...factWords(facts),
  ];
  return about.length === 0 ? actWords[kind].replace(/:$/, '') : `${actWords[kind]} ${about.join(', ')}`;
}

const actWords: Readonly<Record<ActKind, string>> = {
  import: 'imported',
  approve: 'approved',
  restage: 'read anew:',
  cancel: 'cancelled',
  heldTake: 'decided held fields:',
  deadRetry: 'retried dead letters:',
  deadEdit: 'edited a dead letter:',
  deadDrop: 'dropped dead letters:',
  undo: 'entered an undo:',
  forget: 'forgot a person:',
  forgetAllow: 'let later files bring a forgotten person again:',
  schedulePause: 'paused',
  scheduleResume: 'resumed',
  scheduleRun: 'asked for',
  hostForget: 'gave up a host:',
  ledgerCopy: 'copied the ledger:',
  sameWorkspace: 'confirmed that the workspace is the same:',
};

const sideWords: Readonly<Record<string, string>> = { file: "the file's values", app: "the app's values" };

const actFlags = [
  ...['accept', 'adopt', 'createAnyway', 'remap', 'verify', 'repair', 'createOnly', 'updateOnly'],
  ...['deleteCreated', 'keyChanged', 'isMappingNew'],
];
const flagWords: Readonly<Record<string, string>> = { isMappingNew: 'another mapping' };
const actFigures = ['maxChange', 'maxDead', 'limit'];
const actCounts = { notices: 'notice', keys: 'key', runs: 'run', rows: 'row' };

/** What is worth a word; ids and checksums are for `--json`. */
function factWords(facts: ActFacts): string[] {
  const {
    side,
    decided,
    letters,
    code,
    fields,
    columns,
    stoppedBy,
    choice,
    onGone,
    undoes,
    plan,
    host,
    from,
    to,
    ...given
  } = facts;
  const list = (value: ActFacts[string] | undefined): string | null =>
    Array.isArray(value) && value.length > 0 ? value.map((one) => String(one)).join(', ') : null;
  const flags = actFlags.filter((name) => given[name] === true).map((name) => flagWords[name] ?? name);
  const figures = actFigures.filter((name) => typeof given[name] === 'number');
  return [
    ...(typeof undoes === 'string' ? [`of run ${undoes}`] : []),
    ...(typeof plan === 'string' ? [`plan ${plan}`] : []),
    ...(typeof host === 'string' ? [host] : []),
    ...(typeof from === 'string' && typeof to === 'string' ? [`${from} → ${to}`] : []),
    ...(typeof side === 'string' ? [sideWords[side] ?? side] : []),
    ...(typeof decided === 'number' ? [counted(decided, 'field')] : []),
    ...(typeof letters === 'number' ? [counted(letters, 'letter')] : []),
    ...(typeof code === 'string' ? [`code ${code}`] : []),
    ...[list(fields), list(columns)].filter((text) => text !== null),
    ...(typeof stoppedBy === 'string' ? [`stopped by ${stoppedBy}`] : []),
    ...(typeof choice === 'string' ? [choice] : []),
    ...(typeof onGone === 'string' ? [`onGone ${onGone}`] : []),
    ...flags,
    ...Object.entries(actCounts).flatMap(([name, noun]) =>
      typeof given[name] === 'number' ? [counted(given[name], noun)] : [],
    ),
    ...figures.map((name) => `${name} ${given[name]}`),
  ];
}
