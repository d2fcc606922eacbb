/**
 * A port of the loopback that nothing listens on now, and that the system gives nobody by itself: those are of the upper half
 * (32768 and above on Linux). So a server that a test stops and starts again finds its port free, whatever runs beside it.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const firstPort = 15_000;
const lastPort = 32_000;
/** As many tries as no machine needs that can run the tests at all. */
const triesMax = 100;

/** @throws Error where none of many ports is free. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port)) return port;
  }
  throw new Error(`there is no free port between ${firstPort} and ${lastPort}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const ended = Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)]);
  server.listen(port, '127.0.0.1');
  const isListening = await ended;
  if (!isListening) return false;
  server.close();
  await once(server, 'close');
  return true;
}
