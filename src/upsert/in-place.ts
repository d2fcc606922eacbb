/**
 * A contact that takes the place of one that is gone: it was linked, or Patchbay made it again. What is remembered of its key was of the
 * other one, so that base starts anew, and each feed writes its fields when its row is applied the next time (`docs/rules.md`, "Workspace, feed,
 * key"). That holds whatever becomes of the answer to the write: which contact the key was bound to, and the claim of the
 * write, are in the ledger before it is sent.
 *
 * So it is with a contact that has the key by now, since people or another tool gave it the key of the one that is bound: that is taken over
 * like any that has the key. The key is bound to it with the claim of the first write, or by the first row that needs none.
 *
 * `linkFact` says before that what becomes of a row whose key no contact has.
 */
import { type Base, baseOfAnother, emptyBase, nobodyOwns } from '#src/contacts/base.ts';
import { type Claim, isMadeBy } from '#src/contacts/claim.ts';
import { isLinked } from '#src/contacts/plan.ts';
import type { ContactRecord } from '#src/ledger/contacts.ts';
import type { RunOptions } from '#src/ledger/runs.ts';
import type { RowLink, StagedRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type Chunk, makesGoneAgain } from './chunk.ts';
import type { KeyEvent } from './key-machine.ts';

/** A leased key (`Lease` in `key-work.ts`). */
interface Known {
  readonly contact: ContactRecord;
  readonly base: Base;
}

/** Whether the contact gets, or has just got, the key of one that is gone, by a link. */
export function isLinkedInPlace(record: StagedRecord, known: Known, theirs: Contact): boolean {
  return isAnother(known, theirs) && isLinkOf(record, known, theirs);
}

/** Whether Patchbay gave, or gives, this contact the key, and did not make it. */
export function isLinkOf(record: StagedRecord, { contact }: Known, theirs: Contact): boolean {
  const isRowLink = record.link?.kind === 'contact' && record.link.contactId === theirs.id;
  return isLinked(theirs) || isRowLink || contact.linkedTo === theirs.id;
}

/** Whether the contact comes from a create of Patchbay's that was in doubt. An intent of an older version has no claim: it counts as such. */
export function isMadeByIntent({ contact: { state, claim } }: Known, theirs: Contact): boolean {
  return state === 'intent' && (claim === null || isMadeBy(claim, theirs));
}

/**
 * Whether the key has gone to a contact that Patchbay neither made nor linked. Of a create in doubt that gave no source it is not known
 * whose the contact is.
 */
export function isKeyMoved(record: StagedRecord, known: Known, theirs: Contact): boolean {
  const { state, claim } = known.contact;
  const mayBeMade = state === 'intent' && (claim?.source ?? null) === null;
  const isOurs = mayBeMade || isMadeByIntent(known, theirs) || isLinkOf(record, known, theirs);
  return isAnother(known, theirs) && !isOurs;
}

/** What is known of a key that has moved, as far as it holds for the contact that has it now: no write of its own was in doubt. */
export function withKeyMoved<One extends Known>(record: StagedRecord, known: One, theirs: Contact): One {
  if (!isKeyMoved(record, known, theirs)) return known;
  const contact = { ...known.contact, state: 'bound' as const, claim: null, owned: nobodyOwns };
  // An undo writes nothing to it, and leaves it to the next row to take it over.
  const base = record.desired.undo === undefined ? baseOfAnother(known.base) : known.base;
  return { ...known, contact, base };
}

function isAnother({ contact: { contactId } }: Known, theirs: Contact): boolean {
  return contactId !== null && contactId !== theirs.id;
}

/** The create, or the link, that gives a contact its key. */
function givesPlace(claim: Claim | null): claim is Claim {
  return claim !== null && (claim.kind === 'create' || claim.links === true);
}

/** By an undo, where no feed forgets what it has said. */
function isPlacedByUndo({ desired }: StagedRecord, { contact: { claim } }: Known): boolean {
  return givesPlace(claim) ? claim.isOfUndo === true : desired.undo !== undefined;
}

/** Base that a contact is planned from which a read found, before what of a claim has landed. An undo is planned as if no file had spoken. */
export function baseOfFound(record: StagedRecord, known: Known, theirs: Contact): Base {
  const { base, contact } = known;
  const { claim, linkedTo } = contact;
  const isMadeAgain = isAnother(known, theirs) && isMadeByIntent(known, theirs);
  if (!isMadeAgain && !isLinkedInPlace(record, known, theirs)) return base;
  const isPlacing = givesPlace(claim);
  // A later claim took the place of that one: what had landed is in the ledger, where base has started anew.
  const isMoved = claim?.isTold === true || (claim !== null && !isPlacing && (isMadeAgain || linkedTo === theirs.id));
  const isKept = record.desired.undo === undefined && (isMoved || isPlacedByUndo(record, known));
  const { said, others } = isKept ? base : baseOfAnother(base);
  if (isMoved) return { ...base, said, others, seen: null };
  // What the write makes Patchbay's own was entered with its claim.
  return { ...emptyBase, said, others, owned: isPlacing ? base.owned : nobodyOwns };
}

/** Base that is remembered of such a contact, from the one that it was planned from. */
export function baseToKeep(record: StagedRecord, known: Known, theirs: Contact, planned: Base): Base {
  const isInPlace = baseOfFound(record, known, theirs) !== known.base;
  if (!isInPlace || !isPlacedByUndo(record, known)) return planned;
  return { ...planned, said: known.base.said, others: known.base.others };
}

/** Base of a contact that a create was answered with. */
export function baseOfMade({ base }: Known, { desired }: StagedRecord): Base {
  return desired.undo === undefined ? baseOfAnother(base) : { ...emptyBase, said: base.said, others: base.others };
}

/** What becomes of the row whose key no contact has: a contact is made, unless it was found to be one, and a person wants it linked. */
export function linkOf({ run }: Pick<Chunk, 'run'>, { link }: StagedRecord): UnlinkedRow | null {
  if (link === undefined || link.kind === 'again') return null;
  const choice = run.approvals.findLast((one) => one.choice !== undefined)?.choice;
  const isWanted = choice === undefined ? link.isDecided === true : choice === 'adopt';
  return isWanted ? link : null;
}

type UnlinkedRow = Exclude<RowLink, { readonly kind: 'again' }>;

type LinkFact = Extract<KeyEvent, { readonly kind: 'leased' }>['facts']['link'];

/** What becomes of a row whose key no contact has. A create of ours in doubt is brought to its end in every mode. */
function fateOfAbsent({ updateOnly }: RunOptions, { state }: ContactRecord): 'none' | 'left' {
  return updateOnly && state !== 'intent' ? 'left' : 'none';
}

/** An undo makes no contact but one that the run which it undoes has deleted, whatever its feed says of such rows. */
export function linkFact(chunk: Chunk, record: StagedRecord, contact: ContactRecord): LinkFact {
  const { run, parts } = chunk;
  const { undo } = record.desired;
  const link = linkOf(chunk, record)?.kind;
  if (undo !== undefined) return undo.makes === true ? (link ?? 'again') : 'none';
  const fate = fateOfAbsent(run.options, contact);
  if (contact.contactId === null) return link ?? fate;
  // The contact was gone when the workspace was looked through. One that was deleted since is made again with the next file.
  const isLookedFor = record.link !== undefined && makesGoneAgain(parts.limits, run);
  return isLookedFor && fate === 'none' ? (link ?? 'again') : fate;
}
