/**
 * Notices by e-mail: one connection and one message each, since there are few.
 *
 * A password goes over an encrypted connection only: outside private networks the server must offer STARTTLS, or be smtps. What the server
 * says is not passed on: it may repeat addresses. The library is loaded with the first e-mail.
 */

import { isPrivateHost } from '#src/config/forms.ts';
import type { Config } from '#src/config/schema.ts';
import { readMailPassword } from '#src/config/secrets.ts';

export interface Mail {
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailLimits {
  readonly connectMs: number;
  /** Each answer of the server. */
  readonly answerMs: number;
}

const mailLimits: MailLimits = { connectMs: 5_000, answerMs: 10_000 };

export type MailEnd =
  | { readonly kind: 'accepted' }
  /** `code` is the library's, as `EAUTH`; `status` the server's answer, as 550. It may have arrived nevertheless. */
  | { readonly kind: 'failed'; readonly code: string; readonly status: number | null };

/**
 * Sends it to all addresses of `mail.to` together.
 * @throws what `readMailPassword` throws; the signal's reason if it fired: the message may have been sent.
 */
export async function sendMail(
  mail: Config['notify']['mail'],
  { id, subject, text }: Mail,
  signal: AbortSignal,
  limits: MailLimits = mailLimits,
): Promise<MailEnd> {
  const { server, from, to, user } = mail;
  if (server === null || from === null) return { kind: 'failed', code: 'notConfigured', status: null };
  const password = user === null ? null : await readMailPassword(mail);
  const { createTransport } = await import('nodemailer');
  const url = new URL(server);
  const secure = url.protocol === 'smtps:';
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isPrivateHost(url.hostname),
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.answerMs,
    socketTimeout: limits.answerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const cut = (): void => transport.close();
  signal.addEventListener('abort', cut, { once: true });
  try {
    signal.throwIfAborted();
    // The same for each try, so that a mailbox may drop a repetition.
    const messageId = `<${id}@patchbay.invalid>`;
    await transport.sendMail({ from: { name: 'Patchbay', address: from }, to: [...to], subject, text, messageId });
    return { kind: 'accepted' };
  } catch (error) {
    signal.throwIfAborted();
    const { code, responseCode } = Object(error) as { readonly code?: unknown; readonly responseCode?: unknown };
    return {
      kind: 'failed',
      code: typeof code === 'string' ? code : 'unknown',
      status: typeof responseCode === 'number' ? responseCode : null,
    };
  } finally {
    signal.removeEventListener('abort', cut);
    transport.close();
  }
}
