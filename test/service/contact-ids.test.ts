/** Ids of contacts (`docs/facts.md`, "ids"): 24 hex digits, in the order of their making. */
import { expect, test } from 'vitest';
import { createContactIds } from '#src/service/contacts/contact-changes.ts';

test('more ids than a millisecond has room for are whole and in order, and so are those after the clock was set back', () => {
  const nextId = createContactIds();
  const ids = Array.from({ length: 70_000 }, () => nextId(1_800_000_000_000));
  ids.push(nextId(1_700_000_000_000));
  expect(ids.find((id) => !/^[\da-f]{24}$/.test(id))).toBeUndefined();
  expect(ids.findIndex((id, index) => index > 0 && id.slice(0, 16) <= (ids[index - 1] ?? '').slice(0, 16))).toBe(-1);
});
