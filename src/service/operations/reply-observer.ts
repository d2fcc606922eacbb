/**
 * Somebody who looks at every reply of the service as it was meant, before faults spoil it. Tests hold the replies to
 * the public description with it.
 */
import type { OpenApiDocument } from '../openapi/openapi-document.ts';

export interface ObservedReply {
  /** In upper case; null where no operation was meant (an unknown path, a wrong method). */
  readonly method: string | null;
  /** As the description writes it, `/v1/contacts/{id}`; null where no operation was meant. */
  readonly path: string | null;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text; null for an empty body. */
  readonly text: string | null;
}

/** Must not throw. */
export type ObserveReply = (reply: ObservedReply) => void;

/** Called once, when the service starts. */
export type ReplyObserver = (document: OpenApiDocument) => ObserveReply;
