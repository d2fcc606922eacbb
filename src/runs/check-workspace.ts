/**
 * A ledger belongs to one workspace (`rules.md`, "Workspace, feed, key"): what it remembers of contacts is true of that
 * one only. When origin or key changed, something that the ledger knows must be there; else nothing is done.
 */
import { createHash } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { lookUpChunks } from '#src/workspace/look-up-chunks.ts';
import type { Workspace } from '#src/workspace/port.ts';

export interface WorkspaceIdentity {
  /** `sandbox`, or the service's origin. */
  readonly origin: string;
  readonly apiKey: string;
  /** A person says that it is the same workspace. */
  readonly sameWorkspace: boolean;
}

/** As many contacts are looked for as one look-up takes. */
const sampleMax = 20;

/**
 * Checks, and binds the ledger to what is there now.
 * @throws PatchbayError `usage` `otherWorkspace`; `auth`, `unreachable` from the service.
 */
export async function checkWorkspace(ledger: Ledger, workspace: Workspace, identity: WorkspaceIdentity): Promise<void> {
  const phoneNumberIds = (await workspace.listPhoneNumberIds()) ?? [];
  const keyHash = createHash('sha256').update(`${ledger.id} ${identity.apiKey}`).digest('hex').slice(0, 32);
  const known = await ledger.binding();
  const changed = known !== null && (known.origin !== identity.origin || known.keyHash !== keyHash);
  if (changed && !identity.sameWorkspace && !(await isSame(ledger, workspace, known.phoneNumberIds, phoneNumberIds))) {
    throw new PatchbayError(
      'usage',
      'otherWorkspace',
      known.origin === identity.origin
        ? 'this key opens another workspace than the one that the data folder belongs to'
        : `the data folder belongs to the workspace at ${known.origin}, and ${identity.origin} is another one`,
      {
        facts: { known: known.origin, given: identity.origin },
        hint: 'Use another data folder (--data DIR) for this workspace. If it is the same one all the same, say --same-workspace once.',
      },
    );
  }
  await ledger.bind({ origin: identity.origin, keyHash, phoneNumberIds });
}

/** Phone numbers tell; where the workspace had none, contacts that we made do. A ledger that knows nothing may be bound anew. */
async function isSame(
  ledger: Ledger,
  workspace: Workspace,
  knownIds: readonly string[],
  idsNow: readonly string[],
): Promise<boolean> {
  if (knownIds.length > 0) return knownIds.some((id) => idsNow.includes(id));
  const sample = await ledger.contacts.sampleBound(sampleMax);
  if (sample.length === 0) return true;
  for (const keys of lookUpChunks(sample.map((one) => one.key))) {
    const { contacts } = await workspace.listByExternalIds(keys);
    if (contacts.some((contact) => sample.some((one) => one.contactId === contact.id))) return true;
  }
  return false;
}
