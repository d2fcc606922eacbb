/** From options and environment to an open data folder, the same way for every command. */

import { EventEmitter } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { resolve } from 'node:path';
import pino from 'pino';
import { type BareHome, bareHome, type Home, ledgerPlace, openHome } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { type ConfigFlags, type LoadedConfig, loadConfig } from '#src/config/load.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { hasLedger } from '#src/ledger/place.ts';
import { isPassingTrouble } from '#src/ledger/trouble.ts';
import { createLogger, type Logger, silentLogger } from '#src/log.ts';
import type { FolderFlags } from '#src/shell-words.ts';
import { chooseTraces } from '#src/traces/traces-wanted.ts';
import { makeFolder } from '#src/whole-file.ts';
import manifest from '../../package.json' with { type: 'json' };
import { wantsColours } from './colours.ts';
import { openLogFiles } from './log-files.ts';

/**
 * Says what is worth a warning.
 * @param forStart `startWarnings` and, not with `--sandbox`, `serviceWarnings`, too.
 */
export async function loadCliConfig(
  options: GlobalOptions,
  { forStart = false }: { readonly forStart?: boolean } = {},
): Promise<LoadedConfig> {
  const flags: ConfigFlags = {
    ...(options.data === undefined ? {} : { data: { folder: options.data } }),
    ...(options.verbose === true ? { log: { level: 'debug' } } : {}),
  };
  const loaded = await loadConfig({
    env: process.env,
    flags,
    configPath: options.config ?? null,
    cwd: process.cwd(),
  });
  const ofService = options.sandbox === true ? [] : loaded.serviceWarnings;
  const warnings = [...loaded.warnings, ...(forStart ? [...loaded.startWarnings, ...ofService] : [])];
  for (const warning of warnings) process.stderr.write(`patchbay: ${warning}\n`);
  return { ...loaded, warnings };
}

/** What a command does with the data folder. */
export type HomeUse =
  /** Only shows what is there: makes nothing. */
  | 'show'
  /** Reads, or changes only the ledger: needs no service. */
  | 'look'
  /** Acts on what is in the data folder, and may become the engine. */
  | 'act'
  /** Brings files in, and may become the engine. */
  | 'import'
  /** `start`: without a service it is the sandbox. */
  | 'start';

/**
 * Opens the data folder. All commands find the same one: that of the configured service; with `--sandbox`, or without a
 * service, the sandbox's; a folder that belongs to a real service is never taken for the sandbox's.
 *
 * Files must not end up in the sandbox because a variable is missing: without a service `import` takes the sandbox only with
 * `--sandbox`, or on a terminal.
 * @throws PatchbayError `usage` `serviceMissing`; `transient` `ledgerAway` and its like (`waiting.ts` waits for them).
 */
export async function openCliHome(options: GlobalOptions, use: HomeUse): Promise<Home> {
  return await (await homeOpener(options, use)).open();
}

export interface HomeOpener {
  readonly config: LoadedConfig['config'];
  /** Opens the data folder, each time anew. */
  open(): Promise<Home>;
}

/** Configuration and log are opened once. @throws PatchbayError what is wrong with the configuration. */
export async function homeOpener(options: GlobalOptions, use: HomeUse): Promise<HomeOpener> {
  const { config } = await loadCliConfig(options, { forStart: use === 'start' });
  const { chosen, sandbox } = chooseConfig(options, config);
  const folderFlags = fromAnywhere(options);
  const isNamed = chosen.service.baseUrl !== null || sandbox.sandboxAsked || process.stdout.isTTY === true;
  let log: Logger | null = null;
  const open = async (): Promise<Home> => {
    if (!isNamed && (use === 'import' || (use === 'act' && !(await hasAnyLedger(config))))) {
      throw new PatchbayError('usage', 'serviceMissing', 'no service is configured', {
        hint: 'Set PATCHBAY_BASE_URL and PATCHBAY_API_KEY, or pass --sandbox to try it without an account.',
      });
    }
    log ??= await openLog(options, chosen, use);
    const look = use === 'show' || use === 'look';
    const home = await openHome(chosen, log, { ...sandbox, look, showsOnly: use === 'show', folderFlags });
    return look ? home : await withTraces(home);
  };
  return { config: chosen, open };
}

/** People read what a command writes in other folders than it was started in. */
function fromAnywhere({ config, data, sandbox = false }: FolderFlags): FolderFlags {
  return {
    ...(config === undefined ? {} : { config: resolve(config) }),
    ...(data === undefined ? {} : { data: resolve(data) }),
    sandbox,
  };
}

/** The configuration of what is asked for, and whether that is the sandbox. */
function chooseConfig(options: GlobalOptions, config: LoadedConfig['config']) {
  const sandboxAsked = options.sandbox === true;
  const chosen = sandboxAsked ? { ...config, service: { ...config.service, baseUrl: null } } : config;
  return { chosen, sandbox: { sandboxAsked, besideService: config.service.baseUrl !== null } };
}

/** A data folder that is to be looked at also where its ledger cannot be opened; then `ledger` is the reason. */
export interface CheckedHome {
  readonly bare: BareHome;
  readonly ledger: Home | PatchbayError;
}

/** @throws PatchbayError of a ledger that is too new, and of what is no trouble of a ledger, as `openCliHome`. */
export async function openToCheck(options: GlobalOptions): Promise<CheckedHome> {
  const { config } = await loadCliConfig(options, { forStart: true });
  const { chosen, sandbox } = chooseConfig(options, config);
  const how = { ...sandbox, look: true };
  try {
    const home = await openHome(chosen, silentLogger(), how);
    return { bare: home, ledger: home };
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    const isOfServer = config.ledger.databaseUrl !== null;
    const isOfFile = error.kind === 'damaged' || error.code === 'ledgerUnreadable' || isPassingTrouble(error);
    if (!isOfServer && !isOfFile) throw error;
    return { bare: bareHome(chosen, silentLogger(), how), ledger: error };
  }
}

/** The home, whose work is traced until it is closed, where the environment asks for that. */
async function withTraces(home: Home): Promise<Home> {
  const { wanted, warnings } = chooseTraces(process.env);
  for (const warning of warnings) process.stderr.write(`patchbay: ${warning}\n`);
  if (!wanted) return home;
  // Loaded on demand: it takes longer than a short command.
  const { openTraces } = await import('#src/traces/open-traces.ts');
  const traces = openTraces({
    version: manifest.version,
    installation: home.config.name,
    clock: home.clock,
    log: home.log,
  });
  return {
    ...home,
    close: async () => {
      await home.close();
      await traces.close();
    },
  };
}

/** Of the sandbox, or of a real service: then opening it says what is missing. */
async function hasAnyLedger(config: LoadedConfig['config']): Promise<boolean> {
  return (await hasLedger(ledgerPlace(config, 'sandbox'))) || (await hasLedger(ledgerPlace(config, 'real')));
}

async function openLog(options: GlobalOptions, config: LoadedConfig['config'], use: HomeUse): Promise<Logger> {
  if (use === 'show' || use === 'look') return silentLogger();
  const { logs } = dataFolders(config, config.service.baseUrl === null ? 'sandbox' : 'real');
  const onTerminal = use === 'start' || options.verbose === true;
  return createLogger({
    level: config.log.level,
    installation: config.name,
    stream: await openLogStream({
      folder: logs,
      terminal: onTerminal ? (config.log.format ?? 'auto') : null,
      colours: wantsColours(options, process.stderr),
    }),
  });
}

/** Options as commander gives them: absent unless they were given. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
  readonly values?: boolean;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
}

/** Where log lines go: always to rotated files in the data folder, and to stderr on a terminal. */
interface LogStreamOptions {
  readonly folder: string;
  /** Null: files only. `auto`: pretty on a terminal, JSON elsewhere. */
  readonly terminal: 'json' | 'pretty' | 'auto' | null;
  /** Of pretty lines. */
  readonly colours: boolean;
}

async function openLogStream(options: LogStreamOptions): Promise<pino.DestinationStream> {
  const file = await filesIn(options.folder);
  if (options.terminal === null) return file;
  const pretty = options.terminal === 'pretty' || (options.terminal === 'auto' && process.stderr.isTTY === true);
  const terminal = pretty ? await prettyStream(options.colours) : pino.destination({ dest: 2, sync: true });
  dropOnError(terminal);
  return pino.multistream([
    { level: 'trace', stream: file },
    { level: 'trace', stream: terminal },
  ]);
}

/** Loaded on demand: most processes write no line that a person reads. */
async function prettyStream(colorize: boolean): Promise<pino.DestinationStream> {
  const { default: pinoPretty } = await import('pino-pretty');
  return pinoPretty({
    destination: 2,
    sync: true,
    colorize,
    translateTime: 'SYS:HH:MM:ss',
  });
}

/** A line that cannot be written (closed pipe) is lost; the work continues, and the next line is tried again. */
function dropOnError(stream: pino.DestinationStream): void {
  if (stream instanceof EventEmitter) stream.on('error', () => undefined);
}

async function filesIn(folder: string): Promise<pino.DestinationStream> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
    return openLogFiles(folder);
  } catch (error) {
    throw new PatchbayError('usage', 'dataFolderUnusable', `the data folder cannot be written: ${messageOf(error)}`, {
      hint: 'Check its rights and its free space, or name another one with --data. Nothing was done.',
      cause: error,
    });
  }
}
