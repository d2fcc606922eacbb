/**
 * The words of the key machine: its states, the events that move it, the effects that it asks for (`key-machine.ts`).
 */

/** What is on its way. Each waits for one answer; `rest` for none. */
export const phases = [
  ...(['leasing', 'lookingUp', 'fetching', 'intending', 'creating'] as const),
  ...(['patching', 'refreshing', 'taken', 'vanished', 'checkingKey', 'rest'] as const),
] as const;
export type Phase = (typeof phases)[number];

export interface KeyState {
  readonly phase: Phase;
  /** The ledger has bound the key to a contact. */
  readonly bound: boolean;
  /** Bound, and written by us within the visibility lag: no list is asked, and a read that differs is not believed yet. */
  readonly mayLag: boolean;
  /** So many more creates may end in doubt while other writes succeed. */
  readonly createsLeft: number;
  /** So many more times may an update end in doubt, a contact vanish or a read of it fail, while others succeed. */
  readonly triesLeft: number;
  /** So many more times is a read refreshed that grew old in the line. */
  readonly refreshesLeft: number;
  /** A key that was called taken and that no list showed gets one more look. */
  readonly maySearchAgain: boolean;
}

export type KeyEvent =
  // Answers of the ledger.
  | { readonly kind: 'leased'; readonly facts: Omit<KeyState, 'phase'> }
  | { readonly kind: 'held' | 'horizon'; readonly waitMs: number }
  | { readonly kind: 'superseded' | 'intended' | 'leaseLost' }
  // What a read found under the key, and what the plan made of it.
  | { readonly kind: 'found'; readonly plan: 'patch' | 'same' }
  | { readonly kind: 'foundNone' | 'foundSeveral' | 'foundOtherKey' }
  // No picture: the contact lacks members that the interface promises, or is another than was asked for.
  | { readonly kind: 'foundOdd' }
  // Within the visibility lag of our own last write, and not what that write was answered with.
  | { readonly kind: 'foundStale' }
  // The read fails for this key, while others pass.
  | { readonly kind: 'readFails'; readonly forGood: boolean }
  // A read was answered after a write was refused with 401 or 403: the service refuses this one contact.
  | { readonly kind: 'keyWorks' }
  // How a write ended. `applied`: the reply is what was wanted.
  | { readonly kind: 'done'; readonly applied: boolean }
  | { readonly kind: 'notSent' | 'rateLimited' | 'tooLate' | 'readTooOld' }
  | { readonly kind: 'taken' | 'vanished' | 'refused' | 'unauthorized' }
  | { readonly kind: 'doubt'; readonly othersSucceed: boolean }
  // All work stops here, before this write was sent.
  | { readonly kind: 'stopped' };
export type EventKind = KeyEvent['kind'];

/** How a row ends. The words of a dead letter are its driver's. */
export type KeyEnd =
  | 'created'
  | 'updated'
  | 'unchanged'
  | 'gone'
  | 'superseded'
  | 'twoContacts'
  | 'keyMoved'
  | 'keyTaken'
  | 'refused'
  | 'notApplied'
  | 'oddReply'
  | 'doubt'
  | 'lookUpFails';

/** `moment`: about a second. `horizon`: until a look-up can tell. `lag`: until what is there shows in reads. */
export type Wait = 'none' | 'moment' | 'horizon' | 'lag';

export type Effect =
  /** Answered by one event. At most one of a step, and its last. */
  | { readonly do: 'lease' | 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' }
  /** Takes the intent back: this create was certainly not carried out. */
  | { readonly do: 'withdraw' }
  /** The same for an update: what was claimed for it is nobody's, and its horizon is void. */
  | { readonly do: 'unclaim' }
  | { readonly do: 'noteDoubt'; readonly burn: boolean }
  /** No worker waits: the row is due again later. */
  | { readonly do: 'park'; readonly wait: Wait | { readonly ms: number }; readonly burn: boolean }
  | { readonly do: 'end'; readonly as: KeyEnd };

export interface Step {
  readonly state: KeyState;
  readonly effects: readonly Effect[];
}
