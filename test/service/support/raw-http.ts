/** Raw bytes to a service, and what came back: for requests that no HTTP client would send. */

import { connect, type Socket } from 'node:net';
import type { LiteralJson } from '#test/support/literal-json.ts';

export interface RawReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body; null for an empty one. Its shape is what the tests are about. */
  readonly body: LiteralJson;
}

export interface RawExchange {
  readonly replies: readonly RawReply[];
  /** Whether the service ended the connection. */
  readonly closed: boolean;
  /** What was left over behind the last whole reply. */
  readonly rest: string;
}

export interface RawOptions {
  /** The connection is let go after so many replies. Default 1. */
  readonly replyCount?: number;
  /** Replies to HEAD have no body, whatever their headers say. */
  readonly bodiless?: boolean;
  /** Where nothing comes for so long, the client says that it will send nothing more. Default 300. */
  readonly patienceMs?: number;
}

/** Sends the bytes on a connection of their own. Resolves with the replies, or when the service closes. */
export function sendRaw(port: number, bytes: string | Uint8Array, options: RawOptions = {}): Promise<RawExchange> {
  const { replyCount = 1, bodiless = false, patienceMs = 300 } = options;
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const replies: RawReply[] = [];
    /** Behind the last whole reply. */
    let left = Buffer.alloc(0);
    const finish = (closed: boolean) => {
      clearTimeout(patience);
      socket.destroy();
      resolve({ replies, rest: left.toString('latin1'), closed });
    };
    const patience = setTimeout(() => {
      socket.end();
      setTimeout(() => finish(false), 2_000).unref();
    }, patienceMs);
    socket.on('data', (data) => {
      try {
        const read = readReplies(Buffer.concat([left, data]), bodiless);
        replies.push(...read.replies);
        left = read.left;
        if (replies.length >= replyCount) finish(false);
      } catch (error) {
        reject(error);
        finish(false);
      }
    });
    // A reset is one way of being closed.
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
  });
}

/** Reads whole replies. Throws where the bytes are no HTTP. Ends: each turn takes one reply off. */
export function readReplies(bytes: Buffer, bodiless = false): { replies: RawReply[]; left: Buffer<ArrayBuffer> } {
  const replies: RawReply[] = [];
  let at = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) [ -~]*$/.exec(statusLine)?.[1];
    if (status === undefined) throw new Error(`no status line: ${statusLine}`);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const match = /^([\w-]+): ?([ -~]*)$/.exec(line);
        if (match === null) throw new Error(`no header: ${line}`);
        return [match[1]?.toLowerCase() ?? '', match[2] ?? ''];
      }),
    );
    const hasBody = !(bodiless || status === '204' || status.startsWith('1'));
    if (hasBody && headers['content-length'] === undefined) throw new Error(`no length: ${statusLine}`);
    const bodyEnd = headEnd + 4 + (hasBody ? Number(headers['content-length']) : 0);
    if (bodyEnd > bytes.length) break;
    const text = bytes.toString('utf8', headEnd + 4, bodyEnd);
    replies.push({ status: Number(status), headers, text, body: text === '' ? null : JSON.parse(text) });
    at = bodyEnd;
  }
  return { replies, left: Buffer.from(bytes.subarray(at)) };
}
