/** Says that a command was interrupted and what that means; with `--json` as the one document that is promised. */
import type { ErrorDocument } from './exit.ts';
import type { Output } from './output.ts';

/** Answers the exit code. */
export function tellInterrupted(output: Output, message: string, exitCode: number): number {
  const document: ErrorDocument = { error: { code: 'interrupted', message, hint: null }, exitCode };
  if (output.json) output.document(document);
  else output.note(message);
  return exitCode;
}
