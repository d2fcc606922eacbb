/**
 * Checks a body against its schema. Section 7, several problems at once: not shown; all of them are told. Unknown
 * members are ignored.
 */
import type { z } from 'zod';
import { badRequest, type RequestProblem } from '../http/refusal.ts';

/** A hundred wrong items need not all be told. */
const problemCountMax = 50;

/** Throws `Refusal` 400 with the path of each problem. */
export function parseContactBody<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.slice(0, problemCountMax).map(problemOf));
}

function problemOf(issue: z.core.$ZodIssue): RequestProblem {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_type') {
    return { path, message: `must be of the type ${issue.expected}`, type: issue.expected };
  }
  return { path, message: issue.message };
}
