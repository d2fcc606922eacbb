/** A mail server on 127.0.0.1 that keeps what it accepts. */
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, header and body. */
  readonly raw: string;
  /** The user that logged in; null: none did. */
  readonly user: string | null;
}

export interface MailReceiver {
  /** As `notify.mail.server`. */
  readonly url: string;
  readonly received: readonly ReceivedMail[];
}

/** Closed when the test ends. `refuse`: the answer to a message instead of taking it. */
export async function startMailReceiver(
  given: Pick<SMTPServerOptions, 'authOptional' | 'onAuth' | 'hideSTARTTLS'> & { readonly refuse?: number } = {},
): Promise<MailReceiver> {
  const { refuse, ...options } = given;
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    logger: false,
    ...options,
    onData: (stream, session, done) => {
      text(stream).then(
        (raw) => {
          const { mailFrom, rcptTo } = session.envelope;
          const from = mailFrom === false ? '' : mailFrom?.address;
          if (refuse !== undefined) {
            done(Object.assign(new Error(`no room for ${from}`), { responseCode: refuse }));
            return;
          }
          const user = typeof session.user === 'string' ? session.user : null;
          received.push({ from: from ?? '', to: rcptTo.map(({ address }) => address), raw, user });
          done();
        },
        (error: Error) => done(error),
      );
    },
  });
  const port = await new Promise<number>((listening, failed) => {
    server.on('error', failed);
    const listener = server.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      listening(address !== null && typeof address === 'object' ? address.port : 0);
    });
  });
  // A client that leaves in the middle is what a test wants.
  server.on('error', () => undefined);
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return { url: `smtp://127.0.0.1:${port}`, received };
}
