/** What `schedule ls` says of the last time. */
import { describe, expect, it } from 'vitest';
import { outcomeText } from '#src/cli/commands/schedule.ts';
import { createOutput } from '#src/cli/output.ts';
import type { TickRecord } from '#src/ledger/schedules.ts';

const output = createOutput({ color: false });
const tick: TickRecord = {
  id: 't1',
  schedule: 'crm',
  work: 'take',
  trigger: 'due',
  user: null,
  dueAtMs: 0,
  state: 'ended',
  attempts: 1,
  startedAtMs: 0,
  endedAtMs: 0,
  outcome: 'run',
  code: null,
  message: null,
  kind: null,
  hint: null,
  runIds: ['r1', 'r2', 'r3', 'r4', 'r5'],
  takenAtMs: null,
};

describe('The last time of a schedule', () => {
  it('names a few runs, however many files were taken', () => {
    expect(outcomeText(output, tick)).toBe('run r1, r2, r3 and 2 more');
  });
});
