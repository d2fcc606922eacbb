/** A receiver of webhooks on 127.0.0.1 that behaves as a script says and checks signatures by its own code. */
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A status; or: never answer, cut the connection, answer 200 and never end, answer 200 with more than anyone reads. */
export type Behaviour = number | 'hang' | 'reset' | 'hangBody' | 'flood';

export interface Received {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when so many requests have arrived whole. */
  arrived(count: number): Promise<void>;
}

/** The behaviours of the first requests; later ones are answered 204. */
export async function startReceiver(
  script: readonly Behaviour[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const behaviour = script[received.length] ?? 204;
    received.push({ headers: flat(request), body });
    for (const look of waiting) look();
    if (behaviour === 'reset') request.socket.destroy();
    else if (behaviour === 'hangBody') response.writeHead(200).write('…');
    else if (behaviour === 'flood') flood(response);
    else if (behaviour !== 'hang') response.writeHead(behaviour, headers).end('{"said":"Ada Lovelace"}');
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  // The server listens on TCP, so its address is one of these.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Ends when the other side has gone. */
function flood(response: ServerResponse): void {
  response.writeHead(200);
  const piece = Buffer.alloc(65_536, 'x');
  const pour = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', pour);
  pour();
}

function flat(request: IncomingMessage): Received['headers'] {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
}

/** Whether one of the signatures is right: the scheme's own words, not the sender's code. */
export async function isSigned({ headers, body }: Received, secret: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await webcrypto.subtle.importKey('raw', secret, algorithm, false, ['verify']);
  const signed = new TextEncoder().encode([headers['webhook-id'], headers['webhook-timestamp'], body].join('.'));
  for (const entry of (headers['webhook-signature'] ?? '').split(' ')) {
    const [version, signature = ''] = entry.split(',');
    const bytes = Uint8Array.from(atob(signature), (char) => char.charCodeAt(0));
    if (version === 'v1' && (await webcrypto.subtle.verify('HMAC', key, bytes, signed))) return true;
  }
  return false;
}
