/**
 * What happened to a key with a write in doubt: its history, so that a duplicate can be explained.
 *
 * - `doubt`: a write may have landed: a lost reply, or an intent that a crash left behind;
 * - `adopted`: a look-up after a doubt found the contact, and the key was bound to it;
 * - `created`: after a doubt nothing was found, and a further create was answered with a contact;
 * - `bound`: the key was bound anew to another contact than before;
 * - `conflict`: a look-up found two contacts or more, or the service answered 409 and none was found.
 *
 * Only keys with something unusual have a history: a plain create leaves none, so that a first load costs nothing.
 */
export type KeyHistoryKind = 'doubt' | 'adopted' | 'created' | 'bound' | 'conflict';

/**
 * A run that entered one of these for a key met it in doubt, its own or that of an earlier run: the key is audited a second
 * time.
 */
export const doubtKinds = ['doubt', 'adopted', 'created'] as const satisfies readonly KeyHistoryKind[];

/** At most so many events of a key are kept, the newest. */
export const eventsPerKeyMax = 20;

export interface KeyHistoryEntry {
  readonly key: string;
  readonly atMs: number;
  /** The run at work on the key; null where none is known. */
  readonly runId: string | null;
  readonly kind: KeyHistoryKind;
  /** The contact that the event is about, where there is one. */
  readonly contactId: string | null;
  /** One line without personal data: the error's code, `crash`, the ids of a conflict. */
  readonly detail: string | null;
}
