/**
 * Looks up one chunk of keys and says of each how many contacts have it.
 *
 * What the service returns is compared exactly: a service that ignores the filter answers with strangers, and then the
 * chunk tells nothing (`facts.md`, "array encoding").
 */
import { matchByKey } from '#src/contacts/match-key.ts';
import { PatchbayError } from '#src/errors.ts';
import type { NewFinding } from '#src/ledger/audit-record.ts';
import type { CallOptions, LookUp } from '#src/workspace/port.ts';
import type { AuditParts } from './parts.ts';

type FoundContact = LookUp['contacts'][number];

interface Look {
  readonly contacts: readonly FoundContact[];
  /** Keys that fail by themselves while others pass, with the error's code. */
  readonly failures: ReadonlyMap<string, string>;
}

/** So many keys in a row that fail while none has passed mean that it is the service. */
const failuresInARowMax = 3;

/**
 * At most 20 keys and 4 KB of query (`lookUpChunks`).
 * @returns what is not as it should be.
 * @throws as reads do (`workspace/port.ts`); `unreachable` `strangersReturned`.
 */
export async function checkKeys(
  { ledger, workspace }: AuditParts,
  keys: readonly string[],
  options: CallOptions,
): Promise<readonly NewFinding[]> {
  const { contacts, failures } = await look(workspace, keys, options);
  const known = await ledger.contacts.get(keys);
  const findings: NewFinding[] = [];
  for (const key of keys) {
    const code = failures.get(key);
    if (code !== undefined) {
      findings.push({ key, kind: 'unchecked', contacts: [], code });
      continue;
    }
    const match = matchByKey(key, contacts);
    if (match.kind === 'conflict') {
      findings.push({ key, kind: 'duplicate', contacts: match.ids.map((id) => describe(contacts, id)), code: null });
    } else if (match.kind === 'none') {
      const boundTo = known.get(key)?.contactId ?? null;
      if (boundTo !== null && !(await isListedLate(workspace, key, boundTo, options)))
        findings.push({ key, kind: 'missing', contacts: [], code: null });
    }
  }
  return findings;
}

/** A contact may be there although no list shows it yet. */
async function isListedLate(
  workspace: AuditParts['workspace'],
  key: string,
  contactId: string,
  options: CallOptions,
): Promise<boolean> {
  const contact = await workspace.getContact(contactId, options);
  return contact?.externalId === key;
}

function describe(contacts: readonly FoundContact[], id: string): NewFinding['contacts'][number] {
  const found = contacts.find((contact) => contact.id === id);
  return { id, createdAt: found?.createdAt ?? null, source: found?.source ?? null };
}

async function look(workspace: AuditParts['workspace'], keys: readonly string[], options: CallOptions): Promise<Look> {
  try {
    const { contacts } = await workspace.listByExternalIds(keys, options);
    return { contacts: withoutStrangers(keys, contacts), failures: new Map() };
  } catch (error) {
    if (!isAboutTheAnswer(error)) throw error;
    return await lookOneByOne(workspace, keys, options);
  }
}

/** Finds the keys that spoil a look-up for all others. @throws the first failure, where none of the keys passes. */
async function lookOneByOne(
  workspace: AuditParts['workspace'],
  keys: readonly string[],
  options: CallOptions,
): Promise<Look> {
  const all: FoundContact[] = [];
  const failures = new Map<string, string>();
  let passed = 0;
  let first: unknown = null;
  for (const key of keys) {
    try {
      const { contacts } = await workspace.listByExternalIds([key], options);
      all.push(...withoutStrangers([key], contacts));
      passed += 1;
    } catch (error) {
      if (!isAboutTheAnswer(error)) throw error;
      first ??= error;
      failures.set(key, error.code);
      if (passed === 0 && failures.size >= failuresInARowMax) break;
    }
  }
  // A chunk of one key that the service refuses as such: there are no others that could pass.
  const alone = keys.length === 1 && first instanceof PatchbayError && first.kind === 'rejected';
  if (passed === 0 && first !== null && !alone) throw first;
  return { contacts: all, failures };
}

function withoutStrangers(keys: readonly string[], contacts: readonly FoundContact[]): readonly FoundContact[] {
  const wanted = new Set<string | null>(keys);
  const own = contacts.filter((contact) => wanted.has(contact.externalId));
  if (contacts.length > 0 && own.length === 0) {
    throw new PatchbayError(
      'unreachable',
      'strangersReturned',
      'the service answered a look-up by externalId with nothing but other contacts: it seems to ignore the filter',
      { facts: { strangers: contacts.length, keys: keys.length } },
    );
  }
  return own;
}

/** The service answers, and what it answers is of no use: perhaps because of one key only. */
function isAboutTheAnswer(error: unknown): error is PatchbayError {
  if (!(error instanceof PatchbayError)) return false;
  return error.kind === 'rejected' || error.code === 'serviceFailing' || error.code === 'serviceAnswersOddly';
}
