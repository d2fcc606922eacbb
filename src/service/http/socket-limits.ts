/** Limits of the port, in place of Node's generous defaults (`toolchain.md`, "HTTP"). */

export interface SocketLimits {
  /** From the connection, or from a request's first byte, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From a request's first byte to the end of its body. */
  readonly requestTimeoutMs: number;
  /** How often the two above are looked at. */
  readonly connectionCheckMs: number;
  /** Between two requests of one connection. */
  readonly keepAliveMs: number;
  /** A reply of which the client takes nothing for so long is given up. */
  readonly unreadReplyMs: number;
  /** What a client still sends after its refusal is read for so long, so that the refusal reaches it. */
  readonly lingerMs: number;
  readonly headerBytesMax: number;
  /** Above it, connections that wait for their client make room. */
  readonly connectionsMax: number;
  /** Requests of one connection that wait for the answers before theirs. */
  readonly pipelinedMax: number;
}

export const defaultSocketLimits: SocketLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  connectionCheckMs: 1_000,
  keepAliveMs: 5_000,
  unreadReplyMs: 30_000,
  lingerMs: 500,
  /** Twenty ids of 75 characters, percent-encoded, fit into it. */
  headerBytesMax: 32 * 1024,
  /** Each may hold a body up to its limit while it comes in. */
  connectionsMax: 2_048,
  pipelinedMax: 1_000,
};

/** Connections that the system accepts in one go, before any of them could be read. */
export const backlog = 511;

/** For the store, the logs and whatever else the process has open. */
const otherFilesMax = 128;

/** No process is so tight that it could not serve a few. */
const connectionsMin = 32;

/**
 * The limit on connections that the process's file descriptors allow: beside those of the limit there may be, for a
 * moment, as many as the system accepts in one go.
 */
export function affordableConnections(wanted: number, openFilesMax: number): number {
  return Math.min(wanted, Math.max(connectionsMin, openFilesMax - otherFilesMax - backlog));
}

/** How many files the process may have open; without end where the system does not tell. */
export function openFilesMax(): number {
  // Without this the report asks for the names of all peers.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
