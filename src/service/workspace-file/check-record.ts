/** Checks one record by itself against its schema, and tells what is wrong in words. */
import type { z } from 'zod';
import type { Problems, RecordPlace } from './problems.ts';

/** The record in its schema's output, or null where it has a problem. */
export function checkRecord<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  place: RecordPlace,
  problems: Problems,
): Output | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) problems.add(place, issue.path, wordsOf(issue));
  return null;
}

/**
 * The record as the file has it, or null where it has a problem. For schemas that change nothing: the order of the
 * members stays, so that a dump gives the record back as it came.
 */
export function fittingRecord<Output>(
  schema: z.ZodType<Output, Output>,
  value: unknown,
  place: RecordPlace,
  problems: Problems,
): Output | null {
  // What fits a schema without a transform, and without unknown members, is of its type.
  return checkRecord(schema, value, place, problems) === null ? null : (value as Output);
}

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined') ? 'is missing' : `must be of the type ${issue.expected}`;
    case 'unrecognized_keys': {
      const names = issue.keys.map((name) => JSON.stringify(name.slice(0, 100)));
      return `has a member that its kind does not know: ${names.slice(0, 5).join(', ')}`;
    }
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    default:
      return issue.message;
  }
}
