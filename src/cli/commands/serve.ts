/** `patchbay serve`: the workspace service alone. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorLines } from '#src/cli/exit.ts';
import { endedByCtrlC, listenForInterrupt, reportInterrupted, withoutCatching } from '#src/cli/interrupt.ts';
import { type GlobalOptions, loadCliConfig } from '#src/cli/open-home.ts';
import { createOutput, handleBrokenStdout, type Output, printable, wasStdoutClosed } from '#src/cli/output.ts';
import { systemClock } from '#src/clock.ts';
import { keyFileProblem } from '#src/config/secrets.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { createLogger } from '#src/log.ts';
import { errorDocument } from '#src/operations/error-document.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { defaultPatchMode, type PatchMode } from '#src/service/contacts/contact-changes.ts';
import { parseReservedSources } from '#src/service/contacts/reserved-sources.ts';
import { parseFault } from '#src/service/faults/faults.ts';
import type { ErrorDocs } from '#src/service/http/replies.ts';
import type { ServiceOptions } from '#src/service/service-options.ts';
import { type RunningService, startService } from '#src/service/start-service.ts';
import { dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import type { ListSectionName, SectionCounts } from '#src/service/workspace-file/sections.ts';

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
  const loadSignal = loading?.signal ?? null;
  const serviceOptions = serviceOptionsOf(options, { host: config.page.host, apiKeys, store, loadSignal });
  const starting = (): Promise<RunningService> => startService(serviceOptions);
  const service = await (loading === null ? withoutCatching(starting) : starting()).catch((error: unknown) => {
    loading?.dispose();
    if (loading?.signal.aborted === true) return null;
    printProblems(output, error);
    throw error;
  });
  if (service === null) {
    return reportInterrupted(output, 'interrupted; nothing was loaded', loading?.exitCode() ?? exitCodes.interrupted);
  }
  // Before the start is printed: a reader of that may end the service at once.
  const interrupt = loading ?? listenForInterrupt(() => undefined);
  printStarted(output, service, { store, patchMode: serviceOptions.patchMode });
  await interrupt.received;
  await service.close();
  interrupt.dispose();
  return endedByCtrlC(interrupt);
}

/** Of a workspace file with several problems the error names the first; all that are known go to stderr. */
function printProblems(output: Output, error: unknown): void {
  if (!(error instanceof PatchbayError) || !(error.cause instanceof AggregateError)) return;
  if (error.cause.errors.length < 2) return;
  for (const problem of error.cause.errors) output.note(printable(messageOf(problem)));
}

/** `patchbay serve --dump FILE`: the whole workspace of a store as a workspace file; starts no service. */
export interface DumpOptions extends GlobalOptions {
  readonly store?: string;
}

/** `file` is a path, or `-` for stdout: then stdout holds nothing but the dump, and a part of it is a failure. */
async function dumpStore(file: string, options: DumpOptions): Promise<number> {
  const output = createOutput(options);
  const store = options.store ?? ':memory:';
  if (store === ':memory:') {
    throw new PatchbayError('usage', 'storeMissing', '--dump needs the store to be dumped', {
      hint: 'Name its file with --store FILE.',
    });
  }
  const isForStdout = file === '-';
  // What was dumped so far is on standard output, perhaps.
  const interrupt = listenForInterrupt(() => undefined, isForStdout ? () => undefined : undefined);
  let isStdoutTaken = isForStdout && wasStdoutClosed();
  const stdout = () => {
    isStdoutTaken = true;
    handleBrokenStdout();
    return process.stdout;
  };
  try {
    const { signal } = interrupt;
    if (isStdoutTaken) throw stdoutClosed();
    const target = isForStdout ? file : resolve(file);
    const counts = await dumpWorkspace({ store: resolve(store), file: target, stdout, signal });
    if (isForStdout) output.note(`dumped ${sectionCountsText(counts)}`);
    else if (output.json) output.document({ store, dump: file, ...counts });
    else output.line(`dumped ${sectionCountsText(counts)} to ${file}`);
    return 0;
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode !== null) {
      const reporting = isForStdout ? { ...output, json: false } : output;
      return reportInterrupted(reporting, 'interrupted; no dump was written', exitCode);
    }
    if (!isStdoutTaken) throw error;
    // A part of the dump is on standard output already, and its reader may be gone.
    process.stderr.write(`${errorLines(errorDocument(error))}\n`);
    return errorDocument(error).exitCode;
  } finally {
    interrupt.dispose();
  }
}

function stdoutClosed(): PatchbayError {
  return new PatchbayError('usage', 'dumpNotWritten', 'cannot write the dump -: standard output is closed', {
    hint: 'Send it into a file or a pipe, or name a file.',
  });
}

/** From the options of `patchbay serve` to those of the service. */
export interface ServeOptions extends GlobalOptions {
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
  readonly errorDocs?: ErrorDocs;
  readonly international?: boolean;
  readonly fault?: readonly string[];
  readonly faultSeed?: number;
  readonly control?: boolean;
  readonly reservedSource?: readonly string[];
}

const defaultPort = 8787;

/** What the options do not hold themselves. */
interface ServeFacts {
  readonly host: string;
  readonly apiKeys: readonly string[];
  /** A path, or `:memory:`. */
  readonly store: string;
  /** Ends a load; null where nothing is loaded. */
  readonly loadSignal: AbortSignal | null;
}

/** Throws `usage` errors for a fault or a reserved source that cannot be read. */
function serviceOptionsOf(options: ServeOptions, facts: ServeFacts): ServiceOptions {
  const { host, apiKeys, store, loadSignal } = facts;
  return {
    host,
    port: options.port ?? defaultPort,
    apiKeys,
    ...(options.reservedSource === undefined
      ? {}
      : { unnamedReservedSources: parseReservedSources(options.reservedSource) }),
    store: store === ':memory:' ? store : resolve(store),
    seedContacts: options.contacts ?? 25,
    seedPhoneNumbers: options.numbers ?? 4,
    ...(options.load === undefined || loadSignal === null
      ? {}
      : { load: { file: options.load, stdin: () => process.stdin, signal: loadSignal } }),
    patchMode: options.patch ?? defaultPatchMode,
    requestsPerSecond: options.rate ?? null,
    pageNumbers: options.pageNumbers ?? null,
    ...(options.errorDocs === undefined ? {} : { errorDocs: options.errorDocs }),
    internationalMessaging: options.international === true,
    faults: (options.fault ?? []).map(parseFault),
    faultSeed: options.faultSeed ?? 1,
    control: options.control === true,
    clock: systemClock(),
    log: createLogger({ level: options.verbose === true ? 'debug' : 'warn' }),
  };
}

/** Tells where a service that `patchbay serve` started is, and how it is asked. */
interface StartFacts {
  /** As it was given. */
  readonly store: string;
  readonly patchMode: PatchMode;
}

function printStarted(output: Output, service: RunningService, { store, patchMode }: StartFacts): void {
  const { loaded } = service;
  if (output.json) {
    output.document({ origin: service.origin, key: service.printedKey, store, ...(loaded === null ? {} : { loaded }) });
  } else {
    output.line(`workspace service at ${service.origin} (PATCH ${patchMode}s, store ${store})`);
    if (loaded !== null) output.line(`loaded   ${sectionCountsText(loaded)}`);
    if (service.printedKey !== null) output.line(`key      ${service.printedKey}`);
    output.line(`docs     ${service.origin}/docs (for machines: /openapi.json)`);
    output.line(
      `try      curl -H "Authorization: ${service.printedKey ?? '$KEY'}" "${service.origin}/v1/contacts?maxResults=3"`,
    );
  }
}

/** How many records a workspace file holds, in words. */
const words: readonly (readonly [ListSectionName, string, string])[] = [
  ['contacts', 'contact', 'contacts'],
  ['phoneNumbers', 'phone number', 'phone numbers'],
  ['users', 'user', 'users'],
  ['customFields', 'custom field', 'custom fields'],
  ['calls', 'call', 'calls'],
  ['recordings', 'recording', 'recordings'],
  ['messages', 'message', 'messages'],
];

/** `1,000 contacts, 1 user, 7 custom fields`; contacts are listed even if there are none. */
function sectionCountsText(counts: SectionCounts): string {
  return words
    .filter(([name]) => counts[name] > 0 || name === 'contacts')
    .map(([name, one, many]) => `${counts[name].toLocaleString('en')} ${counts[name] === 1 ? one : many}`)
    .join(', ');
}

// Reads a file with API keys for the service, one in each line: an argument could be read by others, as with `ps`.

/** The keys in their order; blank lines and white space around a key are left out. */
async function readKeyFile(file: string): Promise<readonly string[]> {
  const problem = await keyFileProblem(file);
  if (problem !== null) throw new PatchbayError('usage', 'apiKeyFileOpen', problem, { facts: { file } });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw fileError(`the key file ${file} cannot be read: ${messageOf(cause)}`, file, cause);
  });
  const keys = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (keys.length === 0) throw fileError(`the key file ${file} holds no key`, file);
  return keys;
}

function fileError(message: string, file: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'keyFileUnreadable', message, {
    facts: { file },
    hint: 'Name a text file with one key in each line.',
    ...(cause === undefined ? {} : { cause }),
  });
}
