/**
 * Looks up many keys, and tells trouble with one key from trouble with the service.
 *
 * A look-up that the service answers with an error says nothing about whose fault it is. So a *control key*, which no
 * contact has, shows whether the service answers anything at all, and then each key is asked for by itself (`rules.md`,
 * "Retries, rate, outages": `exhausted` kills a row only while other requests succeed).
 *
 * Invariant: an answer that holds nothing but strangers is never used: the service ignores the filter (`facts.md`, "array
 * encoding").
 */
import { invariant, PatchbayError } from '#src/errors.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { CallOptions, LookUp, Workspace } from './port.ts';

type Lists = Pick<Workspace, 'listByExternalIds'>;

/** The cheapest question that needs a working key and a service that filters. */
const controlKey = 'patchbay-probe';

interface FoundContacts {
  /** Keys whose look-up fails by itself, while that of others passes. */
  readonly failures: ReadonlyMap<string, PatchbayError>;
  /** Strangers may be among them: the caller compares `externalId` exactly. */
  readonly contacts: readonly Contact[];
  /** Monotonic: the oldest possible moment of the reads; infinite where none passed. */
  readonly readAtMs: number;
}

/** Any number of keys. @throws PatchbayError as reads do (`port.ts`), where it is the service; `unreachable` `strangersReturned`. */
export async function lookUpKeys(
  workspace: Lists,
  keys: readonly string[],
  options: CallOptions = {},
): Promise<FoundContacts> {
  const contacts: Contact[] = [];
  const failures = new Map<string, PatchbayError>();
  let readAtMs = Number.POSITIVE_INFINITY;
  // Ends: a piece is cut into single keys, and a single key is not cut again.
  const take = async (piece: readonly string[]): Promise<void> => {
    try {
      const found = await listWithoutStrangers(workspace, piece, options);
      contacts.push(...found.contacts);
      readAtMs = Math.min(readAtMs, found.readAtMs);
    } catch (error) {
      if (!isAboutTheAnswer(error)) throw error;
      // After each failure: its answer also ends the row of failures, and two bad keys side by side open no breaker.
      await askControlKey(workspace, options);
      const [only, ...others] = piece;
      if (only !== undefined && others.length === 0) failures.set(only, error);
      else for (const key of piece) await take([key]);
    }
  };
  for (const piece of lookUpChunks(keys)) await take(piece);
  return { contacts, readAtMs, failures };
}

/**
 * Whether a read that failed is about what was asked for: the service answers, and answers something else well.
 * @throws what the control look-up throws.
 */
export async function isAboutOneContact(workspace: Lists, error: unknown, options: CallOptions): Promise<boolean> {
  // A contact that this key may not see is refused like the key itself.
  const isRefused = error instanceof PatchbayError && error.code === 'keyRefused';
  if (!isRefused && !isAboutTheAnswer(error)) return false;
  await askControlKey(workspace, options);
  return true;
}

/** One look-up that passes where service and API key are in order. @throws as `lookUpKeys`. */
export async function askControlKey(workspace: Lists, options: CallOptions): Promise<void> {
  await listWithoutStrangers(workspace, [controlKey], options);
}

async function listWithoutStrangers(workspace: Lists, keys: readonly string[], options: CallOptions): Promise<LookUp> {
  const found = await workspace.listByExternalIds(keys, options);
  const wanted = new Set<string | null>(keys);
  const isStrange = found.contacts.length > 0 && !found.contacts.some((contact) => wanted.has(contact.externalId));
  if (!isStrange) return found;
  throw new PatchbayError(
    'unreachable',
    'strangersReturned',
    'the service answered a look-up by externalId with nothing but other contacts: it seems to ignore the filter',
    { facts: { strangers: found.contacts.length, keys: keys.length } },
  );
}

const codesOfAnswers: ReadonlySet<string> = new Set(['serviceFailing', 'serviceAnswersOddly']);

/** The service answers, and what it answers is of no use: perhaps because of one key only. */
function isAboutTheAnswer(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && (error.kind === 'rejected' || codesOfAnswers.has(error.code));
}

// The query of a look-up by external ids, and how a long list is cut so that each call fits.
//
// The array is sent as a repeated plain key, `externalIds=a&externalIds=b`: a comma list is read as one id, and
// brackets are ignored and answered with strangers (`facts.md`, "List contacts").

/** More than 20 ids answer 400 (`facts.md`). */
export const keysPerLookUpMax = 20;
/** Of the query without the page token. */
const lookUpQueryBytesMax = 4_096;

const pageSize = 'maxResults=50';

/**
 * The query without its question mark. Throws a `bug` for none or more than 20 keys, more than 4 KB, or a key that is
 * no well-formed text.
 */
export function lookUpQuery(keys: readonly string[], pageToken: string | null): string {
  invariant(keys.length >= 1 && keys.length <= keysPerLookUpMax, 'a look-up takes 1 to 20 keys', {
    keyCount: keys.length,
  });
  const query = [...keys.map(keyPart), pageSize].join('&');
  invariant(query.length <= lookUpQueryBytesMax, 'the query of a look-up fits 4 KB', { bytes: query.length });
  return pageToken === null ? query : `${query}&pageToken=${encodeURIComponent(pageToken)}`;
}

/** Cuts the list, in order, into as few pieces as fit 20 keys and 4 KB each. Duplicates are kept. */
export function lookUpChunks(keys: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let chunk: string[] = [];
  let bytes = pageSize.length;
  for (const key of keys) {
    const keyBytes = keyPart(key).length + 1;
    if (chunk.length > 0 && (chunk.length === keysPerLookUpMax || bytes + keyBytes > lookUpQueryBytesMax)) {
      chunks.push(chunk);
      chunk = [];
      bytes = pageSize.length;
    }
    chunk.push(key);
    bytes += keyBytes;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Percent-encoding leaves only ASCII, so its length is its bytes. A space is `%20`, since `+` is read both ways. */
function keyPart(key: string): string {
  invariant(key.isWellFormed(), 'a key is well-formed text');
  return `externalIds=${encodeURIComponent(key)}`;
}
