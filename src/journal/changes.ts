/**
 * What writes changed in contacts, as people and scripts read it: the journal of a run or of a key, page by page
 * (`docs/rules.md`, "The journal").
 *
 * A change holds personal data: never for a log.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isoInstant } from '#src/clock.ts';
import type { JournalChange, JournalEntry } from '#src/contacts/outcome.ts';
import type { ContactLedger, JournalFilter, JournalRow } from '#src/ledger/contacts.ts';
import { undoThatDeleted } from '#src/ledger/rules/gone.ts';

/** One write that landed: `runs show --json`, `contact --json` and the report file have it in this shape. */
export interface ContactChange {
  readonly key: string;
  /** The service's id of the contact. */
  readonly contact: string;
  readonly run: string;
  /** When it was entered: an ISO 8601 instant of the wall clock. */
  readonly at: string;
  readonly kind: JournalEntry['kind'];
  /** Each value that was written, before and after; of a create each value, from null. */
  readonly changes: readonly JournalChange[];
}

/** The journal as this module reads it. */
export type JournalReader = Pick<ContactLedger, 'journal'>;

const writesPerPage = 250;

/**
 * The writes of a run or of a key, in the order of their entry, or the newest first. Ends with the journal, or at `limit` writes.
 * A page is never empty.
 */
export async function* changePages(
  { journal }: JournalReader,
  which: Pick<JournalFilter, 'runId' | 'key' | 'newestFirst'>,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly ContactChange[]> {
  let after: number | undefined;
  for (let left = limit; left > 0; left -= writesPerPage) {
    const size = Math.min(writesPerPage, left);
    const page = await journal({ ...which, ...(after === undefined ? {} : { after }), limit: size });
    if (page.length > 0) yield page.map(changeOf);
    if (page.length < size) return;
    after = page.at(-1)?.number;
    await nextTurn();
  }
}

function changeOf({ key, contactId, runId, atMs, kind, changes }: JournalRow): ContactChange {
  const shown = changes.map(({ agreedWith: _, ...change }) => change);
  return { key, contact: contactId, run: runId, at: isoInstant(atMs), kind, changes: shown };
}

/** For `--no-values`: neither key nor values; of an e-mail or a phone number its kind alone. */
export function changeWithoutValues(change: ContactChange): object {
  const changes = change.changes.map(({ field, why }) => ({
    field: fieldWithoutValue(field),
    from: null,
    to: null,
    why,
  }));
  return { ...change, key: null, changes };
}

/** `phone.+14155550100` names a number, `phone` does not. The name of a column is no such name. */
export function fieldWithoutValue(field: string): string {
  return /^(email|phone)\./.exec(field)?.[1] ?? field;
}

/** The undo that deleted a contact; null where the journal knows of none, as where people deleted it. @param contactId that the key is bound to. */
export async function findUndoThatDeleted(
  { journal }: JournalReader,
  key: string,
  contactId: string | null,
): Promise<string | null> {
  const [newest] = await journal({ key, newestFirst: true, limit: 1 });
  return undoThatDeleted(newest, contactId);
}
