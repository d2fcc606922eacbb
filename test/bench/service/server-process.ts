/**
 * A server of the benchmark as a process of its own, and what it told about itself.
 *
 * Both servers are started with the same flags, so that like is compared with like.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { invariant } from '#src/errors.ts';

/** Those that `serve` runs with (`src/cli/patchbay.mjs`). */
export const serveFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30', '--no-parallel-scavenge'] as const;

/** From the benchmark to a server. */
export type Order =
  | { readonly kind: 'cpu' }
  /** What the bare server answers from now on. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown };

/** From a server to the benchmark: its port once, then one answer per order. */
export type Note = { readonly port: number } | { readonly cpuMs: number } | { readonly done: true };

export interface ServerProcess {
  readonly port: number;
  /** CPU time of the process so far, of its threads too. */
  readonly cpuMs: () => Promise<number>;
  readonly answer: (status: number, body: unknown) => Promise<void>;
  /** Ends it and waits until it is gone. */
  readonly stop: () => Promise<void>;
}

export async function startServer(module: string, parameters: readonly string[] = []): Promise<ServerProcess> {
  const child = fork(new URL(module, import.meta.url), [...parameters], { execArgv: [...serveFlags] });
  const gone = once(child, 'exit');
  const nextNote = async (): Promise<Note> => {
    const [note] = await Promise.race([once(child, 'message'), gone.then(() => [null])]);
    invariant(note !== null, 'a server of the benchmark runs until it is stopped', { module });
    return note;
  };
  const ask = (order: Order): Promise<Note> => {
    const note = nextNote();
    child.send(order);
    return note;
  };
  const first = await nextNote();
  invariant('port' in first, 'a server tells its port first');
  return {
    port: first.port,
    cpuMs: async () => {
      const note = await ask({ kind: 'cpu' });
      invariant('cpuMs' in note, 'a server asked for its CPU time tells it');
      return note.cpuMs;
    },
    answer: async (status, body) => {
      await ask({ kind: 'answer', status, body });
    },
    stop: async () => {
      child.disconnect();
      await gone;
    },
  };
}

/** In the server: tells the port, then carries orders out. `stop` is called when the benchmark lets go. */
export function obey(port: number, answer: (status: number, body: unknown) => void, stop: () => Promise<void>): void {
  const tell = (note: Note) => void process.send?.(note);
  process.on('message', (order: Order) => {
    if (order.kind === 'answer') {
      answer(order.status, order.body);
      tell({ done: true });
      return;
    }
    const { user, system } = process.cpuUsage();
    tell({ cpuMs: (user + system) / 1_000 });
  });
  process.once('disconnect', () => void stop());
  tell({ port });
}
