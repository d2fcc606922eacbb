/**
 * Steps the server whenever there is something to do, and only then.
 *
 * A *turn* is a row of steps without a break: one step reads commands, the next one sends their replies, so a turn goes
 * on until a step reports no event. Invariant: steps never nest, and after one has thrown there is no other.
 */
import type { Socket } from 'node:net';
import { invariant, PatchbayError } from '#src/errors.ts';
import { type Endpoint, socketEndpoint, wouldBlock } from './endpoint.ts';
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

// Commands of our own to the server, run to their end without a socket.
//
// Each takes a connection of its own, because a client may close any other one (`CLIENT KILL`). Invariant: when this
// returns or throws, the connection is on its way out and its descriptor comes back.

/** Steps of the server until a reply must be there: accept, read, reply, and room for other clients' events. */
const stepsMax = 1_000;

interface ControlledServer {
  offerAlways(endpoint: Endpoint): void;
  step(): number;
}

/**
 * Runs one command and returns its reply as text.
 *
 * @throws PatchbayError `transient` `embeddedQueueCommand` when the server refuses it or does not answer.
 */
function runControlCommand(server: ControlledServer, command: readonly string[]): string {
  const request = encode(command);
  let replied = Buffer.alloc(0);
  let readOffset = 0;
  let ended = false;
  server.offerAlways({
    readable: () => readOffset < request.length || ended,
    writable: () => true,
    read(target) {
      const count = request.copy(target, 0, readOffset);
      readOffset += count;
      if (count > 0) return count;
      return ended ? 0 : wouldBlock;
    },
    write(bytes) {
      replied = Buffer.concat([replied, bytes]);
      return bytes.length;
    },
    close() {
      ended = true;
    },
  });
  let reply: string | null = null;
  for (let step = 0; step < stepsMax && reply === null && !ended; step++) {
    server.step();
    reply = decode(replied);
  }
  ended = true;
  const name = command.slice(0, 2).join(' ');
  if (reply === null || reply.startsWith('-')) {
    const said = reply === null ? 'no answer' : reply.slice(1);
    throw new PatchbayError('transient', 'embeddedQueueCommand', `the embedded queue did not run ${name}: ${said}`);
  }
  return reply;
}

/** A command in the server's protocol: a count, then each word with its length in bytes. */
function encode(words: readonly string[]): Buffer {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`);
}

/** The reply's text, with its mark where it is an error (`-`), or null while it is incomplete. */
function decode(bytes: Buffer): string | null {
  const lineEnd = bytes.indexOf('\r\n');
  if (lineEnd < 0) return null;
  const line = bytes.toString('utf8', 0, lineEnd);
  if (line.startsWith('-')) return line;
  if (!line.startsWith('$')) return line.slice(1);
  const bodyStart = lineEnd + 2;
  const bodyEnd = bodyStart + Number(line.slice(1));
  return bytes.length < bodyEnd + 2 ? null : bytes.toString('utf8', bodyStart, bodyEnd);
}
