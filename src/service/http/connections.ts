/**
 * The connections of the port: whose turn it is on each of them, and which one makes room when there are too many.
 *
 * Terms: a *turn* is one request with its answer. A connection *waits for its client* while the service has nothing
 * to do for it: nothing came yet, half of a request came, the answer is being sent, or it idles between two requests.
 * A *newcomer* has not been answered yet, a *guest* has.
 *
 * Invariants: each connection has one turn at a time, so that what a client sends ahead costs no answers in memory
 * and is carried out in its order. Above the limit, connections that wait for their client are closed, those first
 * that have waited longest, and nobody is refused for them. Newcomers fill at most half of the limit at the cost of
 * guests, and the other way round: neither silent sockets nor idle ones can shut the others out. A connection whose
 * turn is at work is never closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from './refusal.ts';
import { refuseSocket } from './refuse-socket.ts';
import type { SocketLimits } from './socket-limits.ts';

export interface Connections {
  readonly opened: (socket: Socket) => void;
  readonly requested: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** No further request can be read. The ones before are answered first; null closes without a word. */
  readonly broken: (socket: Socket, refusal: Refusal | null) => void;
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
}

export function createConnections(answer: Answer, limits: SocketLimits): Connections {
  const lines = new Map<Socket, Line>();
  /** In the order in which they came. */
  const newcomers = new Set<Line>();
  /** In the order in which their last turns began or ended. */
  const guests = new Set<Line>();
  let roomIsAsked = false;

  const begin = (line: Line, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (guests.delete(line)) guests.add(line);
    line.turn = outgoing;
    outgoing.once('close', () => {
      line.turn = null;
      if (line.socket.destroyed) return;
      newcomers.delete(line);
      guests.delete(line);
      guests.add(line);
      const next = line.ahead.shift();
      if (next !== undefined) begin(line, ...next);
      else line.last?.();
    });
    answer(incoming, outgoing);
  };
  const forget = (line: Line): void => {
    lines.delete(line.socket);
    newcomers.delete(line);
    guests.delete(line);
  };
  const leave = (line: Line): void => {
    forget(line);
    line.socket.destroy();
  };
  /** Closes at most so many. */
  const closeLongestWaiting = (among: Set<Line>, countMax: number): void => {
    let left = countMax;
    for (const line of among) {
      if (left <= 0) return;
      if (!waitsForClient(line)) continue;
      leave(line);
      left -= 1;
    }
  };
  const makeRoom = (): void => {
    roomIsAsked = false;
    const surplus = () => lines.size - limits.connectionsMax;
    closeLongestWaiting(newcomers, Math.min(surplus(), newcomers.size - (limits.connectionsMax >> 1)));
    closeLongestWaiting(guests, surplus());
    closeLongestWaiting(newcomers, surplus());
  };
  return {
    opened: (socket) => {
      const line: Line = { socket, turn: null, ahead: [], last: null };
      lines.set(socket, line);
      newcomers.add(line);
      socket.once('close', () => forget(line));
      if (lines.size <= limits.connectionsMax || roomIsAsked) return;
      roomIsAsked = true;
      // Not before the sockets that came in one go with this one were read: a request may be waiting in them.
      setImmediate(() => setImmediate(makeRoom));
    },
    requested: (incoming, outgoing) => {
      const line = lines.get(incoming.socket);
      if (line === undefined || line.last !== null) return;
      if (line.turn === null) return begin(line, incoming, outgoing);
      if (line.ahead.length < limits.pipelinedMax) {
        line.ahead.push([incoming, outgoing]);
        return;
      }
      // Too many at once. Those before are answered; a client sends the rest again, as after any close.
      line.last = () => line.socket.destroySoon();
      line.socket.pause();
    },
    broken: (socket, refusal) => {
      const line = lines.get(socket);
      if (line === undefined) return void socket.destroy();
      if (line.last !== null) return;
      if (refusal === null) return leave(line);
      const last = () => refuseSocket(socket, refusal, limits.lingerMs);
      line.last = last;
      // The answers before this one are not awaited for ever: their client may not read them.
      const bound = setTimeout(() => leave(line), limits.unreadReplyMs);
      socket.once('close', () => clearTimeout(bound));
      if (line.turn === null) last();
      // The request in hand is the broken one, unless it came in whole.
      else if (!line.turn.req.complete) line.turn.headersSent ? leave(line) : last();
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

function waitsForClient({ turn }: Line): boolean {
  return turn === null || !turn.req.complete || turn.headersSent;
}
