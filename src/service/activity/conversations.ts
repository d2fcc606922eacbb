/**
 * The query that list calls and list messages share (4.5, their parameters: not shown; those of `docs/facts.md`, "Calls,
 * recordings, messages").
 *
 * `createdAfter` and `createdBefore` leave out the instant itself: "after" and "before" are meant literally. `since`
 * behaves as `createdBefore` (section 9, 1.0.0); where both are given, the earlier counts.
 */
import { z } from 'zod';
import { createContactIds } from '#src/service/contacts/contact-changes.ts';
import { badRequest, type DeprecatedUse, type Refusal } from '#src/service/http/refusal.ts';
import type { PathId } from '#src/service/operations/operation.ts';
import { lowerPlace, type Place, placeBefore } from '#src/service/paging.ts';

const maxResultsMax = 100;
const maxResultsDefault = 10;
const maxResultsProblem = { error: `must be a number from 1 to ${maxResultsMax}` };

const instant = z.iso.datetime({
  offset: true,
  error:
    'must be a date and time with an offset, as 2026-11-21T14:00:00Z (in an address that is written by hand, a plus is %2B)',
});

/** One of the others, E.164 (section 7). A plus that is not escaped arrives as a space: the commonest slip. */
export const queryParticipant = z.string().regex(/^\+[1-9]\d{1,14}$/, {
  error: ({ input }) =>
    input === ''
      ? 'is empty; it must be a phone number in E.164 format'
      : 'must be in E.164 format, as +14155550100 (in an address that is written by hand, its plus is %2B)',
});

export const conversationQueryShape = {
  phoneNumberId: z
    .string()
    .regex(/^PN/, { error: 'must begin with PN' })
    .meta({ description: 'The phone number of this workspace.', examples: ['PNa1b2c3d4e5'] }),
  createdAfter: instant
    .meta({ description: 'Only what was created after this instant, itself not included.' })
    .optional(),
  createdBefore: instant
    .meta({ description: 'Only what was created before this instant, itself not included.' })
    .optional(),
  since: instant
    .meta({
      deprecated: true,
      description: 'Deprecated. It behaves as createdBefore (section 9): use createdAfter or createdBefore.',
    })
    .optional(),
  maxResults: z
    .int()
    .min(1, maxResultsProblem)
    .max(maxResultsMax, maxResultsProblem)
    .default(maxResultsDefault)
    .meta({ description: 'The most items of one page.' }),
  pageToken: z
    .string()
    .meta({ description: 'The nextPageToken of the page before. Send the other parameters with it again.' })
    .optional(),
};

/** The user filter; what is meant without it differs. */
export function userFilter(about: string) {
  return z.string().regex(/^US/, { error: 'must begin with US' }).meta({ description: about }).optional();
}

interface TimeParameters {
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly since?: string | undefined;
}

interface TimeWindow {
  /** -1: from the beginning. */
  readonly createdAfterMs: number;
  readonly below: Place;
}

/** What is left of the listing below a place. */
export function timeWindow({ createdAfter, createdBefore, since }: TimeParameters, place: Place): TimeWindow {
  const below = [createdBefore, since].reduce(
    (lowest, bound) => (bound === undefined ? lowest : lowerPlace(lowest, placeBefore(Date.parse(bound)))),
    place,
  );
  return {
    createdAfterMs: createdAfter === undefined ? -1 : Date.parse(createdAfter),
    below,
  };
}

/** Every reply says it, also one that refuses the rest of the query. */
export function deprecatedInListing(query: URLSearchParams): readonly DeprecatedUse[] {
  if (!query.has('since')) return [];
  return [{ name: 'since', instead: 'it behaves as createdBefore; use createdAfter or createdBefore' }];
}

/** The window that a listing under the fault `strangers` has: everything below the place. */
export function wholeWindow(place: Place): TimeWindow {
  return { createdAfterMs: -1, below: place };
}

/** The identifier of a call or a message in a path, under the name that the public description gives it there. */
export function activityPathId(name: 'callId' | 'id', about: string): PathId {
  const schema = z
    .string()
    .regex(/^AC/, { error: 'must begin with AC' })
    .meta({ description: about, examples: ['AC019aa6f3c1d20000a1b2c3d4'] });
  return { name, schema };
}

/** The refusal of such an identifier, for the description of its operation. */
export function noActivityId({ name }: PathId): Refusal {
  return badRequest([{ path: name, message: 'must begin with AC', type: 'string' }]);
}

// Ids of calls and messages: `AC` and 24 hex digits, in the order of their making (`docs/facts.md`, "ids": both begin with
// `AC`).

/** Answers the next id for an instant in milliseconds since 1970. */
export type NextActivityId = (atMs: number) => string;

export function createActivityIds(): NextActivityId {
  const nextDigits = createContactIds();
  return (atMs) => `AC${nextDigits(atMs)}`;
}
