/** Whose numbers a snapshot shows: the whole workspace's, or one user's. A series of its own each. Pure. */
import { PatchbayError } from '#src/errors.ts';
import { workspaceSeries } from '#src/ledger/snapshot-record.ts';

/** A user's id is part of a path, so only what cannot lead elsewhere is taken (`facts.md`: it begins with US). */
const userPattern = /^US[A-Za-z0-9_-]{1,100}$/;

/**
 * Null is the whole workspace.
 * @throws PatchbayError `usage` `userInvalid`.
 */
export function seriesOf(user: string | null): string {
  if (user === null) return workspaceSeries;
  if (userPattern.test(user)) return user;
  throw new PatchbayError('usage', 'userInvalid', `"${user.slice(0, 60)}" is no id of a user`, {
    hint: 'It begins with US, as in USa1b2c3d4e5; ids of users stand with the numbers in: patchbay numbers ls --json',
  });
}

export function userOf(series: string): string | null {
  return series === workspaceSeries ? null : series;
}
