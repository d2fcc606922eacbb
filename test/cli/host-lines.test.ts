/** A host in `status` and `hosts ls`: what waits for one that is away, and how much of it is not shown. */
import { expect, it } from 'vitest';
import { hostLines } from '#src/cli/commands/hosts.ts';
import { createOutput } from '#src/cli/output.ts';
import type { HostDocument, WaitingRun } from '#src/operations/hosts.ts';

function hostWith(waitingCount: number): HostDocument {
  const waiting = Array.from({ length: waitingCount }, (_, index): WaitingRun => {
    return { run: `run-${index + 1}`, feed: 'crm', file: `${index + 1}.csv`, isUnread: true };
  });
  const host = { host: 'h0123456789ab', name: 'berlin-2:/srv/patchbay', isThis: false };
  return { ...host, state: 'away', seenAt: '2026-11-21T14:00:00.000Z', waiting };
}

it('lists the first runs that wait for it, and says how many more there are and how to see them', () => {
  const output = createOutput({ color: false, data: '/srv/two' });
  const lines = hostLines(output, hostWith(57));
  expect(lines.filter((line) => line.includes('waits for it'))).toHaveLength(50);
  expect(lines.slice(-2)).toEqual([
    '  … and 7 more: patchbay --data /srv/two hosts ls --json',
    '  start it again; if it is gone for good: patchbay --data /srv/two hosts forget h0123456789ab',
  ]);
  expect(lines[0]).toBe('berlin-2:/srv/patchbay  h0123456789ab  away since 2026-11-21 14:00:00Z');
  expect(hostLines(output, hostWith(50)).join('\n')).not.toContain('more');
});
