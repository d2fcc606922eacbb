/**
 * Where the embedded queue listens, and what must be tidied up there before and after.
 *
 * A unix socket in the data folder belongs to that folder alone: nobody else can take it, and the folder's rights
 * guard it. A path has room for about 104 bytes in the kernel, so a long one moves to a private folder of the system's
 * temporary folder. Windows has no such files; there it is a loopback port.
 */
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import type { ListenAt } from './thread-messages.ts';

/** The longest path a socket may have, in bytes; macOS allows 103, Linux 107. */
export const socketPathBytesMax = 100;

const socketFile = 'valkey.sock';
const loopback = '127.0.0.1';

export interface ListenPlace {
  readonly at: ListenAt;
  /** Removes what belongs to this place alone. */
  tidyUp(): void;
}

/**
 * Chooses the place and removes the socket that a killed process left there. The caller holds the data folder's lock,
 * so nobody listens on it.
 *
 * @throws PatchbayError `usage` `embeddedQueueFolder` when something else stands in the socket's place.
 */
export function chooseListenPlace(folder: string, wanted: 'socket' | 'port'): ListenPlace {
  const port: ListenPlace = { at: { kind: 'port', host: loopback }, tidyUp: () => undefined };
  if (wanted === 'port' || process.platform === 'win32') return port;

  const path = join(folder, socketFile);
  if (fits(path)) {
    removeStaleSocket(path);
    return { at: { kind: 'socket', path }, tidyUp: () => rmSync(path, { force: true }) };
  }
  const privateFolder = join(tmpdir(), 'patchbay-');
  if (!fits(join(`${privateFolder}XXXXXX`, socketFile))) return port;
  const made = mkdtempSync(privateFolder); // Made with 0700.
  return {
    at: { kind: 'socket', path: join(made, socketFile) },
    tidyUp: () => rmSync(made, { recursive: true, force: true }),
  };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= socketPathBytesMax;
}

function removeStaleSocket(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (!entry.isSocket()) {
    throw new PatchbayError('usage', 'embeddedQueueFolder', `${path} is in the way of the embedded queue`, {
      facts: { path },
      hint: 'Move this file elsewhere and start again.',
    });
  }
  rmSync(path);
}
