/** Questions to the person at the terminal. stdout is data, so that they go to stderr. */
import { createInterface } from 'node:readline';
import type { GlobalOptions } from './open-home.ts';

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Null without a terminal, or where `--yes` has answered already. */
export function terminalOf({ json, yes }: GlobalOptions): Terminal | null {
  if (json === true || yes === true || process.stdin.isTTY !== true || process.stderr.isTTY !== true) return null;
  return { input: process.stdin, output: process.stderr };
}

/** Shows what will happen and asks. Anything but yes is no, and so is the end of the input. */
export async function askYes({ input, output }: Terminal, shown: string, question: string): Promise<boolean> {
  // The terminal edits the line by itself; Ctrl-C ends the process, and nothing has happened yet.
  const reader = createInterface({ input, terminal: false });
  try {
    output.write(`${shown}\n${question} [y/N] `);
    const { value, done } = await reader[Symbol.asyncIterator]().next();
    return done !== true && /^y(es)?$/i.test(value.trim());
  } finally {
    reader.close();
  }
}
