/**
 * Commands of our own to the server, run to their end without a socket.
 *
 * Each takes a connection of its own, because a client may close any other one (`CLIENT KILL`). Invariant: when this
 * returns or throws, the connection is on its way out and its descriptor comes back.
 */
import { PatchbayError } from '#src/errors.ts';
import { type Endpoint, wouldBlock } from './endpoint.ts';

/** Steps of the server until a reply must be there: accept, read, reply, and room for other clients' events. */
const stepsMax = 1_000;

export interface ControlledServer {
  offerAlways(endpoint: Endpoint): void;
  step(): number;
}

/**
 * Runs one command and returns its reply as text.
 *
 * @throws PatchbayError `transient` `embeddedQueueCommand` when the server refuses it or does not answer.
 */
export function runControlCommand(server: ControlledServer, command: readonly string[]): string {
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
