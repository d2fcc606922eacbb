/**
 * Time as a parameter: every decision gets its times from a `Clock`. Plumbing alone uses Node's own timers, for intervals,
 * time-outs and measured durations.
 *
 * The wall clock names instants for people; the monotonic clock measures leases and horizons. The monotonic clock counts
 * from the boot of the system, so its times may be compared between processes while the boot's id is the same (`docs/rules.md`,
 * "One contact per key"). What waits in the ledger waits by the ledger's own clock, which combines both
 * (`ledger/sqlite/clock.ts`).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** The wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds since the boot of the system; never goes back. */
  monotonicMs(): number;
  /** Names this boot of the system. Monotonic times of two boots cannot be compared. */
  readonly bootId: string;
  /** Waits. Rejects with an `AbortError` when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What identifies a moment on this machine. */
export type Moment = Pick<Clock, 'nowMs' | 'monotonicMs' | 'bootId'>;

export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => {
      const [seconds, nanoseconds] = process.hrtime();
      return seconds * 1_000 + Math.floor(nanoseconds / 1_000_000);
    },
    // Read once and on demand: it may take a child process.
    get bootId() {
      thisBoot ??= readBootId(thisSystem);
      return thisBoot;
    },
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
  };
}

let thisBoot: string | null = null;

/** Waits until the time is over or the signal fires, whichever comes first. The caller checks the signal. */
export async function sleepUnlessCut(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Facts about this system. Each may throw. */
export interface SystemFacts {
  readonly platform: NodeJS.Platform;
  readFile(path: string): string;
  /** The output of the program; bounded in time. */
  run(program: string, args: readonly string[]): string;
  /** The wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Seconds since the boot, including sleep. */
  uptimeSeconds(): number;
}

/** Far more than these programs need. */
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
      // The same output in all processes, independent of their language and time zone.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    }),
  nowMs: () => Date.now(),
  uptimeSeconds: uptime,
};

/**
 * The same id in all processes of this machine until it boots again. It is the system's own id if there is one, since that
 * does not depend on any clock: a UUID of the kernel on Linux, the UUID of the boot session on macOS, the boot counter of the
 * loader on Windows. Otherwise it is the second of the boot, computed from uptime and wall clock: two processes may compute
 * different seconds, so such ids must be compared by `isSameBoot`, never as text.
 */
export function readBootId(system: SystemFacts): string {
  try {
    const id = bootIdReaders[system.platform]?.(system) ?? '';
    if (id !== '') return id;
  } catch {
    // The computed one is used instead.
  }
  return `${computedPrefix}${Math.round(system.nowMs() / 1_000 - system.uptimeSeconds())}`;
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

const computedPrefix = 'booted-at-';
/**
 * Computed seconds of one boot differ by rounding, clock discipline and small steps. Two boots within this time count as one:
 * a machine that boots again within a minute has no deadline further ahead than that minute, so something may wait a minute
 * too long, and nothing happens early.
 */
const sameBootSecondsMax = 60;

/**
 * Whether two ids name one boot. If the wall clock is set by more than a minute, later processes compute another boot: they
 * wait out all horizons once, which costs time and is safe.
 */
export function isSameBoot(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.startsWith(computedPrefix) || !other.startsWith(computedPrefix)) return false;
  const secondOf = (id: string): number => Number(id.slice(computedPrefix.length));
  return Math.abs(secondOf(one) - secondOf(other)) <= sameBootSecondsMax;
}

/** An instant as ISO 8601 in UTC, to the millisecond. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** What `within` returns when the time is over. */
export const timedOut: unique symbol = Symbol('timed out');

/** The promise's value, or `timedOut` after `timeoutMs`; the promise itself continues. Rejects as the promise does. */
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
