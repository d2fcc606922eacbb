/**
 * Names a process by more than its pid, so that a lease left behind by a dead process is not taken for one of a live process
 * that was given the same pid.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isSameBoot, type SystemFacts, thisSystem } from '#src/clock.ts';

export interface ProcessIdentity {
  /** `host/boot/pid/start`. */
  readonly name: string;
  /** Whether the name belongs to a process that is certainly dead. A process on another host never is. */
  isDead(owner: string): boolean;
}

/**
 * @param reach whose processes are on the ledger. Two machines may have one host name, and differ in their boots alone: where
 *   there may be others, a name of another boot is never judged, and its leases last until they expire.
 */
export function identifyProcess(
  bootId: string,
  reach: 'machine' | 'machines' = 'machine',
  system: SystemFacts = thisSystem,
): ProcessIdentity {
  const host = `${hostname().replaceAll('/', '_')}:${processNamespace()}`;
  const startOf = startReader(system);
  const name = [host, bootId, process.pid, startOf(process.pid) ?? unknownStart()].join('/');
  return {
    name,
    isDead: (owner) => {
      const [ownerHost, ownerBoot, pid, start] = owner.split('#')[0]?.split('/') ?? [];
      if (ownerHost !== host) return false;
      if (!isSameBoot(ownerBoot ?? '', bootId)) return reach === 'machine';
      if (`${pid}` === `${process.pid}`) return owner.split('#')[0] !== name;
      const known = startOf(Number(pid));
      return known === null || start?.startsWith(unknown) ? !isAlive(Number(pid)) : known !== start;
    },
  };
}

/** Equal to no start. */
const notAtAll = 'never';
/** A process that cannot find out its own start is identified by its pid only. */
const unknown = '?';
const unknownStart = (): string => `${unknown}${randomUUID().slice(0, 8)}`;
/** Answers of another program are cached for this long, since leases are taken several times a second. */
const believedMs = 1_000;

/**
 * When a process started, as the system reports it; null where it does not, or the process is dead. Linux counts ticks since
 * boot; macOS keeps the second, which later changes of the clock do not move. On Windows only the pid is known: where it was
 * reused, a dead process's leases last until they expire.
 */
function startReader(system: SystemFacts): (pid: number) => string | null {
  switch (system.platform) {
    case 'linux':
      return (pid) => startTicks(system, pid);
    case 'darwin': {
      const believed = new Map<number, { readonly start: string | null; readonly atMs: number }>();
      return (pid) => {
        const known = believed.get(pid);
        if (known !== undefined && performance.now() - known.atMs < believedMs) return known.start;
        const start = startSecond(system, pid);
        believed.set(pid, { start, atMs: performance.now() });
        return start;
      };
    }
    default:
      return () => null;
  }
}

function startTicks({ readFile }: SystemFacts, pid: number): string | null {
  try {
    const stat = readFile(`/proc/${pid}/stat`);
    // The second field is the program's name in parentheses and may hold spaces; state is the 3rd, start the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process whose parent has not collected it yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return notAtAll;
    return fields[19] ?? null;
  } catch {
    // No such process, or a system without /proc.
    return null;
  }
}

function startSecond({ run }: SystemFacts, pid: number): string | null {
  try {
    const [state = '', ...started] = run('/bin/ps', ['-o', 'stat=,lstart=', '-p', `${pid}`])
      .trim()
      .split(/\s+/);
    if (state.startsWith('Z')) return notAtAll;
    return started.length === 0 ? null : started.join('-');
  } catch {
    // `ps` fails where there is no such process, too; a signal then shows whether it lives.
    return null;
  }
}

/** Two containers may share host name and boot, while each has its own pids. */
function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    // Only Linux has namespaces of pids.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
