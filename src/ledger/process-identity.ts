/**
 * Names a process beyond its pid, so that a lease left by a dead one is told from a lease of a living one that got
 * the same pid.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isSameBoot, type SystemFacts, thisSystem } from '#src/clock.ts';

export interface ProcessIdentity {
  /** `host/boot/pid/start`. */
  readonly name: string;
  /** Whether an owner's name belongs to a process that is dead for certain. Another host's never is. */
  isDead(owner: string): boolean;
}

export function identifyProcess(bootId: string, system: SystemFacts = thisSystem): ProcessIdentity {
  const host = `${hostname().replaceAll('/', '_')}:${processNamespace()}`;
  const startOf = startReader(system);
  const name = [host, bootId, process.pid, startOf(process.pid) ?? unknownStart()].join('/');
  return {
    name,
    isDead: (owner) => {
      const [ownerHost, ownerBoot, pid, start] = owner.split('#')[0]?.split('/') ?? [];
      if (ownerHost !== host) return false;
      if (!isSameBoot(ownerBoot ?? '', bootId)) return true;
      if (`${pid}` === `${process.pid}`) return owner.split('#')[0] !== name;
      const known = startOf(Number(pid));
      return known === null || start?.startsWith(unknown) ? !isAlive(Number(pid)) : known !== start;
    },
  };
}

/** Equal to no start. */
const notAtAll = 'never';
/** A process that could not find out its own start is known by its pid alone. */
const unknown = '?';
const unknownStart = (): string => `${unknown}${randomUUID().slice(0, 8)}`;
/** What another program had to be asked for is believed for so long: leases are taken several times a second. */
const believedMs = 1_000;

/**
 * When a process started, as the system tells it; null where it does not tell. A dead one never did. Linux counts ticks since
 * the boot; macOS keeps the second, which no later change of the clock moves. On Windows a pid has to do: one that was given
 * out again lets a dead process's leases stand until their time is over.
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
    // A killed process whose parent has not asked for its end yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return notAtAll;
    return fields[19] ?? null;
  } catch {
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
    // Also where there is no such process: whether it lives, a signal tells.
    return null;
  }
}

/** Two containers may share a host's name and boot, and each has pids of its own. */
function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
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
