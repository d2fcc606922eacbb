/** What becomes of a command whose standard output is no longer taken. */
import { fstatSync, readSync, statSync } from 'node:fs';

/** A reader that has seen enough, as `head`, closes the pipe: that is no error, unless the command says otherwise. */
export function leaveWhenStdoutBreaks(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
}

/** From here on the command itself notices that nobody takes what it writes. */
export function tellBrokenStdoutMyself(): void {
  process.stdout.off('error', leaveWhenStdoutBreaks);
  // Whoever writes gets the error; without any listener it would end the process.
  process.stdout.on('error', () => undefined);
}

/**
 * Whether the process was started with standard output closed (`>&-`). Node then opens the null device in its place, and
 * so that it can be read, too; who sends the output there on purpose opens it for writing alone.
 */
export function wasStdoutClosed(): boolean {
  try {
    if (fstatSync(1).rdev !== statSync('/dev/null').rdev) return false;
    return readSync(1, Buffer.alloc(1)) === 0;
  } catch {
    // It cannot be read, or the system has no such device.
    return false;
  }
}
