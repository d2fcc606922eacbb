/**
 * The query of list contacts. 4.5, its parameters: not shown. They are those of `facts.md` ("List contacts").
 *
 * Only the repeated plain key is a filter: `externalIds[]=a` is an unknown parameter, and those are ignored.
 */
import { z } from 'zod';
import { checkQuery } from '../http/check-query.ts';
import type { PageTokens } from '../paging/page-token.ts';
import { boundedText } from '../text-schemas.ts';
import { fieldLimits } from './field-schemas.ts';

export interface ContactListQuery {
  /** Null: not filtered. Several are alternatives. */
  readonly externalIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly maxResults: number;
  readonly afterSeq: number;
}

const externalIdsMax = 20;
/** 4.5, how many sources: not shown. As many as externalIds: each costs a look into the index. */
const sourcesMax = 20;
const maxResultsMax = 50;
const maxResultsDefault = 10;

export const contactListQuerySchema = z.object({
  externalIds: z
    .array(boundedText(fieldLimits.externalIdLengthMax))
    .max(externalIdsMax, { error: `must hold at most ${externalIdsMax} ids` })
    .meta({
      description: 'Contacts that have one of these externalIds. Compare the externalId of every contact you get.',
    })
    .optional(),
  sources: z
    .array(boundedText(fieldLimits.sourceLengthMax))
    .max(sourcesMax, { error: `must hold at most ${sourcesMax} sources` })
    .meta({ description: 'Contacts that have one of these sources; with externalIds, both must hold.' })
    .optional(),
  maxResults: z
    .int()
    .min(1, { error: `must be a number from 1 to ${maxResultsMax}` })
    .max(maxResultsMax, { error: `must be a number from 1 to ${maxResultsMax}` })
    .default(maxResultsDefault)
    .meta({ description: 'The most contacts of one page.' }),
  pageToken: z
    .string()
    .meta({ description: 'The nextPageToken of the page before. Send the filters with it again.' })
    .optional(),
});

/** Throws `Refusal` 400. */
export function parseContactListQuery(query: URLSearchParams, pageTokens: PageTokens): ContactListQuery {
  const { externalIds, sources, maxResults, pageToken } = checkQuery(contactListQuerySchema, query);
  return {
    externalIds: externalIds ?? null,
    sources: sources ?? null,
    maxResults,
    afterSeq: pageTokens.readSeq('contacts', pageToken ?? null),
  };
}
