/** Names of runs: the instant they arrived, in UTC, and a little chance. They sort by time and are safe in file names. */
import { randomBytes } from 'node:crypto';

export function newRunId(nowMs: number): string {
  const instant = new Date(nowMs)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  return `${instant}-${randomBytes(3).toString('hex')}`;
}

/** Whether a name in the folder of claimed files begins with a run's id. */
export function runIdOf(fileName: string): { readonly runId: string; readonly name: string } | null {
  const match = /^(\d{8}T\d{6}Z-[0-9a-f]{6})__(.+)$/s.exec(fileName);
  return match?.[1] === undefined || match[2] === undefined ? null : { runId: match[1], name: match[2] };
}
