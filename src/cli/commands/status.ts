/** `patchbay status`. */

import { checkSurroundings } from '#src/engine/surroundings.ts';
import { type FeedTrouble, troubleWords } from '#src/ledger/deliveries.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { FailingAddressee } from '#src/operations/failing-addressees.ts';
import { apartText } from '#src/operations/followed-settings.ts';
import { noEngineText } from '#src/operations/hosts.ts';
import { readStatus, type Status } from '#src/operations/status.ts';
import type { RunSummary } from '#src/runs/report.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { stateText, tally } from '../present-run.ts';
import { instantText } from '../present-values.ts';
import { hostLines } from './hosts.ts';

/** Of each list; how many more there are is said below it. */
const shownMax = 20;
const noticeCodesShown = 3;

export async function status(options: GlobalOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const facts = await readStatus(home, await checkSurroundings(home));
    if (output.json) output.document(facts);
    else {
      const scheduled = new Set((await home.ledger.schedules.list()).map(({ name }) => name));
      print(output, facts, scheduled);
    }
    return 0;
  } finally {
    await home.close();
  }
}

/** @param scheduled names of schedules. */
function print(output: Output, facts: Status, scheduled: ReadonlySet<string>): void {
  const { style } = output;
  const line = (name: string, text: string): void => output.line(output.paste(`${name.padEnd(13)} ${text}`));
  const alarm = (name: string, text: string): void =>
    output.line(style('red', output.paste(`${name.padEnd(13)} ${text}`)));
  line('service', facts.service);
  line('data folder', facts.data);
  line('import folder', `${facts.importFolder}`);
  line('ledger', ledgerTexts[facts.ledger.state]);
  const isUp = ({ state }: Status['hosts'][number]): boolean => state === 'leads' || state === 'works';
  const elsewhere = facts.hosts.filter((host) => !host.isThis && isUp(host)).map(({ name }) => printable(name));
  const engine = facts.engine === 'running' || elsewhere.length === 0 ? facts.engine : noEngineText(elsewhere);
  line('engine', `${engine}${workersText(facts.workers)}`);
  const apart = apartText(facts.notFollowed);
  if (apart !== null) line('settings', printable(apart));
  for (const host of facts.hosts) {
    for (const [index, text] of hostLines(output, host).entries())
      output.line(`${(index === 0 ? 'host' : '').padEnd(13)} ${text}`);
  }
  if (facts.paused !== null)
    output.line(
      style('yellow', `paused        since ${instantText(facts.paused.since)}: ${printable(facts.paused.message)}`),
    );
  for (const trouble of facts.surroundings.troubles) alarm('trouble', printable(trouble));
  const more = (count: number, command: string): void => {
    if (count > shownMax) line('', `… and ${count - shownMax} more: ${command}`);
  };
  const isEngineUp = facts.engine === 'running' || facts.hosts.some(isUp);
  for (const run of facts.active.slice(0, shownMax)) {
    const what = isEngineUp
      ? `${stateText(run.state)}, ${tally(run)}`
      : `${rowsToGo(run)}; continue with: patchbay start`;
    line(isEngineUp ? 'running' : 'waiting', `${run.run}  ${fileOf(run)}  ${what}`);
  }
  more(facts.activeCount, runsListed('active', facts.activeCount));
  for (const run of facts.stopped.slice(0, shownMax))
    alarm('stopped', `${run.run}  ${fileOf(run)}  patchbay runs show ${run.run}`);
  more(facts.stoppedCount, runsListed('stopped', facts.stoppedCount));
  const { last } = facts;
  if (last !== null) line('last run', `${last.run}  ${fileOf(last)}  ${stateText(last.state)}, ${tally(last)}`);
  const { duplicates } = facts.audits;
  for (const { run, keys } of duplicates.slice(0, shownMax))
    alarm('duplicates', `${run}  ${counted(keys, 'key')} with more than one contact  patchbay audit ${run}`);
  more(duplicates.length, 'patchbay status --json');
  for (const { feed, troubles, since } of facts.feeds) {
    const words = troubles.map((trouble) => troubleWords[trouble]).join(', ');
    const commands = new Set(troubles.flatMap((trouble) => commandOf(trouble, feed, scheduled.has(feed))));
    const listed = [...commands].map((command) => `  ${command}`).join(';');
    alarm('feed', `${printable(feed)}  ${words} since ${instantText(since)}${listed}`);
  }
  for (const { name, since, reason } of facts.schedules.paused.slice(0, shownMax)) {
    const why = reason === null ? '' : `: ${printable(reason)}`;
    const command = `patchbay schedule resume ${operands(name)}`;
    output.line(
      style(
        'yellow',
        output.paste(`schedule      ${printable(name)}  paused since ${instantText(since)}${why}  ${command}`),
      ),
    );
  }
  more(facts.schedules.paused.length, 'patchbay schedule ls');
  // What a running engine cannot check is a trouble.
  const overdue = isEngineUp ? [] : facts.schedules.overdue;
  for (const { name, dueAt } of overdue.slice(0, shownMax))
    alarm('schedule', `${printable(name)}  due since ${instantText(dueAt)}, no engine runs: patchbay start`);
  more(overdue.length, 'patchbay schedule ls');
  const { waiting, dead, codes, failing } = facts.notices;
  // By code: the list of all dead letters has every rejected row before them.
  const listed = codes.slice(0, noticeCodesShown).map((code) => `  patchbay dead ls --code ${shellWord(code)}`);
  if (waiting + dead > 0) line('notices', `${waiting} to be delivered, ${dead} given up${listed.join(';')}`);
  for (const one of failing) alarm('notices to', `${one.to}  ${failingText(one)}`);
  for (const { feed, count } of facts.missing)
    line('missing', `${printable(feed)}  ${count === 1 ? '1 person is' : `${count} people are`} no longer in its file`);
  if (facts.heldFields > 0) {
    const ofFeeds = facts.heldByFeed.map(({ feed, fields }) => `${printable(feed)} ${fields}`).join(', ');
    line('held fields', `${facts.heldFields}: ${ofFeeds}  patchbay held ls`);
  }
  line('dead letters', `${facts.deadLetters}${facts.deadLetters > 0 ? '  patchbay dead ls' : ''}`);
}

const ledgerTexts: Readonly<Record<Status['ledger']['state'], string>> = {
  noDamageKnown: 'no damage known',
  noneYet: 'none yet: nothing has been imported here; patchbay start makes it',
};

/** What an addressee did not accept. One of which no older version wrote the time has none. */
function failingText({ waiting, since, message, nextTry, retry }: FailingAddressee): string {
  const sinceWhen = since === null ? '' : ` since ${instantText(since)}`;
  const next = `next try ${instantText(nextTry)}, or now: patchbay dead retry ${retry}`;
  return `${waiting} not accepted${sinceWhen}: ${printable(message ?? '')}; ${next}`;
}

/** What shows why, and what to do: none of what has a line of its own here. `schedule ls` shows files that failed, too. */
function commandOf(trouble: FeedTrouble, feed: string, isScheduled: boolean): readonly string[] {
  switch (trouble) {
    case 'failed':
    case 'missed':
      return [isScheduled ? 'patchbay schedule ls' : `patchbay runs ls --feed ${shellWord(feed)}`];
    case 'deadRows':
      return [`patchbay dead ls --feed ${shellWord(feed)}`];
    default:
      return [];
  }
}

function runsListed(state: string, count: number): string {
  return `patchbay runs ls --state ${state} --limit ${count}`;
}

/** Further processes that work for the engine. */
function workersText(count: number): string {
  return count === 0 ? '' : `, and ${count} worker ${count === 1 ? 'process' : 'processes'}`;
}

/** A file is shown with its feed, except for the feed `main`. */
function fileOf({ feed, file }: { readonly feed: string; readonly file: string }): string {
  return printable(feed === mainFeed ? file : `${feed}: ${file}`);
}

/** Of a run that no engine works on. How many rows there are is known only when its file has been read. */
function rowsToGo({ state, pending }: RunSummary): string {
  switch (state) {
    case 'queued':
      return 'not begun';
    case 'staging':
      return 'not read completely';
    case 'cancelling':
      return 'to be cancelled';
    default:
      return `${counted(pending, 'row')} to go`;
  }
}
