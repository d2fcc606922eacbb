/**
 * A ledger belongs to one workspace (`rules.md`, "Workspace, feed, key"): what it remembers of contacts is true of that
 * one only. When origin or key changed, something that the ledger knows must be there; else nothing is done.
 */
import { createHash } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { askControlKey, lookUpChunks } from '#src/workspace/look-up.ts';
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
 * Checks, and binds the ledger to what is there now. A list of phone numbers that cannot be read is the trouble of
 * snapshots alone: where nothing else is in doubt, work goes on.
 * @throws PatchbayError `usage` `otherWorkspace`; `auth`, `unreachable` from the service.
 */
export async function checkWorkspace(ledger: Ledger, workspace: Workspace, identity: WorkspaceIdentity): Promise<void> {
  const numbers = await readNumberIds(workspace);
  const keyHash = createHash('sha256').update(`${ledger.id} ${identity.apiKey}`).digest('hex').slice(0, 32);
  const known = await ledger.binding();
  const changed = known !== null && (known.origin !== identity.origin || known.keyHash !== keyHash);
  if (changed && !identity.sameWorkspace && !(await isSame(ledger, workspace, known.phoneNumberIds, numbers))) {
    // What could not be read shows no other workspace.
    if (numbers instanceof PatchbayError) throw numbers;
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
  const phoneNumberIds = numbers instanceof PatchbayError ? (known?.phoneNumberIds ?? []) : numbers;
  await ledger.bind({ origin: identity.origin, keyHash, phoneNumberIds });
}

/** No request came through: asking for something else tells no more. */
function isAway({ code, facts }: PatchbayError): boolean {
  return code === 'rateLimited' || (code === 'serviceUnreachable' && facts.status === undefined);
}

/**
 * @returns the error where the list alone is in trouble: it fails, is cut off, refused or paged oddly, and a look-up passes.
 * @throws PatchbayError where the look-up fails, too, with its error.
 */
async function readNumberIds(workspace: Workspace): Promise<readonly string[] | PatchbayError> {
  try {
    return (await workspace.listPhoneNumberIds()) ?? [];
  } catch (error) {
    if (!(error instanceof PatchbayError) || isAway(error)) throw error;
    await askControlKey(workspace, {});
    return error;
  }
}

/** Phone numbers tell; where none are known or readable, contacts that we made do. A ledger that knows nothing may be bound anew. */
async function isSame(
  ledger: Ledger,
  workspace: Workspace,
  knownIds: readonly string[],
  numbers: readonly string[] | PatchbayError,
): Promise<boolean> {
  if (knownIds.length > 0 && !(numbers instanceof PatchbayError)) return knownIds.some((id) => numbers.includes(id));
  const sample = await ledger.contacts.sampleBound(sampleMax);
  if (sample.length === 0) return knownIds.length === 0;
  for (const keys of lookUpChunks(sample.map((one) => one.key))) {
    const { contacts } = await workspace.listByExternalIds(keys);
    if (contacts.some((contact) => sample.some((one) => one.contactId === contact.id))) return true;
  }
  return false;
}
