/**
 * Drafts: a file is written under a name of its own beside its target, and renamed when it is whole.
 *
 * The name tells the process that writes it. What a process that was killed left behind is removed by the next one that
 * writes the same target.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What is drafted: a store that is being loaded, or a dump. */
export type DraftKind = 'loading' | 'part';

/** A name that nobody else uses. To be opened with the flag `wx`. */
export function newDraftPath(target: string, kind: DraftKind): string {
  return `${target}.${kind}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

/** Never throws: an old draft is in nobody's way. */
export function removeAbandonedDrafts(target: string, kind: DraftKind): void {
  const beginning = `${basename(target)}.${kind}-`;
  try {
    for (const name of readdirSync(dirname(target))) {
      if (!name.startsWith(beginning)) continue;
      const pid = /^(\d{1,15})(?:-[0-9a-f]{12})?$/.exec(name.slice(beginning.length))?.[1];
      const draft = join(dirname(target), name);
      if (pid !== undefined && isAbandoned(draft, Number(pid))) rmSync(draft, { force: true });
    }
  } catch {
    // A folder that cannot be read, or a draft that is somebody else's.
  }
}

function isAbandoned(draft: string, pid: number): boolean {
  // In a container every process may have the same number: a draft that is older than this one is not its own.
  if (pid === process.pid) return statSync(draft).mtimeMs < performance.timeOrigin;
  return pid > 0 && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be asked, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
