/**
 * The query of list contacts. 4.5, its parameters: not shown. They are those of `facts.md` ("List contacts").
 *
 * Only the repeated plain key is a filter: `externalIds[]=a` is an unknown parameter, and those are ignored. Of a
 * parameter that takes one value, the first counts.
 */
import { badRequest, type RequestProblem } from '../http/refusal.ts';
import { decodePageToken } from '../page-token.ts';
import { fieldLimits, lengthOf } from './field-schemas.ts';

export interface ContactListQuery {
  /** Null: not filtered. Several are alternatives. */
  readonly externalIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly maxResults: number;
  readonly afterSeq: number;
}

const externalIdsMax = 20;
const maxResultsMax = 50;
const maxResultsDefault = 10;

/** Throws `Refusal` 400. */
export function parseContactListQuery(query: URLSearchParams): ContactListQuery {
  const externalIds = query.getAll('externalIds');
  const sources = query.getAll('sources');
  const maxResults = query.get('maxResults');
  const problems = [
    ...lengthProblems('externalIds', externalIds, fieldLimits.externalIdLengthMax),
    ...lengthProblems('sources', sources, fieldLimits.sourceLengthMax),
  ];
  if (externalIds.length > externalIdsMax) {
    problems.push({ path: 'externalIds', message: `must be at most ${externalIdsMax}`, type: 'array' });
  }
  if (maxResults !== null && !isPageSize(maxResults)) {
    problems.push({ path: 'maxResults', message: `must be a number from 1 to ${maxResultsMax}`, type: 'integer' });
  }
  if (problems.length > 0) throw badRequest(problems);
  return {
    externalIds: externalIds.length > 0 ? externalIds : null,
    sources: sources.length > 0 ? sources : null,
    maxResults: maxResults === null ? maxResultsDefault : Number(maxResults),
    afterSeq: decodePageToken('contacts', query.get('pageToken')),
  };
}

function lengthProblems(name: string, values: readonly string[], lengthMax: number): RequestProblem[] {
  return values.flatMap((value, index) =>
    value.length > 0 && lengthOf(value) <= lengthMax
      ? []
      : [{ path: `${name}.${index}`, message: `must be 1 to ${lengthMax} characters long` }],
  );
}

function isPageSize(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= maxResultsMax;
}
