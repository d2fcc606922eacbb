/**
 * Who makes room when there are too many connections.
 *
 * Terms: a *newcomer* has not been answered yet, a *guest* has.
 *
 * Invariants: above the limit, connections that wait for their client leave, those first that have waited longest, and
 * nobody is refused for them. Newcomers fill at most half of the limit at the cost of guests, and the other way round:
 * neither silent sockets nor idle ones can shut the others out.
 */

export interface Eviction<One> {
  /** A newcomer. Who leaves for it is chosen when the sockets that came in one go with it were read. */
  readonly opened: (one: One) => void;
  readonly turnBegan: (one: One) => void;
  /** It is a guest from now on. */
  readonly turnEnded: (one: One) => void;
  readonly gone: (one: One) => void;
}

export interface EvictionRules<One> {
  readonly countMax: number;
  /** The service has nothing to do for it. */
  readonly waitsForClient: (one: One) => boolean;
}

export interface Present<One> {
  /** In the order in which they came. */
  readonly newcomers: ReadonlySet<One>;
  /** In the order in which their last turns began or ended. */
  readonly guests: ReadonlySet<One>;
}

/** `leave` must call `gone`. */
export function createEviction<One>(rules: EvictionRules<One>, leave: (one: One) => void): Eviction<One> {
  const newcomers = new Set<One>();
  const guests = new Set<One>();
  let roomIsAsked = false;
  const makeRoom = (): void => {
    roomIsAsked = false;
    for (const one of whoLeaves({ newcomers, guests }, rules)) leave(one);
  };
  return {
    opened: (one) => {
      newcomers.add(one);
      if (newcomers.size + guests.size <= rules.countMax || roomIsAsked) return;
      roomIsAsked = true;
      // Not before the sockets that came in one go with this one were read: a request may be waiting in them.
      setImmediate(() => setImmediate(makeRoom));
    },
    turnBegan: (one) => {
      if (guests.delete(one)) guests.add(one);
    },
    turnEnded: (one) => {
      newcomers.delete(one);
      guests.delete(one);
      guests.add(one);
    },
    gone: (one) => {
      newcomers.delete(one);
      guests.delete(one);
    },
  };
}

/** Fewer than there are too many where the others are at work. */
export function whoLeaves<One>({ newcomers, guests }: Present<One>, rules: EvictionRules<One>): readonly One[] {
  const { countMax, waitsForClient } = rules;
  const surplus = newcomers.size + guests.size - countMax;
  const aboveHalf = newcomers.size - (countMax >> 1);
  const first = longestWaiting(newcomers, Math.min(surplus, aboveHalf), waitsForClient);
  const second = longestWaiting(guests, surplus - first.length, waitsForClient);
  // Where the guests are not enough, newcomers leave after all, beyond those who do already.
  const newcomerCount = surplus - second.length;
  const third = longestWaiting(newcomers, newcomerCount, waitsForClient).slice(first.length);
  return [...first, ...second, ...third];
}

/** At most so many. */
function longestWaiting<One>(
  among: ReadonlySet<One>,
  countMax: number,
  waitsForClient: (one: One) => boolean,
): readonly One[] {
  const found: One[] = [];
  for (const one of among) {
    if (found.length >= countMax) break;
    if (waitsForClient(one)) found.push(one);
  }
  return found;
}
