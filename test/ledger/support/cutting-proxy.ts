/** A connection to a server that is cut at a chosen moment: when a client sends a word, before the server sees it or before it answers. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /**
   * The next time that a client sends the word. `asked`: the server never sees it; `answered`: it does, and its answer is lost;
   * `silent`: the server never sees it, nor anything else, and the connection stays up.
   */
  cutAt(word: string, when: Cut, thenRefuse?: boolean): void;
  /** Whether it takes no connections, since it has cut one. */
  isRefusing(): boolean;
  /** Takes connections again. */
  open(): void;
  close(): Promise<void>;
}

type Cut = 'asked' | 'answered' | 'silent';

export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut: { readonly word: string; readonly when: Cut; readonly thenRefuse: boolean } | null = null;
  let isRefusing = false;
  const server = createServer((client) => {
    if (isRefusing) {
      client.destroy();
      return;
    }
    const upstream = connect(serverPort, '127.0.0.1');
    let isSilent = false;
    let isDeaf = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      if (isDeaf) return;
      if (cut === null || !data.includes(cut.word)) {
        upstream.write(data);
        return;
      }
      isRefusing = cut.thenRefuse;
      const { when } = cut;
      cut = null;
      isDeaf = when === 'silent';
      isSilent = when === 'answered';
      if (isDeaf) return;
      if (when === 'asked') end();
      else upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (isSilent) end();
      else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has a port');
  return {
    port: address.port,
    cutAt: (word, when, thenRefuse = false) => {
      cut = { word, when, thenRefuse };
    },
    isRefusing: () => isRefusing,
    open: () => {
      isRefusing = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
