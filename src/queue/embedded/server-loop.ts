/**
 * Steps the server whenever there is something to do, and only then.
 *
 * A *turn* is a row of steps without a break: one step reads commands, the next one sends their replies, so a turn goes
 * on until a step reports no event. Invariant: steps never nest, and after one has thrown there is no other.
 */
import type { Socket } from 'node:net';
import { invariant } from '#src/errors.ts';
import { runControlCommand } from './control-command.ts';
import { socketEndpoint } from './socket-endpoint.ts';
import type { ValkeyInstance } from './valkey-instance.ts';

/** Steps of a turn; what is left follows after sockets and timers had their chance. */
const stepsPerTurnMax = 100;
/** How often time-outs of blocked clients are looked for while clients are connected and no socket has news. */
const tickMs = 20;
/** The same with no client connected: only keys expire then. */
const idleTickMs = 100;

export interface ServerLoop {
  /** Hands a client to the server, or closes it when the server is full. */
  accept(socket: Socket): void;
  /** Runs one command of our own; see `runControlCommand`. */
  command(words: readonly string[]): string;
  /** Runs a turn at once. */
  settle(): void;
  /** Begins to tick. `busy` says whether clients are connected. */
  start(busy: () => boolean): void;
  /** No step after this. */
  stop(): void;
  /** Whether it was stopped, or the server threw. */
  readonly stopped: boolean;
}

/** `onThrow` is called once, with what ended the server; the loop is stopped by then. */
export function createServerLoop(valkey: ValkeyInstance, onThrow: (error: unknown) => void): ServerLoop {
  let stopped = false;
  let turnAsked = false;
  let timer: NodeJS.Timeout | null = null;

  const stop = () => {
    stopped = true;
    if (timer !== null) clearTimeout(timer);
  };
  const step = (): number => {
    invariant(!stopped, 'the embedded queue was stepped after its end');
    try {
      return valkey.step();
    } catch (error) {
      stop();
      onThrow(error);
      throw error;
    }
  };
  const turn = () => {
    turnAsked = false;
    if (stopped) return;
    try {
      for (let count = 0; count < stepsPerTurnMax; count++) if (step() === 0) return;
    } catch {
      return; // Reported by `step`.
    }
    wake();
  };
  const wake = () => {
    if (turnAsked || stopped) return;
    turnAsked = true;
    setImmediate(turn);
  };
  const controlled = { step, offerAlways: valkey.descriptors.offerAlways };

  return {
    accept(socket) {
      if (!valkey.descriptors.offer(socketEndpoint(socket, wake))) socket.destroy();
      wake();
    },
    command: (words) => runControlCommand(controlled, words),
    settle: turn,
    start(busy) {
      const tick = () => {
        turn();
        if (!stopped) timer = setTimeout(tick, busy() ? tickMs : idleTickMs);
      };
      tick();
    },
    stop,
    get stopped() {
      return stopped;
    },
  };
}
