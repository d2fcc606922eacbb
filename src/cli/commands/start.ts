/** `patchbay start`: worker, queue and page until Ctrl-C; without a configured service also the sandbox. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Home } from '#src/app.ts';
import { errorLines } from '#src/cli/exit.ts';
import { finishingText, type Interrupt, listenForInterrupt, reportInterrupted } from '#src/cli/interrupt.ts';
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import { ledgerNotes, openPatiently, otherEntryNote } from '#src/cli/waiting.ts';
import { isoInstant } from '#src/clock.ts';
import type { Readiness } from '#src/dashboard/parts.ts';
import { readinessOf } from '#src/dashboard/readiness.ts';
import { type RunningPage, startPage } from '#src/dashboard/start-page.ts';
import { createWaitingPage, type WaitingPage } from '#src/dashboard/waiting-page.ts';
import { startWorkerPage } from '#src/dashboard/worker-page.ts';
import { type Engine, startEngine } from '#src/engine/engine.ts';
import { startIntake } from '#src/engine/intake.ts';
import { checkSurroundings, unusableFolders } from '#src/engine/surroundings.ts';
import { runWorker } from '#src/engine/worker-session.ts';
import { PatchbayError } from '#src/errors.ts';
import { type EngineLock, type EngineRegistration, takeEngineLock } from '#src/ledger/engine-presence.ts';
import { nameOfPlace } from '#src/ledger/place.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { isLedgerAway, isLedgerTrouble } from '#src/ledger/trouble.ts';
import { unlessAway, waitOut } from '#src/ledger/wait-out.ts';
import type { Metrics } from '#src/metrics/metrics.ts';
import { errorDocument } from '#src/operations/error-document.ts';
import { readOpenJobFailures } from '#src/operations/job-failures.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { shellWord } from '#src/shell-words.ts';
import { findUnreadableFiles, plainUnreadable, unreadableSentences } from '#src/sources/unreadable-files.ts';
import manifest from '../../../package.json' with { type: 'json' };

interface StartOptions extends GlobalOptions {
  readonly sameWorkspace?: boolean;
  readonly worker?: boolean;
}

/** An engine and a worker wait for a ledger that is away until it is there: a machine that boots may be faster than its database. */
const forEver = Number.POSITIVE_INFINITY;

export async function start(options: StartOptions): Promise<number> {
  if (options.worker === true) return await startWorker(options);
  const output = createOutput(options);
  const waiting = createWaitingPage();
  try {
    const home = await openPatiently(options, 'start', forEver, (trouble, { page }) => waiting.wait(trouble, page));
    try {
      return await work(home, options, output, waiting);
    } finally {
      await home.close();
    }
  } finally {
    await waiting.close();
  }
}

async function work(home: Home, options: StartOptions, output: Output, waiting: WaitingPage): Promise<number> {
  const interrupt = listenForInterrupt(() => output.note(finishingText));
  // Before the engine, whose first work counts.
  const metrics = await openHomeMetrics(home);
  try {
    const engine = await startUnlessCut(home, options, output, interrupt, waiting);
    if (engine === null) return reportInterrupted(output, beforeWork, interrupt.exitCode() ?? exitCodes.interrupted);
    const page = async () => {
      await waiting.close();
      return await openPage(home, engine, metrics);
    };
    const end = await serve(home, engine, page, output, interrupt);
    if (end !== null) return end;
  } finally {
    metrics.close();
    interrupt.dispose();
  }
  const states = ['queued', 'staging', 'applying'] as const;
  const unfinished = await unlessAway(() => home.ledger.runs.list({ states, limit: 100 }), []);
  if (unfinished.length > 0) output.note(`unfinished runs: ${unfinished.length}; the next start continues them`);
  return interrupt.exitCode() ?? 0;
}

const beforeWork = 'interrupted before its work had begun';

/** Page and import folder, until a signal; the engine is stopped. @returns the exit code of an engine that met damage, otherwise null. */
async function serve(
  home: Home,
  engine: Engine,
  open: () => Promise<RunningPage>,
  output: Output,
  interrupt: Interrupt,
): Promise<number | null> {
  try {
    const page = await open();
    const closers = [() => page.close()];
    try {
      const intake = await startIntake(home, engine.wake);
      closers.unshift(() => intake.close());
      if (output.json) output.document(banner(home, engine, page.address));
      else printBanner(output, home, engine, page.address, await nameOfPlace(home.ledgerPlace));
      const end = await Promise.race([interrupt.received, engine.died]);
      if (end?.kind === 'damaged') {
        // The process stays: a supervisor would start it again and again, and the page says what to do.
        process.stderr.write(`${errorLines(errorDocument(end))}\n`);
        await intake.close();
        await engine.stop();
        await interrupt.received;
        return exitCodes.unexpected;
      }
      if (end !== undefined) throw end;
      return null;
    } finally {
      for (const close of closers) await close();
    }
  } finally {
    await engine.stop();
  }
}

/** Null where a signal came meanwhile. @throws PatchbayError `usage` `engineRunning`; what `startEngine` throws. */
async function startUnlessCut(
  home: Home,
  { sameWorkspace }: StartOptions,
  output: Output,
  { signal }: Interrupt,
  waiting: WaitingPage,
): Promise<Engine | null> {
  const say = ledgerNotes(output.note, forEver);
  const onWait = (trouble: PatchbayError): void => {
    say(trouble);
    waiting.wait(trouble, home.config.page);
  };
  const startOnce = async (): Promise<Engine> => {
    await home.ledger.requireWritable();
    waiting.goOn();
    return await startEngine(home, await takeLockSoon(home), {
      ...{ sameWorkspace: sameWorkspace === true, waitFor: 'everything', runsSchedules: true, signal },
      onOtherEntry: otherEntryNote(output.note),
    });
  };
  try {
    return await waitOut({ clock: home.clock, patienceMs: forEver, signal, onWait }, startOnce, isLedgerAway);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** Another command may hold the lock for an instant, to see whether an engine runs. @throws PatchbayError `usage` `engineRunning`. */
async function takeLockSoon(home: Home): Promise<EngineLock> {
  for (let look = 0; look < 5; look += 1) {
    const lock = takeEngineLock(home.folders.lockFile);
    if (lock !== null) return lock;
    await home.clock.sleep(100);
  }
  throw new PatchbayError('usage', 'engineRunning', `another process already works on ${home.folders.root}`, {
    hint: 'There is one engine per data folder. Use the running one, or another data folder (--data DIR).',
  });
}

async function openHomeMetrics({ config }: Home): Promise<Metrics> {
  // Loaded where they are served only.
  const { openMetrics } = await import('#src/metrics/metrics.ts');
  const feeds = [mainFeed, ...Object.keys(config.feeds)];
  return openMetrics({ version: manifest.version, installation: config.name, feeds });
}

async function metricsText(home: Home, engine: Engine, metrics: Metrics, readiness: Readiness): Promise<string> {
  const { ledger, clock, config } = home;
  const expectEveryMs = Object.fromEntries(
    Object.entries(config.feeds).map(([feed, one]) => [feed, one.expectEveryMs] as const),
  );
  const queueJobs = await engine.queueJobs();
  return await metrics.text({
    ledger,
    nowMs: clock.nowMs(),
    expectEveryMs,
    queueJobs,
    readiness,
    leads: engine.leads(),
  });
}

function openPage(home: Home, engine: Engine, metrics: Metrics): Promise<RunningPage> {
  const { config } = home;
  const parts = {
    ...home,
    version: manifest.version,
    installation: config.name,
    serviceOrigin: engine.serviceOrigin,
    queueDescription: engine.queueDescription,
    token: config.page.token,
    surroundings: () => checkSurroundings(home),
    readiness: () => readiness(home, engine),
    metricsText: (known: Parameters<typeof metricsText>[3]) => metricsText(home, engine, metrics, known),
  };
  return startPage(parts, { host: config.page.host, port: config.page.port });
}

async function readiness(home: Home, engine: Engine): Promise<Readiness> {
  const { folders, ledger, clock } = home;
  // Trouble of the ledger is among the troubles by now.
  const unlessTrouble = (error: unknown): null => {
    if (isLedgerTrouble(error)) return null;
    throw error;
  };
  const pause = await ledger.pause().catch(unlessTrouble);
  const ofJobs = (await readOpenJobFailures(home).catch(unlessTrouble)) ?? { whole: [], plain: [] };
  const unreadable = await findUnreadableFiles(folders, clock);
  const failures = {
    whole: [...ofJobs.whole, ...unreadableSentences(unreadable)],
    plain: [...ofJobs.plain, ...plainUnreadable(unreadable)],
  };
  const unusable = (await unusableFolders(folders)).map(({ message }) => message);
  return readinessOf({ folders: unusable, troubles: engine.troubles(), failures, pause });
}

function banner(home: Home, engine: Engine, page: string) {
  const { name } = home.config;
  return {
    ...(name === null ? {} : { name }),
    service: { name: home.serviceName, origin: engine.serviceOrigin },
    queue: engine.queueDescription,
    importFolder: home.folders.watched.at(-1),
    data: home.folders.root,
    page,
  };
}

function named({ config: { name } }: Home): string {
  return name === null ? '' : `, ${name}`;
}

function printBanner(output: Output, home: Home, engine: Engine, page: string, ledger: string): void {
  const { style } = output;
  const sandbox = home.mode === 'sandbox';
  const embedded = home.config.queue.redisUrl === null;
  output.line(style('bold', `Patchbay ${manifest.version}${named(home)}`));
  output.line(
    sandbox
      ? `  service        sandbox at ${engine.serviceOrigin} (PATCHBAY_BASE_URL and PATCHBAY_API_KEY name a real one)`
      : `  service        ${engine.serviceOrigin}`,
  );
  output.line(`  queue          ${engine.queueDescription}${embedded ? ' (REDIS_URL replaces it)' : ''}`);
  const isFile = home.ledgerPlace.kind === 'file';
  output.line(
    isFile ? `  ledger         SQLite, ${ledger} (DATABASE_URL replaces it)` : `  ledger         PostgreSQL, ${ledger}`,
  );
  output.line(`  import folder  ${home.folders.watched.at(-1)}`);
  output.line(`  page           ${page}`);
  // Invented people are for the sandbox alone.
  const example = sandbox ? wordFromHere(samplePath) : 'YOUR-EXPORT.csv';
  output.line(`  try            cp ${example} ${wordFromHere(`${home.folders.watched.at(-1)}/`)}`);
}

const samplePath = fileURLToPath(new URL('../../../config/samples/contacts.csv', import.meta.url));

/** A path as people in the folder at hand would type it. A folder ends in a slash. */
function wordFromHere(path: string): string {
  const shown = relative(process.cwd(), path) || '.';
  return shellWord(path.endsWith('/') ? `${shown}/` : shown);
}

/** `patchbay start --worker`: a further process that works for the engine of a data folder, until Ctrl-C. */
export async function startWorker(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const home = await openForWorker(options);
  const interrupt = listenForInterrupt(() => output.note(finishingText));
  let shifts = 0;
  const page = await openWorkerPage(home);
  try {
    await runWorker(home, {
      signal: interrupt.signal,
      onWork: (engine, queue) => {
        shifts += 1;
        if (shifts > 1) output.note(`patchbay: working for the engine that runs since ${since(engine)}`);
        else if (output.json) output.document(workerBanner(home, engine, queue, page?.address ?? null));
        else printWorkerBanner(output, home, engine, queue, page?.address ?? null);
      },
      onWait: (cause) => {
        if (cause === null) {
          output.note('patchbay: the engine is gone; waiting for the next one (patchbay start)');
        } else {
          output.note(`patchbay: waiting: ${printable(errorDocument(cause).error.message)} [${cause.code}]`);
        }
      },
    });
    if (shifts > 0) return interrupt.exitCode() ?? 0;
    return reportInterrupted(output, beforeWork, interrupt.exitCode() ?? exitCodes.interrupted);
  } finally {
    interrupt.dispose();
    await page?.close();
    await home.close();
  }
}

/** What it answers on its port, if it has one, begins with the wait. */
async function openForWorker(options: GlobalOptions): Promise<Home> {
  const waiting = createWaitingPage();
  try {
    return await openPatiently(options, 'start', forEver, (trouble, { page }) => {
      if (page.workerPort !== null) waiting.wait(trouble, { ...page, port: page.workerPort });
    });
  } finally {
    await waiting.close();
  }
}

/** Null where no port is set for it. Its metrics are loaded only where there is one. */
async function openWorkerPage(home: Home): Promise<Pick<RunningPage, 'address' | 'close'> | null> {
  const { clock, log } = home;
  const { host, workerPort, token } = home.config.page;
  if (workerPort === null) return null;
  const metrics = await openHomeMetrics(home);
  const page = await startWorkerPage({
    host,
    port: workerPort,
    token,
    clock,
    log,
    metricsText: () => metrics.text(null),
  });
  return {
    address: page.address,
    close: async () => {
      metrics.close();
      await page.close();
    },
  };
}

function since(engine: EngineRegistration): string {
  return isoInstant(engine.startedAtMs);
}

function workerBanner(home: Home, engine: EngineRegistration, queue: string, page: string | null) {
  return {
    worker: { pid: process.pid },
    service: { name: home.serviceName, origin: engine.serviceOrigin },
    queue,
    data: home.folders.root,
    engine: { since: since(engine) },
    metrics: page === null ? null : `${page}/metrics`,
  };
}

function printWorkerBanner(
  output: Output,
  home: Home,
  engine: EngineRegistration,
  queue: string,
  page: string | null,
): void {
  const sandbox = home.mode === 'sandbox';
  output.line(output.style('bold', `Patchbay ${manifest.version}${named(home)}, worker`));
  output.line(`  service        ${sandbox ? 'sandbox at ' : ''}${engine.serviceOrigin}`);
  output.line(`  queue          ${queue}`);
  output.line(`  data folder    ${home.folders.root}`);
  output.line(`  engine         running since ${since(engine)}`);
  if (page !== null) output.line(`  metrics        ${page}/metrics`);
}
