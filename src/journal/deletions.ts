/** Which undo deleted a contact. */
import { undoThatDeleted } from '#src/ledger/rules/gone.ts';
import type { JournalReader } from './changes.ts';

/** Null where the journal knows of none, as where people deleted it. @param contactId that the key is bound to. */
export async function findUndoThatDeleted(
  { journal }: JournalReader,
  key: string,
  contactId: string | null,
): Promise<string | null> {
  const [newest] = await journal({ key, newestFirst: true, limit: 1 });
  return undoThatDeleted(newest, contactId);
}
