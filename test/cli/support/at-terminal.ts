/** A person at a terminal, for commands in the test's own process: standard input is what they type; put back when the work ends. */
import { Readable } from 'node:stream';

const terminal = { value: true, configurable: true } as const;

/** @param typed a line for each question. */
export async function atTerminal<Answer>(typed: string, work: () => Promise<Answer>): Promise<Answer> {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin');
  const ownErrors = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
  const input = Object.defineProperty(Readable.from([typed]), 'isTTY', terminal);
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  Object.defineProperty(process.stderr, 'isTTY', terminal);
  try {
    return await work();
  } finally {
    if (own !== undefined) Object.defineProperty(process, 'stdin', own);
    if (ownErrors === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
    else Object.defineProperty(process.stderr, 'isTTY', ownErrors);
  }
}
