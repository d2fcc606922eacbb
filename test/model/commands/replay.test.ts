/** What the referee lets pass of a claim whose write was never sent, and what it does not. */
import { expect, test } from 'vitest';
import type { KeyEvent } from './chronicle.ts';
import type { Feed } from './commands.ts';
import type { Fate } from './fates.ts';
import { itemRule } from './item-rule.ts';
import type { Row } from './model.ts';
import { type Picture, there } from './picture.ts';
import { type Rule, replay } from './replay.ts';
import { valueRule } from './value-rule.ts';

const phone = '+14155550100';
const item = `phone.${phone}`;
const picture = (field: string, value: string): Picture => new Map([[field, value]]);
const reached: Fate = { skipped: null, dead: null, held: new Set() };

const rowOf = (sequence: number, feed: Feed, cells: Row['cells']): KeyEvent => ({
  kind: 'row',
  row: { runId: `run-${sequence}`, sequence, feed, line: 2, cells },
});
const named = (sequence: number, feed: Feed, firstName: string): KeyEvent => rowOf(sequence, feed, { firstName });
const read = (shown: string, claim?: { runId: string; from: string; to: string }): KeyEvent => ({
  kind: 'read',
  shown: picture('firstName', shown),
  ...(claim && {
    claim: { runId: claim.runId, from: picture('firstName', claim.from), to: picture('firstName', claim.to) },
  }),
});
const edited = (from: string, to: string): KeyEvent => ({
  kind: 'edit',
  from: picture('firstName', from),
  to: picture('firstName', to),
});
const written = (shown: string | null, sent: string): KeyEvent => ({
  kind: 'write',
  shown: shown === null ? null : picture('firstName', shown),
  sent: picture('firstName', sent),
  end: 'done',
});
const rest = (sequence: number): KeyEvent => ({ kind: 'rest', runId: `run-${sequence}` });

const breachOf = <State>(rule: Rule<State>, events: readonly KeyEvent[], field = 'firstName'): string | null =>
  replay(rule, events, { field, fateOf: () => reached });

const claim = { runId: 'run-2', from: 'ELM', to: 'Fir' };
/** One feed wrote ELM, and another one is to make it Fir. */
const beginning = [named(1, 'crm', 'ELM'), written(null, 'ELM'), rest(1), named(2, 'shop', 'Fir'), read('ELM')];
/** A third feed changes what is there. */
const ending = [rest(2), named(3, 'main', 'Elm'), read('Fir'), written('Fir', 'Elm'), rest(3)];

test('a claim that was never sent counts as landed where people have typed in its value', () => {
  const typed = [...beginning, edited('ELM', 'Fir'), read('Fir', claim), ...ending];
  expect(breachOf(valueRule('firstName', false), typed)).toBeNull();
});

test.each([
  { name: 'without a claim', events: [edited('ELM', 'Fir'), read('Fir')] },
  {
    name: 'with a claim of another value',
    events: [edited('ELM', 'Fir'), read('Fir', { ...claim, to: 'Oak' })],
  },
  {
    name: 'with a claim of a run that names no such row',
    events: [edited('ELM', 'Fir'), read('Fir', { ...claim, runId: 'run-9' })],
  },
  {
    name: 'with a claim over a value that the rules hold',
    events: [edited('ELM', 'Fir'), read('Fir', { ...claim, from: 'by hand' })],
  },
  {
    name: 'with a claim whose row has ended',
    events: [edited('ELM', 'Fir'), read('Fir'), rest(2), read('Fir', claim)],
  },
  { name: 'with a claim, where people typed nothing', events: [read('Fir', claim)] },
])('what people typed is theirs $name', ({ events }) => {
  const breach = breachOf(valueRule('firstName', false), [...beginning, ...events, ...ending]);
  expect(breach).toContain('firstName was "Fir", and Patchbay wrote "Elm"');
});

test('a number that people added and a claim adds counts as Patchbay’s, and leaves with the file that named it', () => {
  const shown = (value: string): Picture => (value === '' ? new Map() : picture(item, value));
  const events = (isClaimed: boolean): readonly KeyEvent[] => [
    rowOf(1, 'shop', { 'phone work': phone }),
    { kind: 'read', shown: shown('') },
    { kind: 'edit', from: shown(''), to: shown(there) },
    {
      kind: 'read',
      shown: shown(there),
      ...(isClaimed && { claim: { runId: 'run-1', from: picture(item, ''), to: picture(item, there) } }),
    },
    rest(1),
    rowOf(2, 'shop', { 'phone work': '+14155550101' }),
    { kind: 'read', shown: shown(there) },
    { kind: 'write', shown: shown(there), sent: new Map(), end: 'done' },
    rest(2),
  ];
  expect(breachOf(itemRule('phone', phone), events(true), item)).toBeNull();
  expect(breachOf(itemRule('phone', phone), events(false), item)).toContain(`${item} was "there"`);
});
