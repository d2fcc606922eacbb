import { expect, test } from 'vitest';
import type { HostRecord } from '#src/ledger/hosts.ts';
import { entryOf, hostSilentMaxMs, isAtWork, isAway } from '#src/ledger/rules/hosts.ts';

const nowMs = 1_000_000;
const host = (id: string, parts: Partial<HostRecord> = {}): HostRecord => ({
  ...{ id, name: `${id}:/data`, session: `${id}#1`, engine: null, queue: 'redis', isSandbox: false },
  ...{ runsSchedules: true, leads: false, feeds: [], startedAtMs: 0, seenAtMs: nowMs, hasLeft: false },
  ...parts,
});
const enter = (one: HostRecord, known: readonly HostRecord[], dead: readonly string[] = []) =>
  entryOf(one, known, (session) => dead.includes(session), 'known', 'fresh');

test('a host is away after fifteen seconds of silence, counted from when its silence could be seen', () => {
  expect(isAway(host('a'), nowMs + hostSilentMaxMs - 1)).toBe(false);
  expect(isAway(host('a'), nowMs + hostSilentMaxMs)).toBe(true);
  expect(isAway(host('a'), nowMs + hostSilentMaxMs, nowMs + 1)).toBe(false);
});

test('a host whose engine has stopped is not at work, and not away before others may go on without it', () => {
  const left = host('a', { hasLeft: true });
  expect(isAtWork(left, nowMs)).toBe(false);
  expect(isAway(left, nowMs)).toBe(false);
});

test('the id of a host at work is taken, unless its process is dead, or has been silent', () => {
  const again = host('a', { session: 'a#2' });
  expect(enter(again, [host('a')])).toMatchObject({ kind: 'taken', by: { session: 'a#1' } });
  expect(enter(again, [host('a')], ['a#1'])).toMatchObject({ kind: 'entered', queueId: 'fresh' });
  expect(enter(again, [host('a', { seenAtMs: nowMs - hostSilentMaxMs })])).toMatchObject({ kind: 'entered' });
  expect(enter(again, [host('a', { hasLeft: true })])).toMatchObject({ kind: 'entered' });
});

test('no host works beside one whose queue nobody else can use', () => {
  expect(enter(host('b', { queue: 'embedded' }), [host('a')])).toMatchObject({ kind: 'queueNotShared' });
  expect(enter(host('b'), [host('a', { queue: 'embedded' })])).toMatchObject({ kind: 'queueNotShared' });
  expect(enter(host('b', { queue: 'embedded' }), [host('a', { hasLeft: true })])).toMatchObject({ kind: 'entered' });
});

test('no sandbox works beside another one', () => {
  const one = host('a', { isSandbox: true });
  expect(enter(host('b', { isSandbox: true }), [one])).toMatchObject({ kind: 'sandboxNotShared', other: { id: 'a' } });
});

test('the queue keeps its identity while anybody is at work', () => {
  expect(enter(host('b'), [host('a')])).toMatchObject({ queueId: 'known', others: [{ id: 'a' }] });
  expect(entryOf(host('b'), [host('a')], () => false, null, 'fresh')).toMatchObject({ queueId: 'fresh' });
});
