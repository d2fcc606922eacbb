/**
 * Ids of calls and messages: `AC` and 24 hex digits, in the order of their making (`facts.md`, "ids": both begin with
 * `AC`).
 */
import { createContactIds } from '../contacts/contact-id.ts';

/** Answers the next id for an instant in milliseconds since 1970. */
export type NextActivityId = (atMs: number) => string;

export function createActivityIds(): NextActivityId {
  const nextDigits = createContactIds();
  return (atMs) => `AC${nextDigits(atMs)}`;
}
