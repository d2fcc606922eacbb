/** A connection for one piece of work: opening, checking, measuring. */
import { connect as connectSocket } from 'node:net';
import pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import type { Address } from './address.ts';
import { clientOptions, limits } from './pool.ts';
import { postgresTroubleOf } from './trouble.ts';

/** Runs work on a connection of its own. @throws PatchbayError as `postgresTroubleOf` names it. */
export async function onceConnected<Result>(
  asked: Address,
  work: (client: pg.Client, address: Address) => Promise<Result>,
): Promise<Result> {
  const { client, address } = await connectOnce(asked, 'setup');
  try {
    return await work(client, address);
  } catch (error) {
    throw error instanceof PatchbayError ? error : (postgresTroubleOf(error, asked) ?? error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * A connection that the caller ends, and the address with the encryption that the server has. @param role as `clientOptions` takes it.
 * @throws PatchbayError as `postgresTroubleOf` names it.
 */
export async function connectOnce(
  asked: Address,
  role: string,
): Promise<{ readonly client: pg.Client; readonly address: Address }> {
  let client: pg.Client | null = null;
  try {
    const address = asked.mayBePlain && !(await isEncrypted(asked)) ? plain(asked) : asked;
    client = new pg.Client(clientOptions(address, role));
    // What breaks between two statements is met by the next one.
    client.on('error', () => undefined);
    await client.connect();
    return { client, address };
  } catch (error) {
    await client?.end().catch(() => undefined);
    throw error instanceof PatchbayError ? error : (postgresTroubleOf(error, asked) ?? error);
  }
}

const plain = (address: Address): Address => ({ ...address, connection: { ...address.connection, ssl: false } });

/** `prefer`: the server is asked, as libpq does, and answers one letter. */
async function isEncrypted({ connection: { host, port } }: Address): Promise<boolean> {
  const socket = connectSocket({ host, port });
  const answer = Promise.withResolvers<boolean>();
  socket.setTimeout(limits.connectTimeoutMs, () => socket.destroy(new Error('timeout expired')));
  socket.once('connect', () => socket.write(sslRequest));
  socket.once('data', (data) => answer.resolve(data.toString('latin1') === 'S'));
  socket.once('error', answer.reject);
  socket.once('close', () => answer.reject(new Error('Connection terminated unexpectedly')));
  try {
    return await answer.promise;
  } finally {
    socket.destroy();
  }
}

/** Its length, and the number of the request. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
