/** How much room the disk of the data folder has. */
import { statfs } from 'node:fs/promises';

/** Rejects where the file system does not tell. */
export type FreeBytes = (folder: string) => Promise<number>;

/** Below this the ledger cannot be written for long, and files are not taken. */
const roomBytesMin = 1_000_000;

/** What this process may use, without the system's reserve. */
export const freeBytesOf: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

export function isDiskFull(freeBytes: number): boolean {
  return freeBytes < roomBytesMin;
}

export function roomInWords(freeBytes: number, folder: string): string {
  return `The disk of ${folder} is full (${Math.floor(freeBytes / 1_000)} kB free).`;
}
