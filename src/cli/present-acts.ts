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
  const what = `${actWords[kind]}${about.length === 0 ? '' : ` ${about.join(', ')}`}`;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  return `${style('gray', instantText(isoInstant(atMs)))}  ${style('cyan', printable(who))}${places[by]}  ${what}${why}`;
}

const places: Readonly<Record<Actor['by'], string>> = { command: '', page: ' (page)', queue: '' };

const actWords: Readonly<Record<ActKind, string>> = {
  import: 'imported',
  approve: 'approved',
  cancel: 'cancelled',
  heldTake: 'decided held fields:',
  deadRetry: 'retried dead letters:',
  deadEdit: 'edited a dead letter:',
  deadDrop: 'dropped dead letters:',
  undo: 'undid',
  forget: 'forgot a person:',
  schedulePause: 'paused',
  scheduleResume: 'resumed',
  scheduleRun: 'asked for',
};

const sideWords: Readonly<Record<string, string>> = { file: "the file's values", app: "the app's values" };

/** What is worth a word; ids and checksums are for `--json`. */
function factWords({ side, decided, letters, code, fields, columns, stoppedBy, choice, ...given }: ActFacts): string[] {
  const list = (value: ActFacts[string] | undefined): string | null =>
    Array.isArray(value) && value.length > 0 ? value.map((one) => printable(String(one))).join(', ') : null;
  const flags = ['accept', 'adopt', 'createAnyway', 'remap'].filter((name) => given[name] === true);
  const shares = ['maxChange', 'maxDead'].filter((name) => typeof given[name] === 'number');
  return [
    ...(typeof side === 'string' ? [sideWords[side] ?? side] : []),
    ...(typeof decided === 'number' ? [counted(decided, 'field')] : []),
    ...(typeof letters === 'number' ? [counted(letters, 'letter')] : []),
    ...(typeof code === 'string' ? [`code ${printable(code)}`] : []),
    ...[list(fields), list(columns)].filter((text) => text !== null),
    ...(typeof stoppedBy === 'string' ? [`stopped by ${stoppedBy}`] : []),
    ...(typeof choice === 'string' ? [choice] : []),
    ...flags,
    ...shares.map((name) => `${name} ${given[name]}`),
  ];
}
