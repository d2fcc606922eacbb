/**
 * Opens a *home*: a data folder with its ledger, and all that a command needs to read it. The *engine* that works on it is
 * built by `src/engine/engine.ts`; these two files are where the configuration becomes parts that work together.
 */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from './clock.ts';
import { besideRealService, type DataFolders, dataFolders } from './config/data-folders.ts';
import type { Config, ServiceMode } from './config/schema.ts';
import { readApiKey } from './config/secrets.ts';
import { PatchbayError } from './errors.ts';
import { createFeeds, type Feeds } from './feeds/feeds.ts';
import type { Actor } from './ledger/acts.ts';
import { type HostIdentity, identifyHost, knownHost } from './ledger/host-identity.ts';
import { hasLedger, type LedgerPlace, openLedger, openLedgerToShow } from './ledger/place.ts';
import type { Ledger } from './ledger/port.ts';
import { identifyProcess, type ProcessIdentity } from './ledger/process-identity.ts';
import type { LedgerObserver } from './ledger/trouble.ts';
import type { Logger } from './log.ts';
import type { SubmitParts } from './runs/enter-run.ts';
import type { RunFolders } from './runs/run-files.ts';
import type { FolderFlags } from './shell-words.ts';

export interface Home {
  readonly config: Config;
  readonly mode: ServiceMode;
  /** For people: `sandbox`, or the service's origin; for who only looks, that of the ledger. */
  readonly serviceName: string;
  readonly folders: DataFolders;
  readonly runFolders: RunFolders;
  /** What opens this data folder from anywhere, for the commands in what is written for people. */
  readonly folderFlags: FolderFlags;
  readonly ledger: Ledger;
  readonly ledgerPlace: LedgerPlace;
  /** Sets the observer of problems with the ledger's file, in place of an earlier one. */
  readonly observeLedger: (observer: LedgerObserver) => void;
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
  /** Which host this data folder is, where several work on the ledger; null for a ledger in a file, and in a folder without an engine yet. */
  readonly host: HostIdentity | null;
  readonly log: Logger;
  readonly feeds: Feeds;
  readonly submit: SubmitParts;
  /** Who acts here: the user that the process runs as. A page has its own. */
  readonly actor: Actor;
  close(): Promise<void>;
}

export interface HomeOptions {
  /** `--sandbox`: the sandbox was requested, and is not a fallback. */
  readonly sandboxAsked: boolean;
  /** The sandbox was requested although a service is configured. */
  readonly besideService?: boolean;
  /** Nothing will be sent: a data folder of a real service may be read without naming the service. */
  readonly look: boolean;
  /** Nothing will be changed, either: a data folder that is not there yet is not made. */
  readonly showsOnly?: boolean;
  /** By default the configuration alone names the data folder. */
  readonly folderFlags?: FolderFlags;
}

/**
 * Opens the data folder that the configuration names.
 * @throws PatchbayError `usage`: `realDataFolder` if a data folder of a real service would be used for the sandbox;
 *   what the ledger and `Feeds.check` throw.
 */
export async function openHome(config: Config, log: Logger, options: HomeOptions): Promise<Home> {
  const { mode, serviceName: chosen } = await chooseService(config, options);
  const isBesideReal = options.sandboxAsked && (options.besideService === true || (await hasReal(config)));
  const folders = isBesideReal ? besideRealService(dataFolders(config, mode)) : dataFolders(config, mode);
  const feeds = createFeeds(config, folders.importFolders);
  // A broken mapping must not prevent looking at what it did.
  if (!options.look) await feeds.check();
  let observer: LedgerObserver = () => undefined;
  const place = ledgerPlace(config, mode);
  const open = options.showsOnly === true ? openLedgerToShow : openLedger;
  const ledger = await open(place, (trouble) => observer(trouble));
  // Who only looks sees what was done, and that was for the service that the ledger knows, whatever is configured here.
  const known = options.look && mode === 'real' ? ((await ledger.binding())?.origin ?? null) : null;
  const serviceName = known ?? chosen;
  const host = place.kind === 'file' ? null : await (options.look ? knownHost : identifyHost)(folders.root);
  const system = systemClock();
  const clock: Clock = { ...system, bootId: await ledger.bootId(system) };
  const runFolders: RunFolders = {
    claimed: folders.claimed,
    handedOver: join(folders.root, 'handed-over'),
    drafts: join(folders.root, 'drafts'),
    reports: folders.reports,
    importFolders: folders.importFolders,
  };
  return {
    config,
    mode,
    serviceName,
    folders,
    runFolders,
    folderFlags: options.folderFlags ?? {},
    ledger,
    ledgerPlace: place,
    observeLedger: (next) => {
      observer = next;
    },
    clock,
    // The clock of a database names no boot of this machine, and processes of other machines may be on it.
    identity: place.kind === 'file' ? identifyProcess(clock.bootId) : identifyProcess(system.bootId, 'machines'),
    host,
    log,
    feeds,
    submit: { ledger, clock, log, folders: runFolders, feeds, host: host?.id ?? null, entering: new Set() },
    actor: personAtCommand(),
    close: () => ledger.close(),
  };
}

/** What is known of a data folder without its ledger. */
export type BareHome = Pick<Home, 'config' | 'mode' | 'folders' | 'clock' | 'log'>;

/** Without a service it is the sandbox's, since only the ledger knows better. */
export function bareHome(config: Config, log: Logger, { sandboxAsked, besideService }: HomeOptions): BareHome {
  const mode = config.service.baseUrl === null ? 'sandbox' : 'real';
  const isBeside = sandboxAsked && besideService === true;
  const folders = isBeside ? besideRealService(dataFolders(config, mode)) : dataFolders(config, mode);
  return { config, mode, folders, clock: systemClock(), log };
}

/** Who acts by a command: the user that the process runs as. */
export function personAtCommand(): Actor {
  return { who: userName(), by: 'command' };
}

const userCharsMax = 100;

/** The user of the operating system. A container may run as one without a name. */
function userName(): string {
  let name = process.env.USER ?? '';
  try {
    name = userInfo().username;
  } catch {
    // No entry for this user: its variable, or its number.
  }
  return name === '' ? `user ${process.getuid?.() ?? 'unknown'}` : name.slice(0, userCharsMax);
}

/** A data folder that was used with a real service never falls back to the sandbox (`docs/rules.md`, "Workspace, feed, key"). */
async function chooseService(
  config: Config,
  { sandboxAsked, look }: HomeOptions,
): Promise<Pick<Home, 'mode' | 'serviceName'>> {
  const { baseUrl } = config.service;
  if (baseUrl !== null) return { mode: 'real', serviceName: baseUrl };
  const known = sandboxAsked ? null : await boundOrigin(config);
  if (known === null) return { mode: 'sandbox', serviceName: 'sandbox' };
  if (look) return { mode: 'real', serviceName: known };
  throw realDataFolder(known);
}

/** @param origin of the workspace that the data folder belongs to. */
export function realDataFolder(origin: string): PatchbayError {
  return new PatchbayError(
    'usage',
    'realDataFolder',
    `the data folder belongs to the workspace at ${origin}, and PATCHBAY_BASE_URL is not set`,
    { hint: 'Set PATCHBAY_BASE_URL and the key, or use the sandbox in another data folder (--data DIR).' },
  );
}

/** Where the ledger of a mode is. The sandbox has its own, so that trials never mix with the real service. */
export function ledgerPlace(config: Config, mode: ServiceMode): LedgerPlace {
  const { databaseUrl } = config.ledger;
  if (databaseUrl === null) return { kind: 'file', file: dataFolders(config, mode).ledgerFile };
  return { kind: 'database', url: databaseUrl, suffix: schemaSuffixOf(mode) };
}

/** Of a schema's name: that of the sandbox is beside the real service's. */
export const schemaSuffixOf = (mode: ServiceMode): string => (mode === 'sandbox' ? '_sandbox' : '');

/** Whose ledger `openHome` with `look` would open. */
export async function findMode(config: Config, sandboxAsked: boolean): Promise<ServiceMode> {
  const isReal = !sandboxAsked && (config.service.baseUrl !== null || (await hasReal(config)));
  return isReal ? 'real' : 'sandbox';
}

function hasReal(config: Config): Promise<boolean> {
  return hasLedger(ledgerPlace(config, 'real'));
}

/** The origin of the real service that the data folder was used with; null if there is none. */
async function boundOrigin(config: Config): Promise<string | null> {
  const place = ledgerPlace(config, 'real');
  if (!(await hasLedger(place))) return null;
  const ledger = await openLedger(place);
  const binding = await ledger.binding();
  await ledger.close();
  return binding?.origin ?? null;
}

/**
 * The key of a real service.
 * @throws PatchbayError `auth` `apiKeyMissing`; `usage` `apiKeyFileOpen`.
 */
export async function requireApiKey(config: Config): Promise<string> {
  const key = await readApiKey(config.service);
  if (key !== null) return key;
  throw new PatchbayError('auth', 'apiKeyMissing', 'there is no API key for the service', {
    hint: 'Set PATCHBAY_API_KEY, or PATCHBAY_API_KEY_FILE to a file of mode 0600 that holds it.',
  });
}
