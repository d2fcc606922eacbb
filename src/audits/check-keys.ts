/**
 * Looks up one chunk of keys and says of each how many contacts have it.
 *
 * What the service returns is compared exactly: a service that ignores the filter answers with strangers, and then the
 * chunk tells nothing (`facts.md`, "array encoding"). A key whose read fails while others pass stays unchecked; the
 * audit goes on.
 */
import { matchByKey } from '#src/contacts/match-key.ts';
import { PatchbayError } from '#src/errors.ts';
import type { NewFinding } from '#src/ledger/audit-record.ts';
import { isAboutOneContact, lookUpKeys } from '#src/workspace/look-up.ts';
import type { CallOptions, LookUp } from '#src/workspace/port.ts';
import type { AuditParts } from './parts.ts';

type FoundContact = LookUp['contacts'][number];

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
  const { contacts, failures } = await lookUpKeys(workspace, keys, options);
  const known = await ledger.contacts.get(keys);
  const findings: NewFinding[] = [];
  for (const key of keys) {
    const failure = failures.get(key);
    if (failure !== undefined) {
      findings.push(unchecked(key, failure));
      continue;
    }
    const match = matchByKey(key, contacts);
    if (match.kind === 'conflict') {
      findings.push({ key, kind: 'duplicate', contacts: match.ids.map((id) => describe(contacts, id)), code: null });
    } else if (match.kind === 'none') {
      const boundTo = known.get(key)?.contactId ?? null;
      const finding = boundTo === null ? null : await lookByItsId(workspace, key, boundTo, options);
      if (finding !== null) findings.push(finding);
    }
  }
  return findings;
}

/** A contact may be there although no list shows it yet: null then. */
async function lookByItsId(
  workspace: AuditParts['workspace'],
  key: string,
  contactId: string,
  options: CallOptions,
): Promise<NewFinding | null> {
  try {
    const contact = await workspace.getContact(contactId, options);
    return contact?.externalId === key ? null : { key, kind: 'missing', contacts: [], code: null };
  } catch (error) {
    if (!(error instanceof PatchbayError && (await isAboutOneContact(workspace, error, options)))) throw error;
    return unchecked(key, error);
  }
}

function unchecked(key: string, { code }: PatchbayError): NewFinding {
  return { key, kind: 'unchecked', contacts: [], code };
}

function describe(contacts: readonly FoundContact[], id: string): NewFinding['contacts'][number] {
  const found = contacts.find((contact) => contact.id === id);
  return { id, createdAt: found?.createdAt ?? null, source: found?.source ?? null };
}
