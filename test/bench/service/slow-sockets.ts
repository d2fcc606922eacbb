/** Sockets that never become a request: nothing sent, half of a head, half of a body. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { benchKey } from './traffic.ts';

const starts = [
  '',
  'GET /v1/contacts HTTP/1.1\r\nhost: 127.0',
  `POST /v1/contacts HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${benchKey}\r\n` +
    'content-type: application/json\r\ncontent-length: 500\r\n\r\n{"externalId":',
];

/** Answers how to let go of them. The server may close them before. */
export async function openSlowSockets(port: number, count: number): Promise<() => void> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    socket.write(starts[index % starts.length] ?? '');
    sockets.push(socket);
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
