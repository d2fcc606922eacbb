/** The users of a workspace as rows. No endpoint of their own; numbers, calls and messages refer to them. */
import type { DatabaseSync } from 'node:sqlite';
import type { WorkspaceUser } from '../phone-numbers/phone-number.ts';

export interface UserTable {
  readonly insert: (user: WorkspaceUser) => void;
  readonly find: (id: string) => WorkspaceUser | null;
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<WorkspaceUser>;
}

export function createUserTable(database: DatabaseSync): UserTable {
  const insert = database.prepare('INSERT INTO users (id, document) VALUES (?, ?)');
  const find = database.prepare('SELECT document FROM users WHERE id = ?');
  return {
    insert: (user) => {
      insert.run(user.id, JSON.stringify(user));
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readDocument(row.document);
    },
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM users ORDER BY seq').iterate();
      for (const row of rows) yield readDocument(row.document);
    },
  };
}

/** The column holds what `insert` wrote, and nothing else. */
function readDocument(document: unknown): WorkspaceUser {
  return JSON.parse(String(document)) as WorkspaceUser;
}
