/**
 * Files as they are found, before any of them is taken. They are ordered by their last change, then by their path.
 */
import type { SeenFile } from '#src/ledger/takes.ts';
import { type Look, lookAtFile } from '#src/sources/folder-entries.ts';

/** Looks at a path. @returns the file, or what is there instead. */
export async function seeFile(path: string): Promise<SeenFile | Exclude<Look, { kind: 'file' }>> {
  const look = await lookAtFile(path);
  return look.kind === 'file' ? seenFile(path, look.fingerprint) : look;
}

export function isSeen(found: SeenFile | Exclude<Look, { kind: 'file' }>): found is SeenFile {
  return 'fingerprint' in found;
}

function seenFile(path: string, fingerprint: string): SeenFile {
  const [, modifiedNs = '0'] = fingerprint.split(':');
  return { path, fingerprint, modifiedAtMs: Number(BigInt(modifiedNs) / 1_000_000n) };
}

/** Negative where the left one comes first: it is older. */
export function compareAge(left: Pick<SeenFile, 'modifiedAtMs' | 'path'>, right: typeof left): number {
  if (left.modifiedAtMs !== right.modifiedAtMs) return left.modifiedAtMs - right.modifiedAtMs;
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}

/** Whether size and time are equal. The rest identifies the disk and the place on it, which change when it is mounted again. */
export function sameButPlace(left: string, right: string): boolean {
  const of = (fingerprint: string): string => fingerprint.split(':').slice(0, 2).join(':');
  return of(left) === of(right);
}
