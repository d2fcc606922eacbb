/** The history of a key that was in doubt. */
import { expect, onTestFinished, test } from 'vitest';
import { eventsPerKeyMax } from '#src/ledger/contacts.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { addKeyEvent, keyEvents } from '#src/ledger/sqlite/keys.ts';

test('a key keeps its newest events, oldest first, whatever happens to other keys', () => {
  const db = openDatabase(':memory:');
  onTestFinished(() => db.close());
  const event = { runId: 'r1', kind: 'doubt', contactId: null, detail: 'x'.repeat(500) } as const;
  for (let atMs = 1; atMs <= eventsPerKeyMax + 5; atMs += 1) addKeyEvent(db, { ...event, key: 'k1', atMs });
  addKeyEvent(db, { ...event, key: 'k2', atMs: 1 });
  const kept = keyEvents(db, 'k1');
  expect(kept.map((one) => one.atMs)).toEqual(Array.from({ length: eventsPerKeyMax }, (_, index) => index + 6));
  expect(kept[0]?.detail).toHaveLength(200);
  expect(keyEvents(db, 'k2')).toHaveLength(1);
  expect(keyEvents(db, 'k3')).toEqual([]);
});
