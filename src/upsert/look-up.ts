/**
 * Looks up many keys, and finds those that spoil the look-up for all others.
 *
 * A page full of strangers means that the service ignores the filter (`facts.md`, "array encoding"): nothing of it is used.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Contact } from '#src/wire/contact.ts';
import { lookUpChunks } from '#src/workspace/look-up-chunks.ts';
import type { CallOptions, Workspace } from '#src/workspace/port.ts';

export interface FoundContacts {
  /** Keys whose look-up fails by itself, while that of others passes. */
  readonly failures: ReadonlyMap<string, PatchbayError>;
  readonly contacts: readonly Contact[];
  /** Monotonic: the oldest possible moment of the reads. */
  readonly readAtMs: number;
}

/** @throws PatchbayError as reads do; `unreachable` `strangersReturned`. */
export async function lookUp(
  workspace: Workspace,
  keys: readonly string[],
  options: CallOptions,
): Promise<FoundContacts> {
  const wanted = new Set(keys);
  const contacts: Contact[] = [];
  let readAtMs = Number.POSITIVE_INFINITY;
  const failures = new Map<string, PatchbayError>();
  const take = async (piece: readonly string[]): Promise<void> => {
    const result = await workspace.listByExternalIds(piece, options);
    contacts.push(...result.contacts);
    readAtMs = Math.min(readAtMs, result.readAtMs);
  };
  for (const piece of lookUpChunks(keys)) {
    try {
      await take(piece);
    } catch (error) {
      const [only] = piece;
      if (!isAboutTheAnswer(error) || only === undefined) throw error;
      if (piece.length > 1) await lookUpOneByOne(piece, take, failures);
      else if (error.kind === 'rejected') failures.set(only, error);
      else throw error;
    }
  }
  const strangers = contacts.filter((contact) => contact.externalId === null || !wanted.has(contact.externalId)).length;
  if (strangers > 0 && strangers === contacts.length) {
    throw new PatchbayError(
      'unreachable',
      'strangersReturned',
      'the service answered a look-up by externalId with nothing but other contacts: it seems to ignore the filter',
      { facts: { strangers, keys: keys.length } },
    );
  }
  return { contacts, readAtMs, failures };
}

/** The service answers, and what it answers is of no use: perhaps because of one key only. */
function isAboutTheAnswer(error: unknown): error is PatchbayError {
  if (!(error instanceof PatchbayError)) return false;
  return error.kind === 'rejected' || error.code === 'serviceFailing' || error.code === 'serviceAnswersOddly';
}

/** So many keys in a row that fail while none has passed mean that it is the service. */
const failuresInARowMax = 3;

/**
 * Finds the keys that spoil a look-up for all others (`rules.md`, "Retries, rate, outages": `exhausted` kills a row only while
 * other requests succeed).
 * @throws the first failure, where none of the keys passes.
 */
async function lookUpOneByOne(
  keys: readonly string[],
  take: (piece: readonly string[]) => Promise<void>,
  failures: Map<string, PatchbayError>,
): Promise<void> {
  let passed = 0;
  let first: PatchbayError | null = null;
  for (const key of keys) {
    try {
      await take([key]);
      passed += 1;
    } catch (error) {
      if (!isAboutTheAnswer(error)) throw error;
      first ??= error;
      failures.set(key, error);
      if (passed === 0 && failures.size >= failuresInARowMax) break;
    }
  }
  if (passed === 0 && first !== null) throw first;
}
