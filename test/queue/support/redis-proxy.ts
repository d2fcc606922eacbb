/** A way to a Redis that a test can block: answers held back, or nobody there at all. Closed when the test ends. */
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

export interface RedisProxy {
  readonly connection: { readonly host: string; readonly port: number };
  /** Questions arrive, answers wait. */
  hold(): void;
  release(): void;
  /** Cuts everybody off, and nobody answers. */
  leave(): Promise<void>;
  /** On the same port again. */
  comeBack(): Promise<void>;
}

export async function startRedisProxy(
  target: NetConnectOpts,
  onTestFinished: (stop: () => Promise<void>) => void,
): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  let held = false;
  let server: Server | null = null;

  const accept = (client: Socket): void => {
    const redis = connect(target);
    answering.add(redis);
    for (const [from, to] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        answering.delete(from);
        to.destroy();
      });
      from.on('data', (bytes) => to.write(bytes));
    }
    if (held) redis.pause();
  };
  const listen = async (port: number): Promise<Server> => {
    const listening = createServer(accept).listen(port, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  const leave = async (): Promise<void> => {
    if (server === null) return;
    const closed = once(server, 'close');
    server.close();
    server = null;
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  server = await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const { port } = address;
  onTestFinished(leave);
  return {
    connection: { host: '127.0.0.1', port },
    hold: () => {
      held = true;
      for (const socket of answering) socket.pause();
    },
    release: () => {
      held = false;
      for (const socket of answering) socket.resume();
    },
    leave,
    comeBack: async () => {
      server = await listen(port);
    },
  };
}
