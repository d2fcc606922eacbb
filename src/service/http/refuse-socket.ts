/** Answers on a bare socket, where there is no request that could be answered, and closes. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '#src/log.ts';
import { textOfBody } from '#src/service/operations/operation.ts';
import type { Refusal } from './refusal.ts';
import { replyOutsideOperations } from './reply-outside-operations.ts';

/**
 * Closing at once would have the system throw the answer away while the client still sends: what comes is read and
 * dropped until the client has gone, or for `lingerMs`.
 */
export function refuseSocket(socket: Duplex, refusal: Refusal, lingerMs: number, log: Logger): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = Buffer.from(textOfBody(replyOutsideOperations(refusal, log).body) ?? '');
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? refusal.title}`,
    'content-type: application/json',
    `content-length: ${body.byteLength}`,
    'connection: close',
  ];
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  socket.resume();
}
