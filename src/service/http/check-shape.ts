/**
 * Checks what was sent against a schema. Section 7, several problems at once: not shown; all of them are told. Unknown
 * members are ignored.
 */
import type { z } from 'zod';
import { expectedAt } from './expected-shape.ts';
import { badRequest, type RequestProblem } from './refusal.ts';

/** A hundred wrong items need not all be told. */
const problemCountMax = 50;

/** Throws `Refusal` 400 with the path of each problem. */
export function checkShape<Output>(schema: z.ZodType<Output>, sent: unknown): Output {
  // The input is looked at for what is missing, and never echoed.
  const parsed = schema.safeParse(sent, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.slice(0, problemCountMax).map((issue) => problemOf(schema, issue)));
}

/** What an issue says in words. The schema was asked with `reportInput`. */
export function problemOf(schema: z.ZodType, issue: z.core.$ZodIssue): RequestProblem {
  const path = issue.path.map(String).join('.');
  const { type, words, nullable } = expectedAt(schema, issue.path);
  if (issue.code !== 'invalid_type') return { path, message: issue.message, type };
  if (path === '') return { path, message: `The body must be ${words}.`, type };
  if (issue.input !== undefined) return { path, message: `must be ${words}${nullable ? ' or null' : ''}`, type };
  return { path, message: nullable ? 'is required; it may be null' : `is required and must be ${words}`, type };
}
