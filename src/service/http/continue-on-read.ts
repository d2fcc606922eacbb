/** `Expect: 100-continue`: the client is told to send its body when somebody wants to read it, and not before. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * A request that is refused by its head is answered at once. Its client may leave the body out or send it after all:
 * what comes next on the connection could not be told, so that Node closes it (RFC 9110, 10.1.1).
 */
export function continueOnRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.once('resume', () => {
    // After the answer what comes is dropped.
    if (!outgoing.headersSent) outgoing.writeContinue();
  });
}
