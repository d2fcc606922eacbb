/**
 * Checks what was sent against a schema. Section 7, several problems at once: not shown; all of them are told. Unknown
 * members are ignored.
 */
import type { z } from 'zod';
import { badRequest, type RequestProblem } from './refusal.ts';

/** A hundred wrong items need not all be told. */
const problemCountMax = 50;

/** Throws `Refusal` 400 with the path of each problem. */
export function checkShape<Output>(schema: z.ZodType<Output>, sent: unknown): Output {
  // The input is looked at for what is missing, and never echoed.
  const parsed = schema.safeParse(sent, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.slice(0, problemCountMax).map(problemOf));
}

function problemOf(issue: z.core.$ZodIssue): RequestProblem {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_type') {
    const missing = issue.input === undefined ? 'is required and ' : '';
    return { path, message: `${missing}must be of the type ${issue.expected}`, type: issue.expected };
  }
  return { path, message: issue.message };
}
