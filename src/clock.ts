/**
 * Time as a parameter. Nothing below `app.ts` reads the clock by itself.
 *
 * Two times: the wall clock names instants for people; the monotonic clock measures leases and horizons. The
 * monotonic clock runs for the whole system since it booted, so it may be compared between processes as long as
 * the boot's id is the same (`rules.md`, "One contact per key"). What waits in the ledger waits by the ledger's own
 * clock, which is made of both (`ledger/sqlite/clock.ts`).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** The wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds since the system booted; never goes back. */
  monotonicMs(): number;
  /** Names this boot of the system. Monotonic times of two boots cannot be compared. */
  readonly bootId: string;
  /** Waits. Rejects with an `AbortError` when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What tells one moment on this machine from another. */
export type Moment = Pick<Clock, 'nowMs' | 'monotonicMs' | 'bootId'>;

export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    // Asked for once, and not by those who only want to know the time: it may cost a process.
    get bootId() {
      thisBoot ??= readBootId(thisSystem);
      return thisBoot;
    },
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
  };
}

let thisBoot: string | null = null;

/** Waits until the time is over or the signal fires, whichever comes first: the caller looks which. */
export async function sleepUnlessCut(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What this system tells about itself. Each may throw. */
export interface SystemFacts {
  readonly platform: NodeJS.Platform;
  readFile(path: string): string;
  /** What the program prints; bounded in time. */
  run(program: string, args: readonly string[]): string;
  /** The wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Seconds since the boot, those asleep included. */
  uptimeSeconds(): number;
}

/** Far more than these programs take. */
const programMsMax = 2_000;

export const thisSystem: SystemFacts = {
  platform: process.platform,
  readFile: (path) => readFileSync(path, 'utf8'),
  run: (program, args) =>
    execFileSync(program, args, {
      encoding: 'utf8',
      timeout: programMsMax,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
      // One spelling for all, whatever language and time zone each process has.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    }),
  nowMs: () => Date.now(),
  uptimeSeconds: uptime,
};

/**
 * The same name in all processes of this machine until it boots again. Where the system keeps one itself, that is it, since
 * no clock has a part in it: Linux a UUID of the kernel's, macOS the UUID of the boot session, Windows the number of the boot
 * that the loader counts up. Elsewhere, and where it cannot be read, it is the second of the boot, reckoned from uptime and
 * wall clock: two processes may come to different seconds, so such names are compared by `isSameBoot` and never as text.
 */
export function readBootId(system: SystemFacts): string {
  try {
    const id = bootIdReaders[system.platform]?.(system) ?? '';
    if (id !== '') return id;
  } catch {
    // The system does not tell; the reckoned one will do.
  }
  return `${reckonedPrefix}${Math.round(system.nowMs() / 1_000 - system.uptimeSeconds())}`;
}

const prefetchKey = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters';

const bootIdReaders: Partial<Record<NodeJS.Platform, (system: SystemFacts) => string>> = {
  linux: ({ readFile }) => readFile('/proc/sys/kernel/random/boot_id').trim(),
  darwin: ({ run }) => run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']).trim(),
  win32: ({ run }) => {
    const program = `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\reg.exe`;
    const number = /\bBootId\s+REG_DWORD\s+0x([0-9a-f]+)/i.exec(run(program, ['query', prefetchKey, '/v', 'BootId']));
    return number === null ? '' : `boot-${Number.parseInt(number[1] ?? '', 16)}`;
  },
};

const reckonedPrefix = 'booted-at-';
/**
 * Reckoned seconds of one boot differ by rounding, by how the clock was disciplined since, and by small steps. Two boots
 * within it are taken for one: a machine that boots anew a minute after its boot has no deadline that lies further ahead than
 * that minute, so something waits a minute too long, and nothing is early.
 */
const sameBootSecondsMax = 60;

/**
 * Whether two ids name one boot. A wall clock that is set by more than a minute makes a reckoned id look like another boot to
 * processes started later: they wait out horizons in full, once, which costs time and is safe.
 */
export function isSameBoot(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.startsWith(reckonedPrefix) || !other.startsWith(reckonedPrefix)) return false;
  const secondOf = (id: string): number => Number(id.slice(reckonedPrefix.length));
  return Math.abs(secondOf(one) - secondOf(other)) <= sameBootSecondsMax;
}

/** An instant as ISO 8601 in UTC, to the millisecond. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}

// Waiting with an end.

/** What `within` gives when the time is over. */
export const timedOut: unique symbol = Symbol('timed out');

/** The promise's value, or `timedOut` after `timeoutMs`; the promise itself goes on. Rejects as the promise does. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof timedOut>((done) => {
    timer = setTimeout(() => done(timedOut), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
