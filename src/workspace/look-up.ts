/**
 * Looks up many keys, and separates problems of one key from problems of the service.
 *
 * A look-up that fails does not show which of the two it is. So a *control key*, which no contact has, shows whether the
 * service answers at all, and then each key is looked up by itself (`docs/rules.md`, "Retries, rate, outages": `exhausted` rejects
 * a row only while other requests succeed).
 *
 * The keys are sent as a repeated plain parameter, `externalIds=a&externalIds=b`: the service reads a comma list as one id,
 * and ignores brackets and returns other contacts (`docs/facts.md`, "List contacts"). Invariant: an answer with nothing but other
 * contacts is never used, since the service then ignores the filter.
 */
import { invariant, PatchbayError } from '#src/errors.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type CallOptions, keysPerLookUpMax, type LookUp, type Workspace } from './port.ts';

type Lists = Pick<Workspace, 'listByExternalIds'>;

/** The cheapest request that needs a working API key and a service that filters. */
const controlKey = 'patchbay-probe';

interface FoundContacts {
  /** Keys whose own look-up fails, while those of others succeed. */
  readonly failures: ReadonlyMap<string, PatchbayError>;
  /** Other contacts may be among them: the caller compares `externalId` exactly. */
  readonly contacts: readonly Contact[];
  /** Monotonic: the earliest possible moment of the reads; infinite if none succeeded. */
  readonly readAtMs: number;
}

/** Any number of keys. @throws PatchbayError as reads do (`port.ts`) if the service fails; `unreachable` `strangersReturned`. */
export async function lookUpKeys(
  workspace: Lists,
  keys: readonly string[],
  options: CallOptions = {},
): Promise<FoundContacts> {
  const contacts: Contact[] = [];
  const failures = new Map<string, PatchbayError>();
  let readAtMs = Number.POSITIVE_INFINITY;
  // Ends: a piece is split into single keys, and a single key is not split again.
  const take = async (piece: readonly string[]): Promise<void> => {
    try {
      const found = await listWithoutStrangers(workspace, piece, options);
      contacts.push(...found.contacts);
      readAtMs = Math.min(readAtMs, found.readAtMs);
    } catch (error) {
      if (!isAboutTheAnswer(error)) throw error;
      // After each failure: a success also resets the breaker, so that two bad keys in sequence do not open it.
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
 * Whether a read failed because of the contact that was read: the service answers other requests.
 * @throws what the control look-up throws.
 */
export async function isAboutOneContact(workspace: Lists, error: unknown, options: CallOptions): Promise<boolean> {
  // A contact that this key may not read is refused like the key itself.
  const isRefused = error instanceof PatchbayError && error.code === 'keyRefused';
  if (!isRefused && !isAboutTheAnswer(error)) return false;
  await askControlKey(workspace, options);
  return true;
}

/** One look-up that succeeds if service and API key are in order. @throws as `lookUpKeys`. */
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
    'the service answered a look-up by externalId with other contacts only: it seems to ignore the filter',
    { facts: { strangers: found.contacts.length, keys: keys.length } },
  );
}

const codesOfAnswers: ReadonlySet<string> = new Set(['serviceFailing', 'serviceAnswersOddly']);

/** The service answers with an error or an unusable reply, perhaps because of one key only. */
function isAboutTheAnswer(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && (error.kind === 'rejected' || codesOfAnswers.has(error.code));
}

/** Of the query, without the page token. */
const lookUpQueryBytesMax = 4_096;

/** The largest page (`docs/facts.md`, "List contacts"). */
export const pageSize = 'maxResults=50';

/**
 * The query without its question mark. Throws a `bug` for no or more than 20 keys, more than 4 KB, or a key
 * with lone surrogates.
 */
export function lookUpQuery(keys: readonly string[], pageToken: string | null): string {
  invariant(keys.length >= 1 && keys.length <= keysPerLookUpMax, 'a look-up takes 1 to 20 keys', {
    keyCount: keys.length,
  });
  const query = [...keys.map(keyPart), pageSize].join('&');
  invariant(query.length <= lookUpQueryBytesMax, 'the query of a look-up fits 4 KB', { bytes: query.length });
  return pageToken === null ? query : `${query}&pageToken=${encodeURIComponent(pageToken)}`;
}

/** Splits the list, in order, into as few pieces as possible with at most 20 keys and 4 KB each. Duplicates are kept. */
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

/** Percent-encoded text is ASCII, so its length is its size in bytes. A space is `%20`, since `+` is ambiguous. */
function keyPart(key: string): string {
  invariant(key.isWellFormed(), 'a key is well-formed text');
  return `externalIds=${encodeURIComponent(key)}`;
}
