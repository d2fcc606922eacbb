/** `patchbay serve`: the workspace service alone. */
import { messageOf, PatchbayError } from '#src/errors.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { startService } from '#src/service/start-service.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { readKeyFile } from '../read-key-file.ts';
import { tellInterrupted } from '../tell-interrupted.ts';
import { dumpStore } from './serve-dump.ts';
import { type ServeOptions, serviceOptionsOf } from './serve-options.ts';
import { tellStarted } from './tell-started.ts';

export async function serve(options: ServeOptions): Promise<number> {
  if (options.dump !== undefined) return dumpStore(options.dump, options);
  const output = createOutput(options);
  const { config } = await loadCliConfig(options);
  const apiKeys = [
    ...(options.key ?? []),
    ...(options.keyFile === undefined ? [] : await readKeyFile(options.keyFile)),
  ];
  const store = options.store ?? ':memory:';
  // A load watches the signal, and ends by it. Without a load the signal ends the process: its store is left empty.
  const loading = options.load === undefined ? null : listenForInterrupt(() => undefined, { hangUp: true });
  const loadSignal = loading?.signal ?? null;
  const serviceOptions = serviceOptionsOf(options, { host: config.page.host, apiKeys, store, loadSignal });
  const service = await startService(serviceOptions).catch((error: unknown) => {
    loading?.dispose();
    if (loading?.signal.aborted === true) return null;
    tellProblems(output, error);
    throw error;
  });
  if (service === null) {
    return tellInterrupted(output, 'interrupted; nothing was loaded', loading?.exitCode() ?? exitCodes.interrupted);
  }
  // Before the start is told: whoever reads of it may end the service at once.
  const interrupt = loading ?? listenForInterrupt(() => undefined, { hangUp: true });
  tellStarted(output, service, { store, patchMode: serviceOptions.patchMode });
  await interrupt.received;
  await service.close();
  interrupt.dispose();
  const exitCode = interrupt.exitCode();
  return exitCode === null || exitCode === exitCodes.interrupted ? 0 : exitCode;
}

/** Of a workspace file with several problems the error tells the first; all that are known go to stderr. */
function tellProblems(output: Output, error: unknown): void {
  if (!(error instanceof PatchbayError) || !(error.cause instanceof AggregateError)) return;
  if (error.cause.errors.length < 2) return;
  for (const problem of error.cause.errors) output.note(printable(messageOf(problem)));
}
