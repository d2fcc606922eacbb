/** A run that carries out a plan which stops: `--accept`, a raised limit or an approval lets it pass, and no looser configuration does. */
import { expect, it } from 'vitest';
import { noOptions, type RunOptions, type RunReason } from '#src/ledger/runs.ts';
import { plannedStop, withPlannedStop } from '#src/runs/planned-stop.ts';

const figuresOf = (guard: string, count: number) => ({
  ...{ [`${guard}Count`]: count, [`${guard}Base`]: 30, [`${guard}Limit`]: 0.05 },
});
const reason = (facts: RunReason['facts'], message = 'stopped before the first write: too many'): RunReason => ({
  ...{ code: 'guardUpdates', message, hint: 'Use run x.', facts },
});

function stopOf(facts: RunReason['facts'], options: Partial<RunOptions> = {}, kind: 'file' | 'undo' = 'file') {
  const get = async () => ({ stop: reason(facts) });
  const run = { kind, options: { ...noOptions, planId: 'plan-1', ...options } };
  return plannedStop({ plans: { get } } as never, run);
}

it('stops, unless it is accepted or every figure is below a limit that was raised for it', async () => {
  const updates = figuresOf('updates', 6);
  expect(await stopOf(updates)).toMatchObject({ planId: 'plan-1', message: 'too many', figures: [{ count: 6 }] });
  expect(await stopOf(updates, { maxChange: 0.1 })).not.toBeNull();
  expect(await stopOf({ ...updates, ...figuresOf('dead', 6) }, { maxChange: 0.2 })).not.toBeNull();
  expect(await stopOf(figuresOf('columns', 1), { maxChange: 1, maxDead: 1 })).not.toBeNull();
  expect(await stopOf(updates, { maxChange: 0.2 })).toBeNull();
  expect(await stopOf({ ...updates, ...figuresOf('dead', 6) }, { maxChange: 0.2, maxDead: 0.2 })).toBeNull();
  expect(await stopOf(updates, { accept: true })).toBeNull();
});

it('does not stop without a plan, for contacts that are looked for anew, nor an undo, whose plan was shown', async () => {
  const updates = figuresOf('updates', 6);
  expect(await stopOf(updates, { planId: null })).toBeNull();
  expect(await stopOf(figuresOf('unlinked', 2))).toBeNull();
  expect(await stopOf(updates, {}, 'undo')).toBeNull();
});

it('says what the plan says, besides what the guards of the run say', async () => {
  const planned = await stopOf(figuresOf('updates', 6));
  if (planned === null) throw new Error('it stops');
  const alone = withPlannedStop(null, planned, { id: 'r-1' }, 'sandbox');
  expect(alone).toMatchObject({ code: 'guardUpdates', facts: figuresOf('updates', 6) });
  expect(alone.message).toBe('stopped before the first write: as its plan plan-1 says: too many');
  expect(alone.hint).toContain(
    'patchbay import --plan plan-1 --accept. Or approve the run: patchbay runs approve --sandbox r-1',
  );
  const dead = reason(figuresOf('dead', 9), 'stopped before the first write: 9 rejected');
  expect(withPlannedStop(dead, planned, { id: 'r-1' }, 'sandbox')).toEqual({
    ...dead,
    message: `${dead.message}; its plan plan-1 says: too many`,
    facts: { ...dead.facts, ...figuresOf('updates', 6) },
  });
  expect(withPlannedStop(reason(figuresOf('updates', 7)), planned, { id: 'r-1' }, 'sandbox').message).not.toContain(
    'plan-1',
  );
});
