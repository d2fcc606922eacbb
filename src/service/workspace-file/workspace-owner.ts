/** Who owns a loaded workspace: the creator of a contact that names none, and the user of a key. */
import { inventUsers } from '../seed/seed-phone-numbers.ts';
import type { UserTable } from '../store/user-table.ts';

export interface WorkspaceOwner {
  /**
   * What the file's section `workspace` says. It need not be one of the users: the interface does not look up who
   * creates a contact either, and an older store knows only the users of its numbers.
   */
  readonly name: (id: string) => void;
  /**
   * Whom the file names; else the first user who has that role; else the first user; else somebody new, who is added
   * to the users. Asked for when all users of the file are known, and the same from then on.
   */
  readonly id: () => string;
}

export function createWorkspaceOwner(users: UserTable): WorkspaceOwner {
  let settled: string | null = null;
  return {
    name: (id) => {
      settled = id;
    },
    id: () => {
      settled ??= firstOwnerId(users) ?? invent(users);
      return settled;
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
