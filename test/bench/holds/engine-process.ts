/** `patchbay start` in a process of its own that is watched (`watch.ts`), and commands beside it that are watched, too. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandEnv, type Ended, runNode, thisCheckout } from '../import/processes.ts';
import { launchFlags } from '../launch-flags.ts';
import type { Longest, WatchOrder } from './watch.ts';

const { root } = thisCheckout;
const watched = [...launchFlags, '--import', join(import.meta.dirname, 'watch.ts'), join(root, 'src/cli/patchbay.mjs')];

export interface EngineProcess {
  /** The address of its page. */
  readonly page: string;
  /** The longest of the engine while the work goes on, and of the transactions of the commands in it. */
  during(work: (command: Command) => Promise<unknown>): Promise<Longest>;
  /** The run's state by its page. */
  stateOf(run: string): Promise<string>;
  /** Ends when the run is in that state. */
  reached(run: string, state: string): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a `patchbay` command on the same data folder. Throws unless it ends with one of these codes. 0 ms: it may take any time. */
export type Command = (args: readonly string[], codes?: readonly number[], endsAfterMs?: number) => Promise<Ended>;

const pollMs = 100;
const startMsMax = 120_000;

export async function startEngineProcess(
  data: string,
  origin: string,
  given: Readonly<Record<string, string>>,
): Promise<EngineProcess> {
  const env = { ...commandEnv(data, origin), PORT: '0', ...given };
  const child = spawn(process.execPath, [...watched, 'start', '--json', '--same-workspace'], {
    ...{ cwd: root, env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  });
  const gone = once(child, 'exit');
  const page = await pageOf(child);
  const ask = async (order: WatchOrder): Promise<Longest | null> => {
    const answer = once(child, 'message');
    child.send(order);
    const [message] = await Promise.race([
      answer,
      gone.then(() => {
        throw new Error('the engine has ended');
      }),
    ]);
    return message;
  };
  const stateOf = async (run: string): Promise<string> => {
    const reply = await fetch(`${page}runs/${run}`, { headers: { accept: 'application/json' } });
    return ((await reply.json()) as { state: string }).state;
  };
  return {
    page,
    during: async (work) => {
      const file = join(data, 'bench-holds.json');
      let heldMs = 0;
      await ask('begin');
      await work(async (args, codes = [0], endsAfterMs = 0) => {
        const end = await runNode([...watched, ...args], { ...env, BENCH_HOLDS_FILE: file }, root, endsAfterMs);
        if (!codes.includes(end.code ?? -1)) throw new Error(`${args.join(' ')} ended with ${end.code}: ${end.stdout}`);
        heldMs = Math.max(heldMs, (JSON.parse(await readFile(file, 'utf8')) as Longest).heldMs);
        await rm(file);
        return end;
      });
      const longest = await ask('end');
      return { heldMs: Math.max(heldMs, longest?.heldMs ?? 0), turnMs: longest?.turnMs ?? 0 };
    },
    stateOf,
    reached: async (run, state) => {
      // Ends with the state; a run that never reaches it is stopped by whoever watches the benchmark.
      while ((await stateOf(run)) !== state) await sleep(pollMs);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function pageOf(child: ChildProcess): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), startMsMax);
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const piece of child.stdout ?? []) {
    text += piece;
    if (text.includes('\n')) break;
  }
  clearTimeout(late);
  const { page } = JSON.parse(text) as { page: string };
  return page.endsWith('/') ? page : `${page}/`;
}
