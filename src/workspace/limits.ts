/**
 * The limits of one request to the workspace service (`rules.md`, "Retries, rate, outages").
 *
 * Everything that can grow or wait has an upper bound here.
 */

/** How long each part of a request may take. */
export interface WorkspaceTimeouts {
  /** TCP and TLS handshakes. */
  readonly connectMs: number;
  /** From the request's last byte to the reply's last header. */
  readonly headersMs: number;
  /** Between two pieces of the reply's body. */
  readonly bodyMs: number;
  /** From the return of `beforeSend` to the end of the reply, everything included. */
  readonly requestMs: number;
  /**
   * From the return of `beforeSend` to the write on the socket; a request that would begin later is not sent. It is
   * the start guard in the horizon of an intent (`rules.md`, "One contact per key", step 3), and the rate gate relies on
   * it.
   */
  readonly writeStartMs: number;
}

export const workspaceTimeouts: WorkspaceTimeouts = {
  connectMs: 3_000,
  headersMs: 10_000,
  bodyMs: 10_000,
  requestMs: 15_000,
  writeStartMs: 1_000,
};

/** Connections open at a time, and so requests in progress. */
export const connectionsMax = 16;

/** Below one second, so that no POST uses a connection that the service has closed meanwhile. */
export const idleConnectionMs = 900;

/** A larger reply is cut off while it is read. */
export const replyBytesMax = 1_000_000;

/** The same for a page of phone numbers: v1 returns all of them at once (`facts.md`). */
export const phoneNumbersReplyBytesMax = 32_000_000;

/** Pages of one look-up. 20 keys fit one page; the limit stops a service that ignores the filter. */
export const lookUpPagesMax = 20;

/** Pages of one walk over the phone numbers (`rules.md`, "Snapshots"). */
export const phoneNumberPagesMax = 1_000;

/** Tries of one read, including the first. */
export const readTriesMax = 4;

/** How often one read may be answered with 429; each one pauses the gate. */
export const rateLimitedTriesMax = 20;

/** A longer `Retry-After` is shortened to this. */
export const retryAfterMaxMs = 60_000;

/** The API key is read again at most this often. */
export const keyRenewalIntervalMs = 5_000;
