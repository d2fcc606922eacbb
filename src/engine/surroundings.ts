/** What a process other than the engine can check of its surroundings by itself: the disk, the queue, the ledger's database. */
import { access, constants } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import { isAtWork, notSharing } from '#src/ledger/rules/hosts.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { QueueState } from '#src/operations/doctor.ts';
import { findUnreadableFiles, unreadableSentences } from '#src/sources/unreadable-files.ts';
import { parseOrigin } from '#src/workspace/http-workspace.ts';
import { diskFullMessage, freeBytesOf, inSentence, isDiskFull, queueTrouble } from './health.ts';

/** What keeps work from going on, as of a look. */
interface SeenTrouble {
  readonly code: string;
  /** A sentence. */
  readonly message: string;
}

interface Surroundings {
  /** Null if the file system does not report it. */
  readonly diskFreeBytes: number | null;
  /** Null for the embedded queue, which only its engine can use. */
  readonly queueAnswers: boolean | null;
  readonly queue: QueueState | null;
  /** The nearest cause for work that stands still: of the ledger, else the disk, else the queue; null where nothing is wrong with them. */
  readonly standstill: SeenTrouble | null;
  /** Sentences; empty if there are no problems. */
  readonly troubles: readonly string[];
}

const answerWithinMs = 2_000;

/** Takes at most two seconds and what the ledger takes to answer, and changes nothing. @throws what the ledger throws that is no trouble of its database. */
export async function checkSurroundings({
  config,
  mode,
  ledger,
  folders,
  clock,
}: Pick<Home, 'config' | 'mode' | 'ledger' | 'folders' | 'clock'>): Promise<Surroundings> {
  const { root } = dataFolders(config, mode);
  // Unknown is no trouble: a folder that cannot be read is reported by whatever needs it.
  const diskFreeBytes = await freeBytesOf(root).catch(() => null);
  const disk: SeenTrouble | null =
    diskFreeBytes !== null && isDiskFull(diskFreeBytes)
      ? { code: 'diskFull', message: diskFullMessage(diskFreeBytes, root) }
      : null;
  const database = await ledgerTrouble(ledger);
  const queue = await checkQueue(config.queue);
  const known = [disk, database, queue?.trouble ?? null].flatMap((one) => (one === null ? [] : [one.message]));
  const evicts = queue?.evicts ?? null;
  // A folder that is missing is made by whatever needs it.
  const closed = (await unusableFolders(folders)).filter(({ systemCode }) => systemCode !== 'ENOENT');
  const unreadable = unreadableSentences(await findUnreadableFiles(folders, clock));
  const other = database === null && mode === 'real' ? await otherService(config, ledger) : [];
  const standstill = database ?? disk ?? queue?.trouble ?? null;
  const evicting = evicts === null ? [] : [evicts];
  const troubles = [...known, ...evicting, ...closed.map(({ message }) => message), ...unreadable, ...other];
  return { diskFreeBytes, queueAnswers: queue?.answers ?? null, queue, standstill, troubles };
}

/** The service that is configured is not the one that the ledger knows: only a look into it shows whether its workspace is another one. */
async function otherService({ service }: Home['config'], ledger: Home['ledger']): Promise<readonly string[]> {
  const known = await ledger.binding();
  if (known === null || service.baseUrl === null) return [];
  const origin = parseOrigin(service.baseUrl);
  if (known.origin === origin) return [];
  return [
    `The data folder belongs to the workspace at ${known.origin}, and ${origin} is configured: if that is another workspace, nothing is written to it. To look: patchbay doctor`,
  ];
}

interface UnusableFolder {
  readonly systemCode: string;
  /** A sentence. */
  readonly message: string;
}

/** Of the folders without which no file is taken out of an import folder. */
export async function unusableFolders({
  root,
  watched,
  claimed,
}: Pick<Home['folders'], 'root' | 'watched' | 'claimed'>): Promise<readonly UnusableFolder[]> {
  const unusable: UnusableFolder[] = [];
  for (const folder of new Set([...watched, root, claimed])) {
    try {
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      const systemCode = systemCodeOf(error) ?? '';
      // It is made with the first file.
      if (folder === claimed && systemCode === 'ENOENT') continue;
      unusable.push({ systemCode, message: `${folder} cannot be read and written (${systemCode}): no file is taken.` });
    }
  }
  return unusable;
}

async function ledgerTrouble(ledger: Pick<Home['ledger'], 'requireWritable'>): Promise<SeenTrouble | null> {
  try {
    await ledger.requireWritable();
    return null;
  } catch (error) {
    if (!(error instanceof PatchbayError) || !isLedgerTrouble(error)) throw error;
    return { code: error.code, message: inSentence(error.message) };
  }
}

/** Null for the embedded queue. Takes at most two seconds. */
export async function checkQueue({ redisUrl }: Pick<Home['config']['queue'], 'redisUrl'>): Promise<QueueState | null> {
  if (redisUrl === null) return null;
  // Loaded on demand: most commands need no queue.
  const { askRedis, evictionWords, settingRefused } = await import('#src/queue/redis-answers.ts');
  const { away, refusal, policy } = await askRedis(redisUrl, answerWithinMs);
  const description = `Redis at ${new URL(redisUrl).host}`;
  const setting = refusal === null ? null : settingRefused(refusal, description);
  if (setting !== null) {
    const message = `${inSentence(setting.message)} ${setting.hint}`;
    return { answers: true, isRefused: true, trouble: { code: setting.code, message }, policy, evicts: null };
  }
  const trouble =
    away !== null
      ? { code: 'queueAway', message: `The queue cannot be reached: ${description} (${away}).` }
      : refusal !== null
        ? queueTrouble(description, new Error(refusal), 0)
        : null;
  return { answers: away === null, isRefused: false, trouble, policy, evicts: evictionWords(policy, description) };
}

type LookedAtHome = Pick<Home, 'config' | 'folders' | 'ledger' | 'clock' | 'identity' | 'host'>;

/**
 * `checkQueue` for a host before its start: where others are at work on the ledger, it is in trouble, too, if it is not theirs, or if a copy of the
 * ledger uses it. A Redis without their identity is asked again for twelve seconds, since they give it anew after a flush. What the ledger does not
 * say is left out.
 */
export async function checkQueueOfHosts(home: LookedAtHome): Promise<QueueState | null> {
  const found = await checkQueue(home.config.queue);
  if (found !== null && found.trouble !== null) return found;
  try {
    await requireQueueOfHosts(home);
    await requireQueueWithoutCopy(home);
    return found;
  } catch (error) {
    if (isLedgerTrouble(error) || !(error instanceof PatchbayError)) return found;
    const trouble = { code: error.code, message: `${inSentence(error.message)} ${error.hint}` };
    return { answers: found !== null, isRefused: true, trouble, policy: found?.policy ?? null, evicts: null };
  }
}

/** @throws PatchbayError `usage` `ledgerTwice`; what the ledger throws. */
async function requireQueueWithoutCopy(home: LookedAtHome): Promise<void> {
  const { redisUrl } = home.config.queue;
  if (redisUrl === null) return;
  // Seen from another container a file is in another place. Its engine says by itself if it meets a copy.
  if (home.config.ledger.databaseUrl === null && isEngineRunning(home)) return;
  const { requireNoCopy } = await import('./queue-ledger.ts');
  const { parseRedisUrl, remoteOptions } = await import('#src/queue/redis-answers.ts');
  const description = `Redis at ${new URL(redisUrl).host}`;
  await requireNoCopy({ producer: remoteOptions(parseRedisUrl(redisUrl)), description }, home.ledger);
}

/** @throws PatchbayError `usage`: `queueNotShared`, `otherQueue`; what the ledger throws. */
async function requireQueueOfHosts({ config, ledger, clock, identity, host }: LookedAtHome): Promise<void> {
  const { redisUrl } = config.queue;
  const nowMs = await ledger.nowMs(clock);
  const atWork = (await ledger.hosts.list()).filter((one) => isAtWork(one, nowMs) && !identity.isDead(one.session));
  if (atWork.length === 0) return;
  const { queueNotShared, requireQueue } = await import('./queue-identity.ts');
  const others = atWork.filter(({ id }) => id !== host?.id);
  const queue = redisUrl === null ? 'embedded' : 'redis';
  const alone = notSharing(queue, others);
  if (alone !== undefined) throw queueNotShared(queue, alone);
  if (redisUrl === null) return;
  const { parseRedisUrl, remoteOptions } = await import('#src/queue/redis-answers.ts');
  const who = others[0]?.name ?? 'the engine of this data folder';
  await requireQueue(remoteOptions(parseRedisUrl(redisUrl)), ledger.id, () => ledger.hosts.queueId(), who);
}
