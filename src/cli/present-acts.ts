/** Acts of people for people: `logs --acts`, and the acts of one run in `runs show`. */
import { isoInstant } from '#src/clock.ts';
import type { ActFacts, ActKind, Actor, ActRecord } from '#src/ledger/acts.ts';
import { type Output, printable } from './output.ts';
import { counted, instantText } from './present-run.ts';

/** `2026-11-22 23:35:07Z  ann  approved run …: the new mail domain`. */
export function actLine({ style }: Output, act: ActRecord): string {
  const { atMs, who, by, kind, reason, run, feed, schedule, facts } = act;
  const about = [
    ...(schedule === null ? [] : [`schedule ${printable(schedule)}`]),
    ...(run === null ? [] : [`run ${run}`]),
    ...(feed === null ? [] : [`feed ${printable(feed)}`]),
    ...factWords(facts),
  ];
  const what = about.length === 0 ? actWords[kind].replace(/:$/, '') : `${actWords[kind]} ${about.join(', ')}`;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  return `${style('gray', instantText(isoInstant(atMs)))}  ${style('cyan', printable(who))}${places[by]}  ${what}${why}`;
}

const places: Readonly<Record<Actor['by'], string>> = { command: '', page: ' (page)', queue: '' };

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
  const { side, decided, letters, code, fields, columns, stoppedBy, choice, undoes, plan, host, from, to, ...given } =
    facts;
  const list = (value: ActFacts[string] | undefined): string | null =>
    Array.isArray(value) && value.length > 0 ? value.map((one) => printable(String(one))).join(', ') : null;
  const flags = actFlags.filter((name) => given[name] === true).map((name) => flagWords[name] ?? name);
  const figures = actFigures.filter((name) => typeof given[name] === 'number');
  return [
    ...(typeof undoes === 'string' ? [`of run ${undoes}`] : []),
    ...(typeof plan === 'string' ? [`plan ${printable(plan)}`] : []),
    ...(typeof host === 'string' ? [printable(host)] : []),
    ...(typeof from === 'string' && typeof to === 'string' ? [`${printable(from)} → ${printable(to)}`] : []),
    ...(typeof side === 'string' ? [sideWords[side] ?? side] : []),
    ...(typeof decided === 'number' ? [counted(decided, 'field')] : []),
    ...(typeof letters === 'number' ? [counted(letters, 'letter')] : []),
    ...(typeof code === 'string' ? [`code ${printable(code)}`] : []),
    ...[list(fields), list(columns)].filter((text) => text !== null),
    ...(typeof stoppedBy === 'string' ? [`stopped by ${stoppedBy}`] : []),
    ...(typeof choice === 'string' ? [choice] : []),
    ...flags,
    ...Object.entries(actCounts).flatMap(([name, noun]) =>
      typeof given[name] === 'number' ? [counted(given[name], noun)] : [],
    ),
    ...figures.map((name) => `${name} ${given[name]}`),
  ];
}
