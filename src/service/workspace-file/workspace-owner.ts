/** Who owns a loaded workspace: the creator of a contact that names none, and the user of a key. */

import type { UserTable } from '#src/service/store/workspace-tables.ts';
import { inventUsers } from '../seed/seed-phone-numbers.ts';
import type { Problems, RecordPlace } from './problems.ts';

export interface WorkspaceOwner {
  /** What the file's section `workspace` says. */
  readonly name: (id: string, place: RecordPlace) => void;
  /**
   * Whom the file names; else the first user who has that role; else the first user; else somebody new, who is added
   * to the users. Asked for when all users of the file are known, and the same from then on.
   */
  readonly id: () => string;
  /** The same, when everything was taken: an owner whom the file names must be one of its users. */
  readonly settle: (problems: Problems) => string;
}

export function createWorkspaceOwner(users: UserTable): WorkspaceOwner {
  let settled: string | null = null;
  let namedAt: RecordPlace | null = null;
  const id = () => {
    settled ??= firstOwnerId(users) ?? invent(users);
    return settled;
  };
  return {
    name: (named, place) => {
      settled = named;
      namedAt = place;
    },
    id,
    settle: (problems) => {
      const isKnown = users.find(id()) !== null;
      if (!isKnown && namedAt !== null) problems.add(namedAt, ['ownerUserId'], 'no user of the file has this id');
      return id();
    },
  };
}

function firstOwnerId(users: UserTable): string | null {
  let first: string | null = null;
  for (const user of users.each()) {
    if (user.role === 'owner') return user.id;
    first ??= user.id;
  }
  return first;
}

function invent(users: UserTable): string {
  const [owner] = inventUsers(0);
  users.insert(owner);
  return owner.id;
}
