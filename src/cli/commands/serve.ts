/** `patchbay serve`: the workspace service alone. */
import { resolve } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { createLogger } from '#src/log.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { parseReservedSources } from '#src/service/contacts/parse-reserved-sources.ts';
import { parseFault } from '#src/service/faults/parse-fault.ts';
import { startService } from '#src/service/start-service.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { readKeyFile } from '../read-key-file.ts';
import { sectionCountsText } from '../section-counts.ts';
import { tellInterrupted } from '../tell-interrupted.ts';
import { dumpStore } from './serve-dump.ts';

interface ServeOptions extends GlobalOptions {
  readonly port?: number;
  readonly key?: readonly string[];
  readonly keyFile?: string;
  readonly store?: string;
  readonly load?: string;
  readonly dump?: string;
  readonly contacts?: number;
  readonly numbers?: number;
  readonly patch?: 'merge' | 'replace';
  readonly rate?: number;
  readonly pageNumbers?: number;
  readonly international?: boolean;
  readonly fault?: readonly string[];
  readonly faultSeed?: number;
  readonly control?: boolean;
  readonly reservedSource?: readonly string[];
}

const defaultPort = 8787;

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
  const loading = options.load === undefined ? null : listenForInterrupt(() => undefined);
  const starting = startService({
    host: config.page.host,
    port: options.port ?? defaultPort,
    apiKeys,
    ...(options.reservedSource === undefined ? {} : { reservedSources: parseReservedSources(options.reservedSource) }),
    store: store === ':memory:' ? store : resolve(store),
    seedContacts: options.contacts ?? 25,
    seedPhoneNumbers: options.numbers ?? 4,
    ...(options.load === undefined || loading === null
      ? {}
      : { load: { file: options.load, stdin: () => process.stdin, signal: loading.signal } }),
    patchMode: options.patch ?? 'merge',
    requestsPerSecond: options.rate ?? null,
    pageNumbers: options.pageNumbers ?? null,
    internationalMessaging: options.international === true,
    faults: (options.fault ?? []).map(parseFault),
    faultSeed: options.faultSeed ?? 1,
    control: options.control === true,
    clock: systemClock(),
    log: createLogger({ level: options.verbose === true ? 'debug' : 'warn' }),
  });
  const service = await starting.catch((error: unknown) => {
    loading?.dispose();
    if (loading?.signal.aborted === true) return null;
    tellProblems(output, error);
    throw error;
  });
  if (service === null) {
    return tellInterrupted(output, 'interrupted; nothing was loaded', loading?.exitCode() ?? exitCodes.interrupted);
  }
  const { loaded } = service;
  if (output.json) {
    output.document({ origin: service.origin, key: service.printedKey, store, ...(loaded === null ? {} : { loaded }) });
  } else {
    output.line(`workspace service at ${service.origin} (PATCH ${options.patch ?? 'merge'}s, store ${store})`);
    if (loaded !== null) output.line(`loaded   ${sectionCountsText(loaded)}`);
    if (service.printedKey !== null) output.line(`key      ${service.printedKey}`);
    output.line(`docs     ${service.origin}/docs (for machines: /openapi.json)`);
    output.line(
      `try      curl -H "Authorization: ${service.printedKey ?? '$KEY'}" "${service.origin}/v1/contacts?maxResults=3"`,
    );
  }
  const interrupt = loading ?? listenForInterrupt(() => undefined);
  await interrupt.received;
  await service.close();
  interrupt.dispose();
  return interrupt.exitCode() === exitCodes.terminated ? exitCodes.terminated : 0;
}

/** Of a workspace file with several problems the error tells the first; all that are known go to stderr. */
function tellProblems(output: Output, error: unknown): void {
  if (!(error instanceof PatchbayError) || !(error.cause instanceof AggregateError)) return;
  if (error.cause.errors.length < 2) return;
  for (const problem of error.cause.errors) output.note(printable(messageOf(problem)));
}
