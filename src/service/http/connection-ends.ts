/**
 * How a connection ends before its client has sent everything: after a refusal, or in the middle of what is not HTTP.
 *
 * A connection that is closed while bytes come in is reset, and a reset discards the reply that is still on its way to
 * the client. So the service says that it sends nothing more, and drops what comes until the client ends its side, too:
 * up to a number of bytes, and up to a time.
 */
import type { Socket } from 'node:net';

export interface EndLimits {
  /** Bytes that are read and dropped once the end of the connection is decided. */
  readonly droppedBytesMax: number;
  /** From the last reply on. */
  readonly droppedMs: number;
}

export interface ConnectionEnds {
  /** Nothing more of the connection is read as HTTP; it is dropped. False where that was said of it before. */
  readonly dropRest: (socket: Socket) => boolean;
  /** Sends the last bytes, if any, and ends the connection, at the latest after the limit of time. */
  readonly end: (socket: Socket, lastBytes?: string) => void;
}

export function createConnectionEnds({ droppedBytesMax, droppedMs }: EndLimits): ConnectionEnds {
  const ending = new WeakSet<Socket>();
  const dropRest = (socket: Socket): boolean => {
    if (ending.has(socket)) return false;
    ending.add(socket);
    let leftBytes = droppedBytesMax;
    // Those of Node's parser: a request behind the last reply is not carried out.
    socket.removeAllListeners('data');
    socket.on('data', (bytes: Buffer) => {
      leftBytes -= bytes.byteLength;
      if (leftBytes < 0) socket.destroy();
    });
    socket.resume();
    return true;
  };
  return {
    dropRest,
    end: (socket, lastBytes) => {
      dropRest(socket);
      const patience = setTimeout(() => socket.destroy(), droppedMs);
      socket.once('close', () => clearTimeout(patience));
      if (lastBytes === undefined) socket.end();
      else socket.end(lastBytes);
    },
  };
}
