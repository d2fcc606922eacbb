/**
 * Steps the server when there is something to do.
 *
 * A *turn* is a series of steps: one step reads commands, the next one sends their replies, so a turn continues until a step
 * reports no event. Invariant: steps never nest, and none follows one that threw.
 */
import type { Socket } from 'node:net';
import { invariant, PatchbayError } from '#src/errors.ts';
import { type Endpoint, socketEndpoint, wouldBlock } from './endpoint.ts';
import type { ValkeyInstance } from './valkey-instance.ts';

/** Steps of a turn; sockets and timers get a chance before the next turn. */
const stepsPerTurnMax = 100;
/** How often time-outs of blocked clients are checked while clients are connected and no data arrives. */
const tickMs = 20;
/** The same without clients, for expiring keys. */
const idleTickMs = 100;

export interface ServerLoop {
  /** Passes a client to the server, or closes it if the server is full. */
  accept(socket: Socket): void;
  /** Runs one internal command; see `runControlCommand`. */
  command(words: readonly string[]): string;
  /** Runs a turn at once. */
  settle(): void;
  /** Begins to tick. `busy` returns whether clients are connected. */
  start(busy: () => boolean): void;
  /** No step after this. */
  stop(): void;
  /** Whether it was stopped, or the server threw. */
  readonly stopped: boolean;
}

/** `onThrow` is called once, with the error that ended the server; the loop is stopped by then. */
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

/** Steps of the server within which a reply must arrive: accept, read, reply, and events of other clients. */
const stepsMax = 1_000;

interface ControlledServer {
  offerAlways(endpoint: Endpoint): void;
  step(): number;
}

/**
 * Runs one internal command to its end, without a socket, and returns its reply as text. Each uses a new connection, because
 * clients may close any existing one (`CLIENT KILL`); it is being closed when this returns or throws.
 * @throws PatchbayError `transient` `embeddedQueueCommand` if the server refuses the command or does not answer.
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

/** The reply's text, an error with its leading `-`; null while it is incomplete. */
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
