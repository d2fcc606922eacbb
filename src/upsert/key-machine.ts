/**
 * The state machine of one key, from its lease to its rest: a pure reducer (state, event) → (state, effects).
 *
 * It decides everything about *when* a request may be sent and what its end means, and nothing about contents: what is
 * planned, sent and compared is up to its driver (`process-batch.ts`). `README.md` in this folder holds the prose and the
 * table of transitions; a test keeps table and code equal. Source: `docs/rules.md`, "One contact per key", steps 1 to 6.
 *
 * Invariant: a create is asked for only after a lease, a look-up that found nothing, and a committed intent, and never for a
 * row that is to be linked. A write that may have landed is never asked for again before a new lease, which is not given
 * before the horizon.
 */
import { invariant } from '#src/errors.ts';

/** What is under way. Each phase waits for one answer; `rest` for none. */
export const phases = [
  ...(['leasing', 'lookingUp', 'fetching', 'linking', 'intending', 'creating'] as const),
  ...(['patching', 'deleting', 'refreshing', 'taken', 'vanished', 'checkingKey', 'rest'] as const),
] as const;
export type Phase = (typeof phases)[number];

export interface KeyState {
  readonly phase: Phase;
  /** The ledger has bound the key to a contact. */
  readonly bound: boolean;
  /** Bound, and written by Patchbay within the visibility lag: no list is read, and a read that differs is not used yet. */
  readonly mayLag: boolean;
  /** The number of creates that may still end in doubt while other writes succeed. */
  readonly createsLeft: number;
  /** How often an update may still end in doubt, a contact vanish or a read of it fail, while others succeed. */
  readonly triesLeft: number;
  /** How often a read may still be refreshed that became too old before its write was sent. */
  readonly refreshesLeft: number;
  /** Whether a key that was refused as taken, and that no list shows, gets one more look-up. */
  readonly maySearchAgain: boolean;
  /**
   * What the row was found to be, and a person wants linked: a contact without an externalId (`contact`), or one of several
   * (`unclear`). Such a row never makes a contact; nor does one that the run leaves out, since it only updates (`left`). `again`: one
   * that takes the place of a bound contact that is gone is made, too. Of a bound key all but `left` and `none` are about that.
   */
  readonly link: 'none' | 'contact' | 'unclear' | 'left' | 'again';
}

export type KeyEvent =
  // Answers of the ledger.
  | { readonly kind: 'leased'; readonly facts: Omit<KeyState, 'phase'> }
  | { readonly kind: 'held' | 'horizon'; readonly waitMs: number }
  | { readonly kind: 'superseded' | 'intended' | 'leaseLost' }
  // What a read found under the key, and what the plan made of it.
  // `left`: the run leaves contacts that exist as they are.
  | { readonly kind: 'found'; readonly plan: 'patch' | 'delete' | 'same' | 'left' }
  | { readonly kind: 'foundNone' | 'foundSeveral' | 'foundOtherKey' }
  // The run carries out a plan, and what would be written now is something else.
  | { readonly kind: 'moved' }
  // No picture: the contact lacks members that the interface promises, or is not the one that was asked for.
  | { readonly kind: 'foundOdd' }
  // Within the visibility lag of Patchbay's last write, and not what that write was answered with.
  | { readonly kind: 'foundStale' }
  // The read fails for this key, while others succeed.
  | { readonly kind: 'readFails'; readonly forGood: boolean }
  // A read succeeded after a write was refused with 401 or 403: the service refuses this one contact.
  | { readonly kind: 'keyWorks' }
  // How a write ended. `applied`: the reply is what was wanted.
  | { readonly kind: 'done'; readonly applied: boolean }
  | { readonly kind: 'notSent' | 'rateLimited' | 'tooLate' | 'readTooOld' }
  | { readonly kind: 'taken' | 'vanished' | 'refused' | 'unauthorized' }
  | { readonly kind: 'doubt'; readonly othersSucceed: boolean }
  // All work stops, before this write was sent.
  | { readonly kind: 'stopped' };
export type EventKind = KeyEvent['kind'];

/** How a row ends. The words of a dead letter: `key-ends.ts`. */
export type KeyEnd =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'unchanged'
  | 'gone'
  | 'superseded'
  | 'moved'
  | 'notSelected'
  | 'twoContacts'
  | 'keyMoved'
  | 'keyTaken'
  | 'linkUnclear'
  | 'linkTaken'
  | 'linkGone'
  | 'refused'
  | 'notApplied'
  | 'oddReply'
  | 'doubt'
  | 'lookUpFails';

/** `moment`: about a second. `horizon`: until a look-up can tell. `lag`: until reads show what is there. */
type Wait = 'none' | 'moment' | 'horizon' | 'lag';

export type Effect =
  /** Answered by one event. At most one of a step, as its last effect. */
  | { readonly do: 'lease' | 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' | 'delete' }
  /** Takes the intent back: this create was certainly not carried out. */
  | { readonly do: 'withdraw' }
  /** The same for an update: what was claimed for it has no owner, and its horizon is void. */
  | { readonly do: 'unclaim' }
  | { readonly do: 'noteDoubt'; readonly countsAttempt: boolean }
  /** The row is due again later; no worker waits for it. */
  | { readonly do: 'defer'; readonly wait: Wait | { readonly ms: number }; readonly countsAttempt: boolean }
  | { readonly do: 'end'; readonly as: KeyEnd };

export interface Step {
  readonly state: KeyState;
  readonly effects: readonly Effect[];
}

/** A key of which nothing is known yet. */
export const start: Step = {
  state: {
    phase: 'leasing',
    bound: false,
    mayLag: false,
    createsLeft: 0,
    triesLeft: 0,
    refreshesLeft: 0,
    maySearchAgain: false,
    link: 'none',
  },
  effects: [{ do: 'lease' }],
};

type Cell<Kind extends EventKind> = (state: KeyState, event: Extract<KeyEvent, { kind: Kind }>) => Step;
type Transitions = { readonly [P in Phase]: { readonly [K in EventKind]?: Cell<K> } };

type Question = 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' | 'delete';
const ask = (state: KeyState, phase: Phase, question: Question, ...before: readonly Effect[]): Step => ({
  state: { ...state, phase },
  effects: [...before, { do: question }],
});
const rest = (state: KeyState, ...effects: readonly Effect[]): Step => ({
  state: { ...state, phase: 'rest' },
  effects,
});
const end = (as: KeyEnd): Effect => ({ do: 'end', as });
const defer = (wait: Wait | { readonly ms: number }, countsAttempt = false): Effect => ({
  do: 'defer',
  wait,
  countsAttempt,
});
const withdraw: Effect = { do: 'withdraw' };
const unclaim: Effect = { do: 'unclaim' };

const planned: Cell<'found'> = (state, { plan }) => {
  if (plan === 'left') return rest(state, end('notSelected'));
  if (plan === 'same') return rest(state, end('unchanged'));
  return plan === 'delete' ? ask(state, 'deleting', 'delete') : ask(state, 'patching', 'patch');
};
/** An update or a deletion that may have landed: a read tells after its horizon. */
const doubted: Cell<'doubt'> = (state, { othersSucceed }) => {
  const isLast = othersSucceed && state.triesLeft <= 1;
  return rest(
    state,
    { do: 'noteDoubt', countsAttempt: false },
    isLast ? end('doubt') : defer('horizon', othersSucceed),
  );
};
/** The read became too old while the write waited for its turn. */
const readTooOld = (state: KeyState): Step => {
  if (state.refreshesLeft === 0) return rest(state, unclaim, defer('moment'));
  return ask({ ...state, refreshesLeft: state.refreshesLeft - 1 }, 'refreshing', 'fetch', unclaim);
};
/** The key has its contact: nothing is to be linked any more. */
const keyFound: Cell<'found'> = (state, event) => planned({ ...state, link: 'none' }, event);
const moved: Cell<'moved'> = (state) => rest(state, end('moved'));
const readFails: Cell<'readFails'> = (state, { forGood }) =>
  forGood || state.triesLeft <= 1 ? rest(state, end('lookUpFails')) : rest(state, defer('moment', true));
/** A list shows a contact with the key: none is made or linked, also where that one turns out to be gone. */
const shownInPart = (state: KeyState): Step => ask({ ...state, link: 'none' }, 'fetching', 'fetch');
const refusedAlone = (state: KeyState): Step => rest(state, end('refused'));
/** All work stops before the next request: the row stays as it is in the ledger, for the next job. */
const stopped = (state: KeyState): Step => rest(state);

const transitions: Transitions = {
  leasing: {
    leased: (_state, { facts }) => {
      const state: KeyState = { ...facts, phase: 'leasing' };
      return facts.bound && facts.mayLag ? ask(state, 'fetching', 'fetch') : ask(state, 'lookingUp', 'lookUp');
    },
    held: (state, { waitMs }) => rest(state, defer({ ms: waitMs })),
    horizon: (state, { waitMs }) => rest(state, defer({ ms: waitMs })),
    superseded: (state) => rest(state, end('superseded')),
  },
  lookingUp: {
    found: keyFound,
    foundOdd: shownInPart,
    foundSeveral: (state) => rest(state, end('twoContacts')),
    foundNone: (state) => {
      if (state.bound) return ask(state, 'fetching', 'fetch');
      if (state.link === 'unclear') return rest(state, end('linkUnclear'));
      if (state.link === 'contact') return ask(state, 'linking', 'fetch');
      if (state.link === 'left') return rest(state, end('notSelected'));
      return state.createsLeft > 0 ? ask(state, 'intending', 'intend') : rest(state, end('doubt'));
    },
    readFails,
    moved,
  },
  fetching: {
    stopped,
    readFails,
    moved,
    found: keyFound,
    foundStale: (state) => rest(state, defer('lag')),
    foundOdd: (state) => rest(state, end('oddReply')),
    foundNone: (state) => {
      if (state.mayLag) return rest(state, defer('lag'));
      if (state.link === 'unclear') return rest(state, end('linkUnclear'));
      if (state.link === 'contact') return ask(state, 'linking', 'fetch');
      if (state.link !== 'again') return rest(state, end('gone'));
      return state.createsLeft > 0 ? ask(state, 'intending', 'intend') : rest(state, end('doubt'));
    },
    foundOtherKey: (state) => rest(state, state.mayLag ? defer('lag') : end('keyMoved')),
  },
  linking: {
    stopped,
    readFails,
    moved,
    found: planned,
    foundOdd: (state) => rest(state, end('oddReply')),
    foundNone: (state) => rest(state, end('linkGone')),
    foundOtherKey: (state) => rest(state, end('linkTaken')),
  },
  intending: {
    intended: (state) => ask(state, 'creating', 'create'),
    leaseLost: (state) => rest(state, defer('none')),
  },
  creating: {
    done: (state, { applied }) => rest(state, end(applied ? 'created' : 'notApplied')),
    doubt: (state, { othersSucceed }) =>
      rest(state, { do: 'noteDoubt', countsAttempt: othersSucceed }, defer('horizon')),
    taken: (state) => ask(state, 'taken', 'lookUp', withdraw),
    refused: (state) => rest(state, withdraw, end('refused')),
    unauthorized: (state) => ask(state, 'checkingKey', 'lookUp', withdraw),
    notSent: (state) => rest(state, withdraw, defer('moment')),
    rateLimited: (state) => rest(state, withdraw, defer('none')),
    tooLate: (state) => rest(state, withdraw, defer('none')),
    stopped: (state) => rest(state, withdraw),
  },
  taken: {
    stopped,
    readFails,
    moved,
    found: keyFound,
    foundOdd: shownInPart,
    foundSeveral: (state) => rest(state, end('twoContacts')),
    foundNone: (state) => rest(state, state.maySearchAgain ? defer('lag', true) : end('keyTaken')),
  },
  patching: {
    stopped: (state) => rest(state, unclaim),
    done: (state, { applied }) => rest(state, end(applied ? 'updated' : 'notApplied')),
    doubt: doubted,
    vanished: (state) => ask(state, 'vanished', 'lookUp', unclaim),
    // Another contact has got the key that this one was to get.
    taken: (state) => (state.link === 'contact' ? ask(state, 'taken', 'lookUp', unclaim) : refusedAlone(state)),
    // Nothing was claimed: another key is linked to the contact.
    foundOtherKey: (state) => rest(state, end('linkTaken')),
    refused: (state) => (state.link === 'contact' ? rest(state, unclaim, end('refused')) : refusedAlone(state)),
    unauthorized: (state) => ask(state, 'checkingKey', 'lookUp', unclaim),
    notSent: (state) => rest(state, unclaim, defer('moment')),
    rateLimited: (state) => rest(state, unclaim, defer('none')),
    tooLate: (state) => rest(state, unclaim, defer('none')),
    readTooOld,
  },
  deleting: {
    stopped: (state) => rest(state, unclaim),
    done: (state) => rest(state, end('deleted')),
    // It is gone: people may have deleted it.
    vanished: (state) => rest(state, end('deleted')),
    doubt: doubted,
    refused: (state) => rest(state, unclaim, end('refused')),
    unauthorized: (state) => ask(state, 'checkingKey', 'lookUp', unclaim),
    notSent: (state) => rest(state, unclaim, defer('moment')),
    rateLimited: (state) => rest(state, unclaim, defer('none')),
    tooLate: (state) => rest(state, unclaim, defer('none')),
    readTooOld,
  },
  refreshing: {
    stopped,
    readFails,
    moved,
    found: planned,
    foundStale: (state) => rest(state, defer('lag')),
    foundOdd: (state) => rest(state, end('oddReply')),
    foundNone: (state) => ask(state, 'vanished', 'lookUp'),
    foundOtherKey: (state) => rest(state, end(state.link === 'contact' ? 'linkTaken' : 'keyMoved')),
  },
  vanished: {
    stopped,
    readFails,
    moved,
    found: (state, event) => {
      if (state.triesLeft <= 1) return rest(state, end('doubt'));
      return keyFound({ ...state, triesLeft: state.triesLeft - 1 }, event);
    },
    foundOdd: (state) => {
      if (state.triesLeft <= 1) return rest(state, end('doubt'));
      return shownInPart({ ...state, triesLeft: state.triesLeft - 1 });
    },
    foundNone: (state) => rest(state, end(state.link === 'contact' ? 'linkGone' : 'gone')),
    foundSeveral: (state) => rest(state, end('twoContacts')),
  },
  checkingKey: { stopped, keyWorks: refusedAlone },
  rest: {},
};

/**
 * One step. An answer in a state that takes none of its kind is a mistake of the driver's, and stops it.
 * @throws PatchbayError `bug` `invariant`.
 */
export function stepKey(state: KeyState, event: KeyEvent): Step {
  // The table's type pairs each cell with its event kind, which an index cannot express.
  const cell = transitions[state.phase][event.kind] as Cell<EventKind> | undefined;
  invariant(cell !== undefined, 'an answer came where none can', { phase: state.phase, event: event.kind });
  return cell(state, event);
}

/** The event kinds that a phase takes, to describe the table. */
export function transitionKinds(phase: Phase): readonly EventKind[] {
  // The keys of a cell row are event kinds by its type.
  return Object.keys(transitions[phase]) as EventKind[];
}
