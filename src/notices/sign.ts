/**
 * The signature of a delivery, after the Standard Webhooks scheme: HMAC-SHA256 over `id.timestamp.body`. Pure.
 *
 * The receiver computes the same from the headers and the raw body, compares in constant time, and refuses timestamps
 * that are minutes old.
 */
import { createHmac } from 'node:crypto';

/** A secret given as it is has at least so many characters; one in base64 at least so many bytes. */
const lengthMin = 16;
const base64Prefix = 'whsec_';

/** The bytes of a secret, as `whsec_<base64>` or any text of at least 16 characters; null where it is neither. */
export function secretBytes(secret: string): Buffer | null {
  if (!secret.startsWith(base64Prefix)) return secret.length >= lengthMin ? Buffer.from(secret, 'utf8') : null;
  const text = secret.slice(base64Prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length >= lengthMin ? bytes : null;
}

export interface Signable {
  /** The same for each try. */
  readonly id: string;
  /** Of this try. */
  readonly atMs: number;
  readonly body: string;
}

/** The headers of a try; without a secret there is no signature among them. */
export function webhookHeaders({ id, atMs, body }: Signable, secret: Buffer | null): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
