/**
 * Checks this machine, the ledger, the configuration and the connection to the service. Changes nothing, except for the mark beside a
 * ledger that it finds damaged.
 */

import { access, constants, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BareHome, type Home, realDataFolder, requireApiKey } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { archiveFolders } from '#src/config/data-folders.ts';
import { formatDuration } from '#src/config/forms.ts';
import { readAgeMaxMs, serviceFigures } from '#src/config/schema.ts';
import { readMailPassword } from '#src/config/secrets.ts';
import { clearTextWarning } from '#src/config/surroundings.ts';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import { ledgerBytes } from '#src/ledger/place.ts';
import type { Pause } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { quickLook } from '#src/ledger/sqlite/check.ts';
import { ledgerDamaged, markDamaged } from '#src/ledger/sqlite/damage.ts';
import { readWebhookSecret } from '#src/notices/senders.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { requireOwnWorkspace } from '#src/runs/check-workspace.ts';
import { exitCodes, worstExitCode } from '#src/runs/exit-code.ts';
import { findUnreadableFiles, unreadableSentences } from '#src/sources/unreadable-files.ts';
import { makeFolder } from '#src/whole-file.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { firstLookHeldMsMax, onlyLookSilentMsMax } from '#src/workspace/port.ts';
import { besideEngine } from './engine-here.ts';
import { errorDocument } from './error-document.ts';
import { apartText } from './followed-settings.ts';
import { noEngineText, readEngine } from './hosts.ts';
import { pauseAdvice } from './pause-advice.ts';
import { readStandingSchedules } from './standing-schedules.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly exitCode: number;
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** What no client can rule out, with the figures in force. */
  readonly windows: readonly string[];
  readonly exitCode: number;
}

/** Larger ledgers are not read here; this many bytes take about two seconds. */
const checkedBytesMax = 2e9;
/** Of those that are due while no engine runs. */
const schedulesNamedMax = 5;
/** Less free space than this is a finding. */
const freeBytesMin = 500 * 1024 * 1024;

/** What was seen of a Redis. */
export interface QueueState {
  readonly answers: boolean;
  /** Whether it refuses what REDIS_URL says: user, password or database. */
  readonly isRefused: boolean;
  /** Why it cannot be used now; the message is a sentence. */
  readonly trouble: { readonly code: string; readonly message: string } | null;
  /** Its `maxmemory-policy`; null where it does not say. */
  readonly policy: string | null;
  /** What follows from that policy, as a sentence; null where nothing does. */
  readonly evicts: string | null;
}

/**
 * Takes a few seconds. Findings that fail have the exit code of their error.
 * @param ledger the open data folder, or why its ledger cannot be opened: everything else is checked in any case.
 * @param queue null: it is embedded.
 */
export async function diagnose(
  bare: BareHome,
  ledger: Home | PatchbayError,
  queue: QueueState | null,
): Promise<Diagnosis> {
  const findings = [
    { check: 'node', ok: true, detail: process.version, exitCode: 0 },
    await checkFolder(bare),
    await checkSpace(bare),
    ledger instanceof PatchbayError ? failed('ledger', ledger) : await checkLedger(ledger),
    await checkEngine(bare, ledger),
    queueFinding(queue),
    await checkService(bare, ledger),
    ...(await checkNotices(bare)),
  ];
  return { findings, windows: openWindows(bare), exitCode: worstExitCode(findings.map(({ exitCode }) => exitCode)) };
}

function failed(check: string, error: unknown): Finding {
  const { error: reported, exitCode } = errorDocument(error);
  return { check, ok: false, detail: inSentences(reported.message, reported.hint), exitCode };
}

function openWindows({ config, mode }: BareHome): readonly string[] {
  const { latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  const [commit, lag, lease] = [latestCommitMs, visibilityLagMs, config.upsert.leaseMs].map(formatDuration);
  return [
    `an edit in the app between Patchbay's read and its update, at most ${formatDuration(readAgeMaxMs)} apart: it is overwritten`,
    `a write that the service commits more than ${commit} after it was sent (upsert.latestCommit)`,
    'another program that creates a contact with the same externalId between a look-up and the create',
    `a list that shows a contact more than ${lag} after it was committed (upsert.visibilityLag)`,
    `a process that freezes just before it sends a write, for longer than its lease (${lease}, upsert.lease) and the time a late write may take`,
  ];
}

async function checkFolder({ config, folders, clock }: BareHome): Promise<Finding> {
  const check = 'data folder';
  const { importFolder } = config.data;
  const named = importFolder === null ? null : resolve(importFolder);
  const unusable = (folder: string, error: unknown, hint: string): Finding => {
    const detail = `${folder} cannot be used: ${messageOf(error)}. ${hint}`;
    return { check, ok: false, detail, exitCode: exitCodes.usage };
  };
  for (const folder of [folders.root, ...folders.watched]) {
    try {
      await makeFolder(folder);
      await access(folder, constants.R_OK | constants.W_OK);
    } catch (error) {
      const setting = folder === named ? 'data.importFolder, PATCHBAY_IMPORT' : '--data, PATCHBAY_DATA';
      const hint = `Name a folder (${setting}) that this user may make and write, or run the command as the user whose folder it is.`;
      return unusable(folder, error, hint);
    }
  }
  const { claimed, reports, phoneNumberSnapshots, logs, queue } = folders;
  const archives = folders.watched
    .map(archiveFolders)
    .flatMap(({ done, failed, fix, stopped }) => [done, failed, fix, stopped]);
  const others = ['downloads', 'drafts'].map((name) => join(folders.root, name));
  for (const folder of [claimed, reports, phoneNumberSnapshots, logs, queue, ...others, ...archives]) {
    try {
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      // It is made when something is to go into it.
      if (systemCodeOf(error) === 'ENOENT') continue;
      const hint =
        'A command that another user ran, such as root, may have made it: give it to the user who runs Patchbay.';
      return unusable(folder, error, hint);
    }
  }
  const unreadable = unreadableSentences(await findUnreadableFiles(folders, clock));
  if (unreadable.length > 0) return { check, ok: false, detail: unreadable.join(' '), exitCode: exitCodes.usage };
  return { check, ok: true, detail: `${folders.root}, files go into ${folders.watched.at(-1)}`, exitCode: 0 };
}

async function checkSpace({ folders }: BareHome): Promise<Finding> {
  const check = 'disk';
  let free: number;
  try {
    const { bavail, bsize } = await statfs(folders.root);
    free = bavail * bsize;
  } catch (error) {
    // The folder is not there, or may not be entered: its own finding says what to do.
    return { check, ok: false, detail: `its free space is not known: ${messageOf(error)}`, exitCode: exitCodes.usage };
  }
  const ok = free >= freeBytesMin;
  return {
    check,
    ok,
    detail: `${Math.round(free / 1024 / 1024).toLocaleString('en')} MB free`,
    exitCode: ok ? 0 : exitCodes.unexpected,
  };
}

/** Checks its pages only; `ledger check` checks everything. Damage found here stops all work, as damage that is met during work. */
async function checkLedger({ ledger, ledgerPlace }: Home): Promise<Finding> {
  const check = 'ledger';
  if (ledgerPlace.kind === 'database') {
    try {
      await ledger.requireWritable();
      const size = `${((await ledgerBytes(ledgerPlace)) / 1e6).toFixed(1)} MB`;
      return {
        check,
        ok: true,
        detail: `PostgreSQL answers, ${size}; to check it: patchbay ledger check`,
        exitCode: 0,
      };
    } catch (error) {
      return failed(check, error);
    }
  }
  const bytes = await ledgerBytes(ledgerPlace);
  const ledgerFile = ledgerPlace.file;
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes > checkedBytesMax) {
    return { check, ok: true, detail: `${size}, no damage known; to check it: patchbay ledger check`, exitCode: 0 };
  }
  const problem = quickLook(ledgerFile);
  if (problem === null) return { check, ok: true, detail: `${size}, no damage found`, exitCode: 0 };
  const damage = ledgerDamaged(ledgerFile, problem);
  markDamaged(ledgerFile, damage);
  return { check, ok: false, detail: inSentences(damage.message, damage.hint ?? null), exitCode: exitCodes.unexpected };
}

async function checkEngine(bare: BareHome, ledger: Home | PatchbayError): Promise<Finding> {
  const check = 'engine';
  try {
    const { runs, elsewhere } =
      ledger instanceof PatchbayError ? { runs: isEngineRunning(bare), elsewhere: [] } : await readEngine(ledger);
    if (ledger instanceof PatchbayError)
      return { check, ok: true, detail: runs ? 'running' : noEngineText(elsewhere), exitCode: 0 };
    if (!runs) return { check, ok: true, detail: await notRunningText(ledger, elsewhere), exitCode: 0 };
    const pause = await ledger.ledger.pause();
    if (pause !== null) return pausedFinding(check, pause, bare);
    const apart = apartText((await besideEngine(ledger))());
    return { check, ok: true, detail: apart === null ? 'running' : `running; ${apart}`, exitCode: 0 };
  } catch (error) {
    // Its lock is a file, too.
    return failed(check, error);
  }
}

/** With the schedules that wait for an engine to be started. @param elsewhere names of other hosts at work, which run them. */
async function notRunningText(home: Home, elsewhere: readonly string[]): Promise<string> {
  const { overdue } = await readStandingSchedules(home);
  const named = overdue.slice(0, schedulesNamedMax).map(({ name, dueAt }) => `${name} since ${dueAt}`);
  if (elsewhere.length > 0 || named.length === 0) return noEngineText(elsewhere);
  const more = overdue.length > named.length ? ` and ${overdue.length - named.length} more` : '';
  return `not running, while schedules are due (${named.join(', ')}${more}): patchbay start`;
}

/** The service may answer here, and refuse the key that the engine was started with. */
function pausedFinding(check: string, pause: Pause, { config }: Pick<BareHome, 'config'>): Finding {
  const why = inSentences(pause.message, pauseAdvice(pause, config.service));
  const detail = `running, and work is paused since ${isoInstant(pause.sinceMs)}: ${why}`;
  return { check, ok: false, detail, exitCode: pause.code === 'auth' ? exitCodes.auth : exitCodes.unreachable };
}

/** @param queue null: it is embedded. */
function queueFinding(queue: QueueState | null): Finding {
  const check = 'queue';
  if (queue === null) return { check, ok: true, detail: 'embedded Valkey (REDIS_URL replaces it)', exitCode: 0 };
  const { trouble, isRefused, policy, evicts } = queue;
  if (trouble !== null) {
    const what = trouble.code === 'queueFull' ? ' Raise its maxmemory, or free some.' : '';
    const exitCode = isRefused ? exitCodes.usage : exitCodes.unreachable;
    return { check, ok: false, detail: `${trouble.message}${what}`, exitCode };
  }
  if (evicts !== null) return { check, ok: false, detail: evicts, exitCode: exitCodes.usage };
  const untold = policy === null ? '; its maxmemory-policy, which it does not tell this user, must be noeviction' : '';
  return { check, ok: true, detail: `Redis answers${untold}`, exitCode: 0 };
}

async function checkService({ config, clock, log, mode }: BareHome, ledger: Home | PatchbayError): Promise<Finding> {
  const check = 'service';
  // A look needs no service, and opens the folder all the same.
  const isUnnamed = mode === 'real' && config.service.baseUrl === null;
  if (isUnnamed && !(ledger instanceof PatchbayError)) return failed(check, realDataFolder(ledger.serviceName));
  if (mode === 'sandbox' || config.service.baseUrl === null) {
    const unless = ledger instanceof PatchbayError ? ', unless the ledger belongs to a service' : '';
    return { check, ok: true, detail: `the sandbox${unless} (PATCHBAY_BASE_URL replaces it)`, exitCode: 0 };
  }
  const workspace = createHttpWorkspace({
    baseUrl: config.service.baseUrl,
    readApiKey: () => requireApiKey(config),
    rateGate: createPauseGate(clock),
    clock,
    random: Math.random,
    log,
  });
  const clearText = clearTextWarning(config.service);
  try {
    const apiKey = await requireApiKey(config);
    const cut = { heldMsMax: firstLookHeldMsMax, silentMsMax: onlyLookSilentMsMax };
    const ids = await workspace.listPhoneNumberIds(cut);
    await workspace.listByExternalIds(['patchbay-probe'], cut);
    if (!(ledger instanceof PatchbayError))
      await requireOwnWorkspace(ledger.ledger, workspace, { origin: workspace.origin, apiKey, confirmed: null }, cut);
    return {
      check,
      ok: true,
      detail: `${workspace.origin} answers, ${counted(ids?.length ?? 0, 'phone number')}${clearText === null ? '' : `; ${clearText}`}`,
      exitCode: 0,
    };
  } catch (error) {
    const found = failed(check, error);
    const proxy = proxyVariables.find((name) => (process.env[name] ?? '') !== '');
    const isUnreached = error instanceof PatchbayError && error.code === 'serviceUnreachable';
    if (!isUnreached || proxy === undefined) return found;
    return {
      ...found,
      detail: `${found.detail} ${proxy} is set, and Patchbay uses no proxy: it must reach the service directly.`,
    };
  } finally {
    await workspace.close();
  }
}

/** They concern other programs, and suggest a network that only a proxy leads out of. */
const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** Whether what posts are signed with, and the password at the mail server, can be read; nothing is sent. None where nothing is to be. */
async function checkNotices({ config: { notify } }: BareHome): Promise<readonly Finding[]> {
  const { url, mail } = notify;
  if (url === null && mail.server === null) return [];
  const check = 'notices';
  try {
    if (url !== null) await readWebhookSecret(notify);
    if (mail.server !== null && mail.user !== null) await readMailPassword(mail);
    return [{ check, ok: true, detail: 'their secrets can be read', exitCode: 0 }];
  } catch (error) {
    return [failed(check, error)];
  }
}

function inSentences(message: string, hint: string | null): string {
  return hint === null ? message : `${message.replace(/\.$/, '')}. ${hint}`;
}
