/**
 * The table of transitions, made from the machine itself: every state, every answer that may come there, and on which
 * facts the next step depends.
 */
import {
  type Effect,
  type EventKind,
  type KeyEvent,
  type KeyState,
  type Phase,
  phases,
  stepKey,
  transitionKinds,
} from '#src/upsert/key-machine.ts';

type Facts = Omit<KeyState, 'phase'>;
interface Variant {
  readonly facts: Facts;
  readonly event: KeyEvent;
}

/** A fact that a step may depend on, in words, for each of its values that matter. */
const questions: readonly { readonly words: (variant: Variant) => string }[] = [
  { words: ({ event }) => (event.kind === 'readFails' ? (event.forGood ? 'refused' : 'no answer') : '') },
  { words: ({ facts }) => (facts.bound ? 'bound' : 'not bound') },
  { words: ({ facts }) => (facts.mayLag ? 'just written' : 'not just written') },
  { words: ({ facts }) => linkWords[facts.link] },
  { words: ({ facts }) => (facts.createsLeft > 0 ? 'creates left' : 'no create left') },
  { words: ({ facts }) => (facts.triesLeft > 1 ? 'tries left' : 'last try') },
  { words: ({ facts }) => (facts.refreshesLeft > 0 ? 'refreshes left' : 'no refresh left') },
  { words: ({ facts }) => (facts.maySearchAgain ? 'first time' : 'again') },
  { words: ({ event }) => (event.kind === 'found' ? `plan: ${event.plan}` : '') },
  { words: ({ event }) => (event.kind === 'done' ? (event.applied ? 'as wanted' : 'differs') : '') },
  { words: ({ event }) => (event.kind === 'doubt' ? (event.othersSucceed ? 'others succeed' : 'outage') : '') },
];

const linkWords: Readonly<Record<Facts['link'], string>> = {
  none: 'not to be linked',
  contact: 'to be linked',
  unclear: 'unclear',
  left: 'left out',
  again: 'to be made again',
};

interface Row {
  readonly phase: Phase;
  /** Answer, condition, next state and effects: states that have these in common share a line. */
  readonly rest: string;
}

/** `| state | answer | when | next | what is done |`, one line each. */
export function transitionTable(): readonly string[] {
  const rows = phases.flatMap((phase) => transitionKinds(phase).flatMap((kind) => rowsOf(phase, kind)));
  const byRest = Map.groupBy(rows, (row) => row.rest);
  return [...byRest].map(([rest, same]) => `| ${same.map((row) => row.phase).join(', ')} | ${rest} |`);
}

/** Every combination of facts, with every payload that the event may have. */
export function variantsOf(kind: EventKind): readonly Variant[] {
  return everyFacts.flatMap((facts) => eventsOf(kind, facts).map((event) => ({ facts, event })));
}

/** Every event of a kind, each once: only that of a lease has facts of its own. */
export function eventsOfKind(kind: EventKind): readonly KeyEvent[] {
  const [any] = everyFacts;
  if (kind === 'leased' || any === undefined) return variantsOf(kind).map(({ event }) => event);
  return eventsOf(kind, any);
}

function rowsOf(phase: Phase, kind: EventKind): readonly Row[] {
  const variants = variantsOf(kind).map((variant) => ({ ...variant, result: resultOf(phase, variant) }));
  return branches(variants, questions).map(({ when, result }) => ({
    phase,
    rest: `${kind} | ${when.join(', ')} | ${result}`,
  }));
}

interface Ended extends Variant {
  readonly result: string;
}

interface Branch {
  readonly when: readonly string[];
  readonly result: string;
}

/** Splits the variants by one fact after the other, until all that are left end alike. Ends: each turn takes a question away. */
function branches(variants: readonly Ended[], left: typeof questions): readonly Branch[] {
  const results = new Set(variants.map(({ result }) => result));
  const [result = ''] = results;
  const [question, ...others] = left;
  if (results.size === 1 || question === undefined) return [{ when: [], result }];
  const groups = [...Map.groupBy(variants, question.words)].map(([words, group]) => {
    const rest = branches(group, others);
    return { words, rest, text: JSON.stringify(rest) };
  });
  const [first, ...alike] = [...Map.groupBy(groups, ({ text }) => text).values()];
  if (alike.length === 0) return first?.[0]?.rest ?? [];
  return [first ?? [], ...alike].flatMap((same) => {
    const words = same.map((one) => one.words).join(' or ');
    return (same[0]?.rest ?? []).map((branch) => ({ ...branch, when: [words, ...branch.when] }));
  });
}

function resultOf(phase: Phase, { facts, event }: Variant): string {
  const { state, effects } = stepKey({ ...facts, phase }, event);
  return `${state.phase} | ${effects.map(wordsOf).join(', ') || '–'}`;
}

function wordsOf(effect: Effect): string {
  switch (effect.do) {
    case 'defer': {
      const wait = typeof effect.wait === 'string' ? effect.wait : 'as told';
      return `defer (${wait}${effect.countsAttempt ? ', counts an attempt' : ''})`;
    }
    case 'end':
      return `end: ${effect.as}`;
    case 'noteDoubt':
      return effect.countsAttempt ? 'note the doubt (counts an attempt)' : 'note the doubt';
    default:
      return effect.do;
  }
}

const both = [true, false] as const;
const everyFacts: readonly Facts[] = both.flatMap((bound) =>
  both.flatMap((mayLag) =>
    [1, 0].flatMap((createsLeft) =>
      [2, 1].flatMap((triesLeft) =>
        [1, 0].flatMap((refreshesLeft) =>
          both.flatMap((maySearchAgain) =>
            (['none', 'contact', 'unclear', 'left', 'again'] as const).map((link) => ({
              ...{ bound, mayLag, createsLeft, triesLeft, refreshesLeft, maySearchAgain, link },
            })),
          ),
        ),
      ),
    ),
  ),
);

function eventsOf(kind: EventKind, facts: Facts): readonly KeyEvent[] {
  switch (kind) {
    case 'leased':
      return [{ kind, facts }];
    case 'held':
    case 'horizon':
      return [{ kind, waitMs: 1 }];
    case 'found':
      return (['patch', 'delete', 'same', 'left'] as const).map((plan) => ({ kind, plan }));
    case 'readFails':
      return both.map((forGood) => ({ kind, forGood }));
    case 'done':
      return both.map((applied) => ({ kind, applied }));
    case 'doubt':
      return both.map((othersSucceed) => ({ kind, othersSucceed }));
    default:
      return [{ kind }];
  }
}
