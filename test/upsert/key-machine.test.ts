/** The key machine by itself: what holds for every order of answers (`docs/rules.md`, "One contact per key"). */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Effect,
  type EventKind,
  type KeyEvent,
  type KeyState,
  phases,
  type Step,
  start,
  stepKey,
  transitionKinds,
} from '#src/upsert/key-machine.ts';
import { eventsOfKind, transitionTable, variantsOf } from './support/transition-table.ts';

const questions = ['lease', 'lookUp', 'fetch', 'intend', 'create', 'patch', 'delete'];
const isQuestion = (effect: Effect): boolean => questions.includes(effect.do);

interface Walk {
  readonly events: readonly KeyEvent[];
  /** The start, and one step for each event. */
  readonly steps: readonly Step[];
}

/** Answers whatever is asked, by drawing among all answers that may come, until the key is at rest. */
function walk(draws: readonly number[]): Walk {
  const events: KeyEvent[] = [];
  const steps: Step[] = [start];
  let state: KeyState = start.state;
  for (const draw of draws) {
    const possible = transitionKinds(state.phase).flatMap((kind) => variantsOf(kind).map(({ event }) => event));
    const event = possible[draw % Math.max(1, possible.length)];
    if (event === undefined) break;
    const step = stepKey(state, event);
    events.push(event);
    steps.push(step);
    state = step.state;
  }
  return { events, steps };
}

const walks = fc.array(fc.nat(), { minLength: 40, maxLength: 40 }).map(walk);

describe('the key machine', () => {
  test('comes to rest whatever is answered, and asks for nothing then', () => {
    fc.assert(
      fc.property(walks, ({ steps }) => {
        expect(steps.at(-1)?.state.phase).toBe('rest');
        expect(steps.at(-1)?.effects.filter(isQuestion)).toEqual([]);
      }),
    );
  });

  test('asks no chain of questions without end: no answers lead back to a state that was there before', () => {
    const rested = new Set<string>();
    const path = new Set<string>();
    const restsFrom = (state: KeyState): void => {
      const here = JSON.stringify(state);
      if (path.has(here)) throw new Error(`back in ${here}`);
      if (rested.has(here)) return;
      path.add(here);
      for (const kind of transitionKinds(state.phase)) {
        for (const event of eventsOfKind(kind)) restsFrom(stepKey(state, event).state);
      }
      path.delete(here);
      rested.add(here);
    };
    restsFrom(start.state);
    expect(rested.size).toBeGreaterThan(100);
  });

  test('asks one thing at a time, last, and only while it is not at rest', () => {
    fc.assert(
      fc.property(walks, ({ steps }) => {
        for (const { state, effects } of steps) {
          const asked = effects.filter(isQuestion);
          expect(asked.length).toBe(state.phase === 'rest' ? 0 : 1);
          if (asked.length > 0) expect(effects.at(-1)).toBe(asked[0]);
        }
      }),
    );
  });

  test('creates only behind a lease, a look-up that found nothing and a committed intent', () => {
    fc.assert(
      fc.property(walks, ({ steps, events }) => {
        const at = steps.findIndex(({ effects }) => effects.some((effect) => effect.do === 'create'));
        if (at === -1) return;
        expect(events.slice(0, at).map((event) => event.kind)).toEqual(['leased', 'foundNone', 'intended']);
      }),
    );
  });

  test('sends at most one create, and nothing at all after a doubt', () => {
    fc.assert(
      fc.property(walks, ({ steps, events }) => {
        const effects = steps.flatMap((step) => step.effects);
        expect(effects.filter((effect) => effect.do === 'create').length).toBeLessThanOrEqual(1);
        const doubt = events.findIndex((event) => event.kind === 'doubt');
        if (doubt !== -1) expect(steps[doubt + 1]?.state.phase).toBe('rest');
      }),
    );
  });

  test('keeps the intent of a create in doubt, and takes it back where the create was certainly not carried out', () => {
    const certain: readonly EventKind[] = ['refused', 'unauthorized', 'notSent', 'rateLimited', 'tooLate', 'stopped'];
    for (const kind of certain) {
      for (const { facts, event } of variantsOf(kind)) {
        const { effects } = stepKey({ ...facts, phase: 'creating' }, event);
        expect(effects).toContainEqual({ do: 'withdraw' });
      }
    }
    for (const { facts, event } of variantsOf('doubt')) {
      const { effects } = stepKey({ ...facts, phase: 'creating' }, event);
      expect(effects).toEqual([
        { do: 'noteDoubt', countsAttempt: event.kind === 'doubt' && event.othersSucceed },
        { do: 'defer', wait: 'horizon', countsAttempt: false },
      ]);
    }
  });

  test('writes nothing to two contacts with one key', () => {
    for (const phase of ['lookingUp', 'taken', 'vanished'] as const) {
      for (const { facts, event } of variantsOf('foundSeveral')) {
        expect(stepKey({ ...facts, phase }, event).effects).toContainEqual({ do: 'end', as: 'twoContacts' });
      }
    }
  });

  test('a read that fails ends nothing but its own row: at once where it is refused, else with the last try', () => {
    const ends = { do: 'end', as: 'lookUpFails' };
    for (const phase of ['lookingUp', 'fetching', 'refreshing', 'taken', 'vanished'] as const) {
      for (const { facts, event } of variantsOf('readFails')) {
        const isForGood = event.kind === 'readFails' && event.forGood;
        const expected =
          isForGood || facts.triesLeft <= 1 ? ends : { do: 'defer', wait: 'moment', countsAttempt: true };
        expect(stepKey({ ...facts, phase }, event).effects).toEqual([expected]);
      }
    }
  });

  test('an outage counts no attempt', () => {
    for (const phase of ['creating', 'patching'] as const) {
      for (const kind of ['notSent', 'rateLimited', 'tooLate'] as const) {
        for (const { facts, event } of variantsOf(kind)) {
          expect(stepKey({ ...facts, phase }, event).effects).toContainEqual(
            expect.objectContaining({ countsAttempt: false }),
          );
        }
      }
      const { effects } = stepKey({ ...start.state, phase }, { kind: 'doubt', othersSucceed: false });
      expect(effects.some((effect) => 'countsAttempt' in effect && effect.countsAttempt)).toBe(false);
    }
  });

  test('an answer that cannot come where it comes is a mistake of ours', () => {
    for (const phase of phases) {
      const possible = transitionKinds(phase);
      const kinds = new Set(phases.flatMap((one) => transitionKinds(one)));
      for (const kind of kinds) {
        if (possible.includes(kind)) continue;
        const [variant] = variantsOf(kind);
        if (variant === undefined) continue;
        expect(() => stepKey({ ...variant.facts, phase }, variant.event)).toThrow('where none can');
      }
    }
  });

  test('its table stands in the README beside it, line for line', () => {
    const readme = readFileSync(new URL('../../src/upsert/README.md', import.meta.url), 'utf8');
    const [, part = ''] = /<!-- transitions -->\n([\s\S]*?)<!-- \/transitions -->/.exec(readme) ?? [];
    const lines = part.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| state |'));
    expect(lines).toEqual(transitionTable());
  });
});
