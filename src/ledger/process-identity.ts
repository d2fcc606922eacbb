/**
 * Names a process beyond its pid, so that a lease left by a dead one is told from a lease of a living one that got
 * the same pid.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  /** `host/boot/pid/start`. */
  readonly name: string;
  /** Whether an owner's name belongs to a process that is dead for certain. Another host's never is. */
  isDead(owner: string): boolean;
}

export function identifyProcess(bootId: string): ProcessIdentity {
  const host = `${hostname().replaceAll('/', '_')}:${processNamespace()}`;
  const boot = bootId.slice(0, 8);
  const name = [host, boot, process.pid, startTicks(process.pid) ?? randomUUID().slice(0, 8)].join('/');
  return {
    name,
    isDead: (owner) => {
      const [ownerHost, ownerBoot, pid, start] = owner.split('#')[0]?.split('/') ?? [];
      if (ownerHost !== host) return false;
      if (ownerBoot !== boot) return true;
      if (`${pid}` === `${process.pid}`) return owner.split('#')[0] !== name;
      const ticks = startTicks(Number(pid));
      return ticks === null ? !isAlive(Number(pid)) : ticks !== start;
    },
  };
}

/** Equal to no start. */
const notAtAll = 'never';

/** Two containers may share a host's name and boot, and each has pids of its own. */
function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    return '';
  }
}

/** When a process started, in the kernel's ticks; null where the system does not tell. A dead one never did. */
function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold spaces; state is the 3rd, start the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process whose parent has not asked for its end yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return notAtAll;
    return fields[19] ?? null;
  } catch {
    return null;
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
