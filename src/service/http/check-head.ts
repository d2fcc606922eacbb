/**
 * Checks the head of a request before anything else looks at it: whom it means, and how its body is wrapped.
 *
 * A service that listens on loopback alone answers only to names of this machine: a stranger's web page can point a
 * name of its own at 127.0.0.1 and would otherwise read everything (DNS rebinding). Section 7: not shown; 421.
 */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** The refusal, or null where the head is fine. It may rewrite the request's target: see `absoluteTarget`. */
export type CheckHead = (incoming: IncomingMessage) => Refusal | null;

const hostForm = /^(?:\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?)(?::\d{0,5})?$/i;
const loopbackForm = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{0,5})?$/i;

/** Four numbers are an address, or nothing at all. */
const addressForm = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.?(?::|$)/;
const portMax = 65_535;

function isHost(host: string): boolean {
  if (!hostForm.test(host)) return false;
  const [, ...bytes] = addressForm.exec(host) ?? [];
  const port = /:(\d+)$/.exec(host)?.[1] ?? '0';
  return bytes.every((byte) => Number(byte) <= 255) && Number(port) <= portMax;
}

export function createHeadCheck(loopbackOnly: boolean): CheckHead {
  // Clients send one and the same host all the time.
  let lastGoodHost: string | undefined;
  const hostProblem = (host: string): Refusal | null => {
    if (host === lastGoodHost) return null;
    // Two headers are two opinions on who is meant; the parser joins them with a comma.
    if (host.includes(',')) return new Refusal(400, 'More than one Host header.');
    if (!isHost(host)) return new Refusal(400, 'The Host header is not a host.');
    if (loopbackOnly && !loopbackForm.test(host)) {
      return new Refusal(421, 'This service answers to names of this machine alone, as localhost or 127.0.0.1.');
    }
    lastGoodHost = host;
    return null;
  };
  return (incoming) => {
    const { host, expect, 'transfer-encoding': coding } = incoming.headers;
    if (incoming.httpVersionMajor !== 1) return unspokenVersion();
    if (host === undefined) {
      // HTTP/1.0 knows no Host.
      if (incoming.httpVersion !== '1.0') return new Refusal(400, 'The Host header is missing.');
    } else {
      const problem = hostProblem(host);
      if (problem !== null) return problem;
    }
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      return new Refusal(501, 'The only transfer encoding is chunked.');
    }
    if (incoming.httpVersion !== '1.0' && expect !== undefined && expect.toLowerCase() !== '100-continue') {
      return new Refusal(417, 'The only expectation that is met is 100-continue.');
    }
    return incoming.url?.startsWith('/') ? null : absoluteTarget(incoming, hostProblem);
  };
}

/** `GET http://host/path`, as a proxy is asked: its host counts, and the path goes on as if it had come alone. */
function absoluteTarget(incoming: IncomingMessage, hostProblem: (host: string) => Refusal | null): Refusal | null {
  const match = /^https?:\/\/([^/?#]*)(.*)$/is.exec(incoming.url ?? '');
  const [, host = '', rest = ''] = match ?? [];
  if (match === null) return new Refusal(400, 'The target of the request must be a path.');
  const problem = hostProblem(host);
  if (problem === null) incoming.url = rest.startsWith('/') ? rest : `/${rest}`;
  return problem;
}

/** The parser lets a few versions pass that are never spoken on a plain socket, as 2.0. */
export function unspokenVersion(): Refusal {
  return new Refusal(505, 'This version of HTTP is not spoken here. Use HTTP/1.1.');
}
