/** `patchbay start --worker`: a further process that works for the engine of a data folder, until Ctrl-C. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { runWorker } from '#src/engine/worker.ts';
import type { EngineNotice } from '#src/ledger/engine-notice.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { errorDocument } from '../exit.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

export async function startWorker(options: GlobalOptions): Promise<number> {
  const output = createOutput(options);
  const home = await openCliHome(options, 'start');
  const interrupt = listenForInterrupt(() =>
    output.note('patchbay: finishing the requests on their way; press Ctrl-C again to leave at once'),
  );
  let shifts = 0;
  try {
    await runWorker(home, {
      signal: interrupt.signal,
      onWork: (engine, queue) => {
        shifts += 1;
        if (shifts > 1) output.note(`patchbay: working for the engine that runs since ${since(engine)}`);
        else if (output.json) output.document(banner(home, engine, queue));
        else printBanner(output, home, engine, queue);
      },
      onWait: (cause) => {
        if (cause === null) {
          output.note('patchbay: the engine is gone; waiting for the next one (patchbay start)');
        } else {
          output.note(`patchbay: waiting: ${printable(errorDocument(cause).error.message)} [${cause.code}]`);
        }
      },
    });
    return interrupt.exitCode() ?? 0;
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

function since(engine: EngineNotice): string {
  return isoInstant(engine.startedAtMs);
}

function banner(home: Home, engine: EngineNotice, queue: string) {
  return {
    worker: { pid: process.pid },
    service: { name: home.serviceName, origin: engine.serviceOrigin },
    queue,
    data: home.folders.root,
    engine: { since: since(engine) },
  };
}

function printBanner(output: Output, home: Home, engine: EngineNotice, queue: string): void {
  const sandbox = home.mode === 'sandbox';
  output.line(output.style('bold', `Patchbay ${manifest.version}, worker`));
  output.line(`  service        ${sandbox ? 'sandbox at ' : ''}${engine.serviceOrigin}`);
  output.line(`  queue          ${queue}`);
  output.line(`  data folder    ${home.folders.root}`);
  output.line(`  engine         running since ${since(engine)}`);
}
