/**
 * A `patchbay` command in the test's own process: the same way from its words to its output and its code, without a
 * second load of everything. For commands that a test needs on its way; what a process itself does when it starts, ends
 * or is killed is looked at with `patchbay-process.ts`.
 *
 * Invariant: one command at a time, since environment and output are the process's; both are put back.
 */
import { main } from '#src/cli/main.ts';
import { type Ended, endedWith } from './patchbay-process.ts';

export interface Called extends Ended {
  /** Both outputs in the order they were written. */
  readonly output: string;
}

/** Resolves, never rejects, when the command before has ended. */
let before: Promise<unknown> = Promise.resolve();

/**
 * Resolves when the command has ended. `env` is all the environment that its settings come from. Not for `start` and
 * not for `serve` with a service that lives: they end by a signal.
 */
export function callPatchbay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  folder: string = process.cwd(),
): Promise<Called> {
  const called = before.then(() => carryOut(args, env, folder));
  before = called.catch(() => undefined);
  return called;
}

async function carryOut(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<Called> {
  const { exitCode, env: ownEnv } = process;
  const ownFolder = process.cwd();
  const listeners = process.stdout.listeners('error');
  const said = { stdout: '', stderr: '', output: '' };
  const release = (['stdout', 'stderr'] as const).map((name) =>
    takeOutput(name, (text) => {
      said[name] += text;
      said.output += text;
    }),
  );
  process.exitCode = undefined;
  process.env = { PATH: ownEnv.PATH, HOME: ownEnv.HOME, NODE_ENV: ownEnv.NODE_ENV, ...env };
  if (folder !== ownFolder) process.chdir(folder);
  try {
    await main(['node', 'patchbay', ...args]);
    return { ...endedWith(Number(process.exitCode ?? 0), said.stdout, said.stderr), output: said.output };
  } finally {
    for (const one of release) one();
    for (const one of process.stdout.listeners('error')) {
      if (!listeners.includes(one)) process.stdout.off('error', one as () => void);
    }
    if (folder !== ownFolder) process.chdir(ownFolder);
    process.env = ownEnv;
    process.exitCode = exitCode;
  }
}

/** Answers what gives the output back. */
function takeOutput(name: 'stdout' | 'stderr', onText: (text: string) => void): () => void {
  const stream = process[name];
  const own = stream.write;
  stream.write = (text: string | Uint8Array, ...rest: readonly unknown[]) => {
    onText(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
  return () => {
    stream.write = own;
  };
}
