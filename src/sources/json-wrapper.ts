/**
 * Which member of a JSON document holds its records, where the document is an object around a list.
 *
 * `data`, `results` and `records` are known. Under another name a list of objects is taken if it is the only one, so
 * `{"contacts": […]}` and `{"items": […], "total": 2}` are read, and a file with contacts and companies is not guessed at.
 * This needs a look at all members, which is a pass of its own over the file; it ends at a known name.
 */
import { createDocumentScanner } from '#src/json/document-scanner.ts';
import { JsonError } from '#src/json/place.ts';
import type { SourceLimits } from './format-reader.ts';

export const knownWrappers: ReadonlySet<string> = new Set(['data', 'results', 'records']);

/** Lists of a single contact, or about the answer, which hold objects but no contacts. Compared in lower case, letters only. */
const neverRecords: ReadonlySet<string> = new Set([
  ...[
    'emails',
    'emailaddresses',
    'mails',
    'phones',
    'phonenumbers',
    'telephones',
    'numbers',
    'addresses',
    'urls',
    'websites',
  ],
  ...[
    'customfields',
    'tags',
    'labels',
    'categories',
    'groups',
    'organizations',
    'organisations',
    'names',
    'attributes',
  ],
  ...['errors', 'warnings', 'messages', 'notices', 'links', 'fields', 'columns', 'properties', 'schema', 'filters'],
]);

export interface Wrapper {
  /** The member that holds the records; null where the root is a list, or no single member is known to. */
  readonly name: string | null;
  /** Several lists of objects, of which none is known to be the one. */
  readonly rivals: readonly string[];
}

const noWrapper: Wrapper = { name: null, rivals: [] };
/** A document with more lists is refused with these. */
const candidatesMax = 50;
const namesMax = 500;

/** Ends the pass early. */
class Found extends Error {}

/**
 * Reads the text until it is known. Text that is no JSON has no wrapper here: the reader says what is wrong with it.
 * @param isContact whether an object with these members is a contact by itself: its lists are its own.
 */
export async function findWrapper(
  text: AsyncGenerator<string>,
  limits: Pick<SourceLimits, 'recordBytesMax' | 'jsonDepthMax'>,
  isContact: (names: readonly string[]) => boolean,
): Promise<Wrapper> {
  const search = createSearch(limits);
  const encoder = new TextEncoder();
  try {
    for await (const chunk of text) search.write(encoder.encode(chunk));
    search.end();
  } catch (error) {
    if (!(error instanceof Found || error instanceof JsonError)) throw error;
    if (error instanceof JsonError) return noWrapper;
  } finally {
    await text.return(undefined);
  }
  return search.wrapper(isContact);
}

function createSearch({ recordBytesMax, jsonDepthMax }: Pick<SourceLimits, 'recordBytesMax' | 'jsonDepthMax'>) {
  const names: string[] = [];
  const ofObjects: string[] = [];
  const empty: string[] = [];
  let known: string | null = null;
  let member = '';
  let itemCount = 0;
  let isOpen = false;

  const closeMember = (): void => {
    if (isOpen && itemCount === 0 && empty.length < candidatesMax) empty.push(member);
    isOpen = false;
  };
  const scanner = createDocumentScanner(
    {
      onRoot: (kind) => {
        if (kind !== 'object') throw new Found();
      },
      onMember: ({ name, kind }) => {
        closeMember();
        if (names.length < namesMax) names.push(name);
        if (kind !== 'list') return { as: 'value', keep: 'skip' };
        if (knownWrappers.has(name)) {
          known = name;
          throw new Found();
        }
        member = name;
        itemCount = 0;
        isOpen = true;
        return { as: 'records', keep: 'drop' };
      },
      onRecord: ({ bytes, isDropped }, index) => {
        itemCount = index + 1;
        const isObject = isDropped || bytes[0] === 0x7b;
        if (index === 0 && isObject && ofObjects.length < candidatesMax) ofObjects.push(member);
      },
      onValue: () => undefined,
      onEnd: closeMember,
    },
    { valueBytesMax: recordBytesMax, depthMax: jsonDepthMax },
  );
  return {
    write: scanner.write,
    end: () => void scanner.end(),
    wrapper: (isContact: (names: readonly string[]) => boolean): Wrapper => {
      if (known !== null) return { name: known, rivals: [] };
      if (isContact(names)) return noWrapper;
      const lists = ofObjects.some(mayHoldRecords) ? ofObjects : empty;
      const candidates = lists.filter(mayHoldRecords);
      const [only] = candidates;
      if (only === undefined) return noWrapper;
      return candidates.length === 1 ? { name: only, rivals: [] } : { name: null, rivals: candidates };
    },
  };
}

/** Whether a list of that name may be one of contacts. */
export function mayHoldRecords(name: string): boolean {
  return !neverRecords.has(name.toLowerCase().replace(/[^a-z]/g, ''));
}
