/** A `patchbay` command in a process of its own, as a person or a cron line calls it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('../../src/cli/patchbay.mjs', import.meta.url));

export interface Ended {
  /** The exit code; null for a process that a signal ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout, each a JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: literal JSON, whose shape is what the tests are about
  readonly documents: readonly any[];
}

export interface PatchbayProcess {
  readonly pid: number;
  readonly running: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Its standard input, which stays open until it is ended here; null where it has none. */
  readonly stdin: Writable | null;
  /** Resolves when it has ended and all it said was read. Rejects when it does not end. */
  ended(): Promise<Ended>;
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** The first line of stdout, once it is complete. */
  firstLine(): Promise<string>;
}

/** `env` is all the environment it has, besides PATH and HOME. */
export function startPatchbay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: 'ignore' | 'pipe' = 'ignore',
): PatchbayProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    cwd: root,
    env: { PATH, HOME, TZ: 'UTC', ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the process did not start');
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let running = true;
  const closed = once(child, 'close').then(() => {
    running = false;
  });
  return {
    pid,
    stdin: child.stdin,
    get running() {
      return running;
    },
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended: async () => {
      await until(`the end of: patchbay ${args.join(' ')}`, () => !running).catch((error: Error) => {
        throw new Error(`${error.message}\n${stdout}\n${stderr}`);
      });
      return endedWith(child.exitCode, stdout, stderr);
    },
    signal: (name) => void child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
    firstLine: () =>
      until(`a line of: patchbay ${args.join(' ')}`, () => {
        if (stdout.includes('\n')) return stdout.slice(0, stdout.indexOf('\n'));
        if (!running) throw new Error(`it ended before it said a line\n${stderr}`);
        return null;
      }),
  };
}

/** What is known of a command at its end. */
export function endedWith(code: number | null, stdout: string, stderr: string): Ended {
  return { code, stdout, stderr, documents: documentsOf(stdout) };
}

function documentsOf(stdout: string): readonly unknown[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line));
}
