/** By whom a contact was deleted, as far as the journal knows it, in words. Pure. */
import type { JournalRow } from '#src/ledger/contacts.ts';
import { skipSentences } from './events.ts';

/**
 * The undo that deleted the contact which a key is bound to; null where the journal knows of none: people deleted it, or the entry has left.
 * @param newest of the journal of the key; undefined where there is none.
 */
export function undoThatDeleted(
  newest: Pick<JournalRow, 'kind' | 'contactId' | 'runId'> | undefined,
  contactId: string | null,
): string | null {
  return newest?.kind === 'delete' && newest.contactId === contactId ? newest.runId : null;
}

/** Why a row is skipped whose contact is gone. @param undo that deleted it; null where none is known. */
export function goneSentence(undo: string | null): string {
  return undo === null ? skipSentences.gone : `deleted by the undo ${undo}, and not created again by this run`;
}

/** What became of the contact. @param undo as above. */
export function deletedSentence(undo: string | null): string {
  return `the contact was deleted ${undo === null ? 'in the app' : `by the undo ${undo}`}`;
}
