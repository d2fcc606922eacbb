/** Real processes for tests about death and about company. Whatever still runs when the test ends is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Child {
  readonly pid: number;
  /** The next line it says on standard output; null when it says no more. */
  nextLine(): Promise<string | null>;
  tell(text: string): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Runs a module of the tests with this Node. */
export function startChild(module: URL, ...parameters: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, [module.pathname, ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error('the process did not start');
  // A killed process leaves its pipe broken; that is no news.
  stdin.on('error', () => {});
  const gone = once(child, 'close');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return {
    pid,
    nextLine: async () => {
      const { value, done } = await lines.next();
      return done === true ? null : String(value);
    },
    tell: (text) => void stdin.write(`${text}\n`),
    kill,
  };
}
