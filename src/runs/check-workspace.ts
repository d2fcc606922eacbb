/**
 * A ledger belongs to one workspace (`docs/rules.md`, "Workspace, feed, key"): what it remembers about contacts is true only there.
 * If origin or key have changed, something that the ledger knows must exist in the workspace; otherwise nothing is done.
 */
import { createHash } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import type { Ledger, WorkspaceBinding } from '#src/ledger/port.ts';
import { askControlKey, lookUpChunks } from '#src/workspace/look-up.ts';
import {
  type CallOptions,
  firstLookSilentMsMax,
  isHeldBack,
  onlyLookSilentMsMax,
  type Workspace,
} from '#src/workspace/port.ts';

export interface WorkspaceIdentity {
  /** `sandbox`, or the service's origin. */
  readonly origin: string;
  readonly apiKey: string;
  /** The act of the person who says that it is the same workspace; null without such a person. */
  readonly confirmed: (() => Promise<NewAct>) | null;
}

/** What cuts the reads. */
export type Cut = Pick<CallOptions, 'signal' | 'heldMsMax' | 'silentMsMax'>;

/** Contacts to look for: as many as one look-up takes. */
const sampleMax = 20;

/** How long the list of phone numbers may get no answer (`silentMsMax`) where nothing is compared with it: work can go on without it. */
const numbersSilentMsMax = 2_000;
/** The same where the ledger knows none: it stays without them as long as the list is slower than that. */
const firstNumbersSilentMsMax = firstLookSilentMsMax;

interface Compared {
  /** What the ledger knew; null: it was not bound. */
  readonly known: WorkspaceBinding | null;
  /** Salted, of the key at hand. */
  readonly keyHash: string;
  /** Origin or key are not those that the ledger knows. */
  readonly hasChanged: boolean;
  /** Why the list of phone numbers cannot be read, where it cannot. */
  readonly numbers: readonly string[] | PatchbayError;
}

/**
 * Checks the workspace and binds the ledger to it. A list of phone numbers that cannot be read is a problem of snapshots
 * only: if nothing else is in doubt, work continues.
 * @throws PatchbayError as `requireOwnWorkspace`.
 */
export async function checkWorkspace(
  ledger: Ledger,
  workspace: Workspace,
  identity: WorkspaceIdentity,
  cut: Cut = {},
): Promise<void> {
  const { known, keyHash, hasChanged, numbers } = await requireOwnWorkspace(ledger, workspace, identity, cut);
  const { origin, confirmed } = identity;
  const phoneNumberIds = numbers instanceof PatchbayError ? (known?.phoneNumberIds ?? []) : numbers;
  const act = hasChanged ? await confirmed?.() : undefined;
  const between = { from: known?.origin ?? null, to: origin, keyChanged: known?.keyHash !== keyHash };
  await ledger.bind({ origin, keyHash, phoneNumberIds }, act && { ...act, facts: between });
}

/**
 * Compares the workspace with what the ledger knows, and changes nothing.
 * @throws PatchbayError `usage` `otherWorkspace`; `auth`, `unreachable` from the service; the signal's reason.
 */
export async function requireOwnWorkspace(
  ledger: Pick<Ledger, 'id' | 'binding' | 'contacts'>,
  workspace: Workspace,
  { origin, apiKey, confirmed }: WorkspaceIdentity,
  cut: Cut = {},
): Promise<Compared> {
  const keyHash = createHash('sha256').update(`${ledger.id} ${apiKey}`).digest('hex').slice(0, 32);
  const known = await ledger.binding();
  const hasChanged = known !== null && (known.origin !== origin || known.keyHash !== keyHash);
  const isInDoubt = hasChanged && confirmed === null;
  const knowsNone = known === null || known.phoneNumberIds.length === 0;
  const patienceMs = knowsNone ? firstNumbersSilentMsMax : numbersSilentMsMax;
  const numbers = await readNumberIds(workspace, cut, isInDoubt ? onlyLookSilentMsMax : patienceMs);
  if (isInDoubt && !(await isSame(ledger, workspace, known.phoneNumberIds, numbers, cut))) {
    // A list that could not be read does not prove that the workspace is another one.
    if (numbers instanceof PatchbayError) throw numbers;
    throw new PatchbayError(
      'usage',
      'otherWorkspace',
      known.origin === origin
        ? 'this key opens another workspace than the one that the data folder belongs to'
        : `the data folder belongs to the workspace at ${known.origin}, and ${origin} is another one`,
      {
        facts: { known: known.origin, given: origin },
        hint: 'Use another data folder (--data DIR) for this workspace. If it is the same one all the same, say --same-workspace once, with import or start.',
      },
    );
  }
  return { known, keyHash, hasChanged, numbers };
}

/**
 * Whether no request got through at all, perhaps not even past the rate gate, which is at the queue: another one would show nothing more.
 * One that was only given up in silence (`silentMsMax`) may have got through.
 */
function isAway({ code, facts }: PatchbayError): boolean {
  return code === 'serviceUnreachable' && facts.status === undefined && facts.silentMs === undefined;
}

/**
 * Of a service that answers nothing, list and look-up together take as long as the caller allows (`silentMsMax`), and the list at most half of it.
 *
 * @param listSilentMsMax in milliseconds: how long the list may get no answer, also of a caller that allows more or sets no end.
 * @returns the error if only the list cannot be read: it fails, hangs, is cut off, refused or paged oddly, and a look-up succeeds.
 * @throws PatchbayError the error of the look-up if that fails, too.
 */
async function readNumberIds(
  workspace: Workspace,
  cut: Cut,
  listSilentMsMax: number,
): Promise<readonly string[] | PatchbayError> {
  const { silentMsMax = Number.POSITIVE_INFINITY } = cut;
  const listMsMax = Math.min(listSilentMsMax, silentMsMax / 2);
  try {
    return (await workspace.listPhoneNumberIds({ ...cut, silentMsMax: listMsMax })) ?? [];
  } catch (error) {
    if (!(error instanceof PatchbayError) || isHeldBack(error) || isAway(error)) throw error;
    await askControlKey(workspace, { ...cut, silentMsMax: silentMsMax - listMsMax });
    return error;
  }
}

/** Compares phone numbers; if none are known or readable, contacts made by Patchbay. A ledger that knows nothing may be bound anew. */
async function isSame(
  ledger: Pick<Ledger, 'contacts'>,
  workspace: Workspace,
  knownIds: readonly string[],
  numbers: readonly string[] | PatchbayError,
  cut: Cut,
): Promise<boolean> {
  if (knownIds.length > 0 && !(numbers instanceof PatchbayError)) return knownIds.some((id) => numbers.includes(id));
  const sample = await ledger.contacts.sampleBound(sampleMax);
  if (sample.length === 0) return knownIds.length === 0;
  for (const keys of lookUpChunks(sample.map((one) => one.key))) {
    const { contacts } = await workspace.listByExternalIds(keys, cut);
    if (contacts.some((contact) => sample.some((one) => one.contactId === contact.id))) return true;
  }
  return false;
}
