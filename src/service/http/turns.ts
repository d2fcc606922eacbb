/**
 * The connections of the port: whose turn it is on each of them. Which one makes room when there are too many is
 * `eviction.ts`.
 *
 * Terms: a *turn* is one request with its answer. A connection *waits for its client* while the service has nothing
 * to do for it: nothing came yet, half of a request came, the answer is being sent, or it idles between two requests.
 *
 * Invariants: each connection has one turn at a time, so that what a client sends ahead costs no answers in memory
 * and is carried out in its order. A connection whose turn is at work is never closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '#src/log.ts';
import { createEviction, type Eviction } from './eviction.ts';
import type { Refusal } from './refusal.ts';
import { refuseSocket } from './refuse-socket.ts';
import type { SocketLimits } from './socket-limits.ts';

export interface Connections {
  readonly opened: (socket: Socket) => void;
  readonly requested: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** No further request can be read. The ones before are answered first; null closes without a word. */
  readonly broken: (socket: Socket, refusal: Refusal | null) => void;
  /** The parser let go of it. `readOn` has it read again; it is called when the requests before are answered. */
  readonly interrupted: (socket: Socket, readOn: () => void) => void;
  /** Nothing moved on it for as long as its time-out. */
  readonly stalled: (socket: Socket) => void;
  /** Ends them all, whatever they are at. */
  readonly close: () => void;
}

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Line {
  readonly socket: Socket;
  turn: ServerResponse | null;
  readonly ahead: [IncomingMessage, ServerResponse][];
  /** What happens when all that came before is answered; from then on nothing more is taken. */
  last: (() => void) | null;
  readOn: (() => void) | null;
}

interface Turns {
  readonly answer: Answer;
  readonly limits: SocketLimits;
  readonly log: Logger;
  readonly eviction: Eviction<Line>;
  /** Closes it without a word. */
  readonly leave: (line: Line) => void;
}

export function createConnections(answer: Answer, limits: SocketLimits, log: Logger): Connections {
  const lines = new Map<Socket, Line>();
  const forget = (line: Line): void => {
    lines.delete(line.socket);
    eviction.gone(line);
  };
  const leave = (line: Line): void => {
    forget(line);
    line.socket.destroy();
  };
  const eviction = createEviction<Line>({ countMax: limits.connectionsMax, waitsForClient }, leave);
  const turns: Turns = { answer, limits, log, eviction, leave };
  return {
    opened: (socket) => {
      // One that is read again is known.
      if (lines.has(socket)) return;
      const line: Line = { socket, turn: null, ahead: [], last: null, readOn: null };
      lines.set(socket, line);
      socket.once('close', () => forget(line));
      eviction.opened(line);
    },
    requested: (incoming, outgoing) => {
      const line = lines.get(incoming.socket);
      if (line !== undefined && line.last === null) queue(line, incoming, outgoing, turns);
    },
    broken: (socket, refusal) => {
      const line = lines.get(socket);
      if (line === undefined) socket.destroy();
      else if (line.last === null) breakOff(line, refusal, turns);
    },
    interrupted: (socket, again) => {
      const line = lines.get(socket);
      if (line === undefined) return void socket.destroy();
      line.readOn = again;
      if (line.turn === null && line.last === null) readOn(line);
    },
    stalled: (socket) => {
      const line = lines.get(socket);
      // A turn at work may take its time; the fault `hangAfter` takes all of it.
      if (line === undefined) socket.destroy();
      else if (line.turn === null || line.turn.headersSent) leave(line);
    },
    close: () => {
      for (const line of lines.values()) leave(line);
    },
  };
}

function queue(line: Line, incoming: IncomingMessage, outgoing: ServerResponse, turns: Turns): void {
  if (line.turn === null) {
    begin(line, incoming, outgoing, turns);
  } else if (line.ahead.length < turns.limits.pipelinedMax) {
    line.ahead.push([incoming, outgoing]);
  } else {
    // Too many at once. Those before are answered; a client sends the rest again, as after any close.
    line.last = () => line.socket.destroySoon();
    line.socket.pause();
  }
}

function begin(line: Line, incoming: IncomingMessage, outgoing: ServerResponse, turns: Turns): void {
  turns.eviction.turnBegan(line);
  line.turn = outgoing;
  outgoing.once('close', () => {
    line.turn = null;
    // Also where the answer was the last one: what came behind it is not carried out, as nobody would hear of it.
    if (!line.socket.writable) return;
    turns.eviction.turnEnded(line);
    const next = line.ahead.shift();
    if (next !== undefined) begin(line, ...next, turns);
    else if (line.last !== null) line.last();
    else readOn(line);
  });
  turns.answer(incoming, outgoing);
}

function breakOff(line: Line, refusal: Refusal | null, { limits, log, leave }: Turns): void {
  if (refusal === null) {
    leave(line);
    return;
  }
  const { socket, turn } = line;
  const last = () => refuseSocket(socket, refusal, limits.lingerMs, log);
  line.last = last;
  // The answers before this one are not awaited for ever: their client may not read them.
  const bound = setTimeout(() => leave(line), limits.unreadReplyMs);
  socket.once('close', () => clearTimeout(bound));
  if (turn === null) last();
  // The request in hand is the broken one, unless it came in whole.
  else if (!turn.req.complete) turn.headersSent ? leave(line) : last();
}

function readOn(line: Line): void {
  const again = line.readOn;
  line.readOn = null;
  if (line.socket.writable) again?.();
}

function waitsForClient({ turn }: Line): boolean {
  return turn === null || !turn.req.complete || turn.headersSent;
}
