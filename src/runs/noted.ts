/** Warnings about a file that are among its notes: they are printed there, and need not be said a second time. */
import type { RunEvent } from '#src/ledger/staging.ts';
import { noteOf } from '#src/mapping/file-findings.ts';
import { columnNote } from './column-warnings.ts';

export function notedIn(notes: readonly string[]): (event: RunEvent) => boolean {
  const noted = new Set(notes);
  return (event) =>
    event.kind === 'warning' &&
    event.key === null &&
    [event.message, noteOf(event), columnNote(event)].some((text) => noted.has(text));
}
