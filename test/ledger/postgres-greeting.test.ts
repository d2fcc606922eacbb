/** A PostgreSQL server that is stopped while it greets: a server of the test's own, since the moment is too short for a real one. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '#src/ledger/postgres/address.ts';
import { openPool } from '#src/ledger/postgres/pool.ts';

/** A message of PostgreSQL's protocol, version 3: its letter, its length, its content. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const authenticationOk = message('R', Buffer.alloc(4));
const readyForQuery = message('Z', Buffer.from('I'));
const stopped = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));

test('a server that stops in the same moment in which it lets a connection in is trouble that passes, and ends no process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([authenticationOk, readyForQuery, stopped])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const pool = openPool(parseAddress(`postgresql://ann@127.0.0.1:${port}/ledger?sslmode=disable`), () => undefined);
  onTestFinished(() => pool.close());
  await expect(pool.reads.get('SELECT 1')).rejects.toMatchObject({ kind: 'transient' });
  const taken = await pool.take();
  await expect(pool.guarded(() => taken.client.query('SELECT 1'))).rejects.toMatchObject({ kind: 'transient' });
  taken.release(true);
});
