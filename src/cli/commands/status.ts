/** `patchbay status`: what runs, what waits, what is dead. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { takeEngineLock } from '#src/ledger/engine-lock.ts';
import { activeRunStates } from '#src/ledger/run-record.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { tally } from '../present-run.ts';
import { presentationOf } from '../run-document.ts';

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
  const active = await ledger.runs.list({ states: activeRunStates, limit: 20 });
  const stopped = await ledger.runs.list({ states: ['stopped'], limit: 20 });
  const [last] = await ledger.runs.list({ states: ['done', 'doneWithDead', 'failed', 'cancelled'], limit: 1 });
  const summaries = async (runs: typeof active) =>
    Promise.all(runs.map(async (run) => (await presentationOf(home, run, null)).summary));
  return {
    service: home.serviceName,
    data: home.folders.root,
    importFolder: home.folders.importFolders.at(-1) ?? null,
    engine: isEngineRunning(home) ? 'running' : 'not running',
    paused: pause === null ? null : { code: pause.code, message: pause.message, since: isoInstant(pause.sinceMs) },
    active: await summaries(active),
    stopped: await summaries(stopped),
    last: last === undefined ? null : (await presentationOf(home, last, null)).summary,
    deadLetters: await ledger.deadLetters.countOpen(),
  };
}

/** The lock tells: a process that holds it is the engine. It is given back at once. */
function isEngineRunning(home: Home): boolean {
  const lock = takeEngineLock(home.folders.lockFile);
  lock?.release();
  return lock === null;
}

function print(output: Output, facts: Awaited<ReturnType<typeof gather>>): void {
  const { style } = output;
  output.line(`service       ${facts.service}`);
  output.line(`data folder   ${facts.data}`);
  output.line(`import folder ${facts.importFolder}`);
  output.line(`engine        ${facts.engine}`);
  if (facts.paused !== null)
    output.line(style('yellow', `paused        since ${facts.paused.since}: ${printable(facts.paused.message)}`));
  for (const run of facts.active)
    output.line(`at work       ${run.run}  ${printable(run.file)}  ${run.state}, ${tally(run)}`);
  for (const run of facts.stopped)
    output.line(style('red', `stopped       ${run.run}  ${printable(run.file)}  patchbay runs show ${run.run}`));
  if (facts.last !== null)
    output.line(
      `last run      ${facts.last.run}  ${printable(facts.last.file)}  ${facts.last.state}, ${tally(facts.last)}`,
    );
  output.line(`dead letters  ${facts.deadLetters}${facts.deadLetters > 0 ? '  patchbay dead ls' : ''}`);
}
