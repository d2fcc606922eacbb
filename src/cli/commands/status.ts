/** `patchbay status`: what runs, what waits, what is held, what is dead. */
import type { Home } from '#src/app.ts';
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { presentationOf } from '#src/cli/present-run.ts';
import { isoInstant } from '#src/clock.ts';
import { checkSurroundings } from '#src/engine/health.ts';
import { isEngineRunning } from '#src/engine/registration.ts';
import { troubleWords } from '#src/ledger/deliveries.ts';
import { liveWorkers } from '#src/ledger/engine-presence.ts';
import type { Pause } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { bytesOf } from '#src/ledger/sqlite/check.ts';
import type { RunSummary } from '#src/runs/report.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { tally } from '../present-run.ts';

export async function status(options: GlobalOptions): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const facts = await gather(home);
    if (output.json) output.document(facts);
    else print(output, facts);
    return 0;
  } finally {
    await home.close();
  }
}

async function gather(home: Home) {
  const { ledger } = home;
  const pause = await ledger.pause();
  const { diskFreeBytes, queueAnswers, troubles } = await checkSurroundings(home);
  const active = await ledger.runs.list({ states: activeRunStates, limit: 20 });
  const stopped = await ledger.runs.list({ states: ['stopped'], limit: 20 });
  const [last] = await ledger.runs.list({ states: ['done', 'doneWithDead', 'failed', 'cancelled'], limit: 1 });
  const summaries = async (runs: typeof active) =>
    Promise.all(runs.map(async (run) => (await presentationOf(home, run, null)).summary));
  const counts = await ledger.counts();
  return {
    service: home.serviceName,
    data: home.folders.root,
    importFolder: home.folders.importFolders.at(-1) ?? null,
    // One that is known to be damaged is not opened: that is an error of this command.
    ledger: { file: home.folders.ledgerFile, bytes: bytesOf(home.folders.ledgerFile), state: 'noDamageKnown' },
    engine: isEngineRunning(home) ? 'running' : 'not running',
    workers: liveWorkers((await ledger.registrations()).workers, await ledger.nowMs(home.clock), home.identity.isDead)
      .length,
    paused: pause === null ? null : pauseDocument(pause),
    surroundings: { diskFreeBytes, queueAnswers, troubles },
    active: await summaries(active),
    stopped: await summaries(stopped),
    last: last === undefined ? null : (await presentationOf(home, last, null)).summary,
    feeds: (await ledger.deliveries.conditions())
      .filter(({ troubles }) => troubles.length > 0)
      .map(({ feed, troubles, sinceMs }) => ({ feed, troubles, since: isoInstant(sinceMs) })),
    heldFields: await ledger.contacts.heldCount({}),
    deadLetters: counts.openLetters,
    notices: {
      waiting: counts.waitingDeliveries,
      dead: counts.deadDeliveries,
    },
    audits: {
      waiting: counts.waitingAudits,
      duplicates: (await ledger.audits.standing(20)).map(({ runId, duplicates }) => ({ run: runId, keys: duplicates })),
    },
  };
}

/** What waits: `all`, or `writes` alone. */
function pauseDocument({ code, scope = 'all', message, sinceMs }: Pause) {
  return { code, scope, message, since: isoInstant(sinceMs) };
}

/** Further processes that work for the engine. */
function workersText(count: number): string {
  return count === 0 ? '' : `, and ${count} worker ${count === 1 ? 'process' : 'processes'}`;
}

/** A file belongs to its feed: `main` goes without saying. */
function fileOf({ feed, file }: { readonly feed: string; readonly file: string }): string {
  return printable(feed === mainFeed ? file : `${feed}: ${file}`);
}

/** Of a run that nothing works on. How many rows there are is known once its file was read to the end. */
function rowsToGo({ state, pending }: RunSummary): string {
  switch (state) {
    case 'queued':
      return 'not begun';
    case 'staging':
      return 'not read to its end';
    case 'cancelling':
      return 'to be cancelled';
    default:
      return `${pending} ${pending === 1 ? 'row' : 'rows'} to go`;
  }
}

function print(output: Output, facts: Awaited<ReturnType<typeof gather>>): void {
  const { style } = output;
  output.line(`service       ${facts.service}`);
  output.line(`data folder   ${facts.data}`);
  output.line(`import folder ${facts.importFolder}`);
  output.line('ledger        no damage known');
  output.line(`engine        ${facts.engine}${workersText(facts.workers)}`);
  if (facts.paused !== null)
    output.line(style('yellow', `paused        since ${facts.paused.since}: ${printable(facts.paused.message)}`));
  for (const trouble of facts.surroundings.troubles) output.line(style('red', `trouble       ${printable(trouble)}`));
  const isAtWork = facts.engine === 'running';
  for (const run of facts.active) {
    const what = isAtWork ? `${run.state}, ${tally(run)}` : `${rowsToGo(run)}; go on with: patchbay start`;
    output.line(`${isAtWork ? 'running' : 'waiting'}       ${run.run}  ${fileOf(run)}  ${what}`);
  }
  for (const run of facts.stopped)
    output.line(style('red', `stopped       ${run.run}  ${fileOf(run)}  patchbay runs show ${run.run}`));
  if (facts.last !== null)
    output.line(`last run      ${facts.last.run}  ${fileOf(facts.last)}  ${facts.last.state}, ${tally(facts.last)}`);
  for (const { run, keys } of facts.audits.duplicates) {
    const found = `${keys} ${keys === 1 ? 'key' : 'keys'} with more than one contact`;
    output.line(style('red', `duplicates    ${run}  ${found}  patchbay audit ${run}`));
  }
  for (const { feed, troubles, since } of facts.feeds) {
    const words = troubles.map((trouble) => troubleWords[trouble]).join(', ');
    output.line(style('red', `feed          ${printable(feed)}  ${words} since ${since}`));
  }
  const { waiting, dead } = facts.notices;
  if (waiting + dead > 0) output.line(`notices       ${waiting} to be delivered, ${dead} given up`);
  if (facts.heldFields > 0) output.line(`held fields   ${facts.heldFields}  patchbay held ls`);
  output.line(`dead letters  ${facts.deadLetters}${facts.deadLetters > 0 ? '  patchbay dead ls' : ''}`);
}
