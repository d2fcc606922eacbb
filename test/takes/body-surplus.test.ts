/** A `Content-Length` that is too short cuts the last values of a file, and looks like a whole download (`docs/operations.md`, "Feeds"). */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import { type Answer, serverName, startFileServer, testCertificate } from './support/file-server.ts';
import { openTakesBench } from './support/takes-bench.ts';

const table = `externalId,lastName,email\n${Array.from({ length: 9 }, (_, row) => `${row},Müller,j${row}@mail.example.com\n`).join('')}`;

async function take(answer: Answer, tls = false) {
  const server = await startFileServer({ answer, tls });
  const local = { ...configSchema.parse({}).download, privateAddresses: true };
  const bench = await openTakesBench({
    clock: systemClock(),
    download: local,
    tls: { ca: testCertificate().cert },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const end = await bench.take(`${server.origin}/crm.csv`);
  return { end, contents: await bench.contents(), strays: await bench.strays() };
}

/** The body behind headers that declare another length; beside it what is sent before the headers. */
function declares(length: number, body: string, { before = '', connection = 'close' } = {}): Answer {
  return ({ socket }) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: ${length}\r\nconnection: ${connection}\r\n\r\n`;
    send(socket, `${before}${head}${body}`, connection === 'close');
  };
}

function send(socket: Socket, text: string, isAll: boolean): void {
  if (isAll) socket.end(text);
  else socket.write(text);
}

const refused = { end: { outcome: 'failed', code: 'downloadLengthWrong' }, contents: [], strays: [] };
const bytes = Buffer.byteLength(table);

describe('a download that declares too short a length', () => {
  it.each(['close', 'keep-alive'])('is refused on a connection with %s', async (connection) => {
    expect(await take(declares(table.length, table, { connection }))).toMatchObject(refused);
  });

  it('is refused over TLS, and behind an early answer', async () => {
    const before = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';
    expect(serverName).toBe('files.example.com');
    expect(await take(declares(table.length, table, { before }), true)).toMatchObject(refused);
  });

  it('is refused where it is long and was read in many pieces', async () => {
    const long = table.repeat(20_000);
    expect(await take(declares(long.length, long))).toMatchObject(refused);
  });
});

describe('a download is taken', () => {
  it.each([
    ['that has the declared length', table],
    ['behind which the server sends a line break of its own', `${table}\r\n`],
  ])('%s', async (_what, body) => {
    for (const connection of ['close', 'keep-alive'])
      expect(await take(declares(bytes, body, { connection }))).toMatchObject({ contents: [table] });
  });

  it('that is long and was read in many pieces', async () => {
    const long = table.repeat(20_000);
    const { end } = await take(declares(Buffer.byteLength(long), long));
    expect(end).toMatchObject({ outcome: 'run' });
  });
});
