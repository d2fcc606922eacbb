/**
 * What can be wrong with a workspace file and with its records. All are `usage` errors: nothing was loaded, and the command
 * must change.
 *
 * - `workspaceFileUnreadable`: it is not there, is no file, or cannot be read.
 * - `workspaceFileMalformed`: it is not JSON, or not the object with the sections.
 * - `workspaceFileInvalid`: records in it are wrong. All problems are counted and the first ones reported: a million
 *   contacts with the same mistake need not all be named.
 * - `workspaceFileNewer`: a newer program wrote it.
 * - `workspaceFileChanged`: it changed while it was read.
 */

import type { z } from 'zod';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { issuesWorthTelling } from '#src/service/http/check-request.ts';
import type { SectionName } from './sections.ts';

export interface RecordPlace {
  readonly section: SectionName;
  /** Counted from 0; null for `workspace`. */
  readonly index: number | null;
  /** On which the record begins. */
  readonly line: number;
}

export interface Problems {
  /** `path` leads to the member inside the record; empty for the record as a whole. The value itself is never reported. */
  readonly add: (place: RecordPlace, path: readonly PropertyKey[], message: string) => void;
  readonly count: () => number;
  /**
   * Throws a `usage` error, `workspaceFileInvalid`, where there is a problem. Its cause is an `AggregateError` with one
   * error for each that is reported.
   */
  readonly throwIfAny: () => void;
}

const reportedProblemsMax = 20;

export function createProblems(file: string): Problems {
  let count = 0;
  const reported: string[] = [];
  return {
    add: ({ section, index, line }, path, message) => {
      count += 1;
      if (reported.length >= reportedProblemsMax) return;
      reported.push(`${section}${index === null ? '' : `[${index}]`}${memberPath(path)} (line ${line}): ${message}`);
    },
    count: () => count,
    throwIfAny: () => {
      const [first] = reported;
      if (first === undefined) return;
      const others = count === 1 ? '' : `; ${count} problems in all`;
      throw new PatchbayError('usage', 'workspaceFileInvalid', `${file}: ${first}${others}`, {
        facts: { file, problemCount: count },
        hint: 'Nothing was loaded. Correct the file and load it again.',
        cause: new AggregateError(
          reported.map((one) => new Error(one)),
          'problems of a workspace file',
        ),
      });
    },
  };
}

/** `.defaultFields.phoneNumbers[0].value` */
function memberPath(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}

/** The record in its schema's output, or null where it has a problem. */
export function checkRecord<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  place: RecordPlace,
  problems: Problems,
): Output | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of issuesWorthTelling(parsed.error)) problems.add(place, issue.path, wordsOf(issue));
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

const shapeHint = 'A workspace file is one JSON object, as {"contacts":[…]}; `patchbay serve --dump FILE` writes one.';

export function fileUnreadable(file: string, reason: string, hint: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'workspaceFileUnreadable', `cannot read ${file}: ${reason}`, {
    facts: { file },
    hint,
    cause,
  });
}

/** `place` is null where none can be named. */
export function fileMalformed(
  file: string,
  place: { readonly line: number; readonly column: number } | null,
  reason: string,
  hint = shapeHint,
): PatchbayError {
  const where = place === null ? file : `${file}, line ${place.line}, column ${place.column}`;
  return new PatchbayError('usage', 'workspaceFileMalformed', `${where}: ${reason}`, {
    facts: { file, line: place?.line ?? null, column: place?.column ?? null },
    hint,
  });
}

export function fileNewer(file: string, format: number, known: number): PatchbayError {
  const message = `${file} has format ${format}; this program knows ${known}`;
  return new PatchbayError('usage', 'workspaceFileNewer', message, {
    facts: { file, format, known },
    hint: 'Load it with the newer program.',
  });
}

export function fileChanged(file: string): PatchbayError {
  return new PatchbayError('usage', 'workspaceFileChanged', `${file} changed while it was read`, {
    facts: { file },
    hint: 'Load it again when no program writes to it.',
  });
}

/** An error of reading, in terms of the path that the user named. */
export function readFailure(file: string, error: unknown): PatchbayError {
  if (error instanceof PatchbayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return fileUnreadable(file, 'it is not there', 'Check the path.', error);
  if (code === 'EISDIR') return fileUnreadable(file, 'it is a folder', 'Name a file.', error);
  if (code === 'EACCES' || code === 'EPERM') {
    return fileUnreadable(file, 'this user may not read it', 'Change its owner or its mode.', error);
  }
  if (code === 'Z_BUF_ERROR') {
    return fileUnreadable(file, 'its gzip data ends in the middle', 'Copy it again: a part is missing.', error);
  }
  if (code.startsWith('Z_')) return fileUnreadable(file, 'its gzip data is damaged', 'Copy it again.', error);
  return fileUnreadable(file, messageOf(error), 'Check the file and its disk.', error);
}
