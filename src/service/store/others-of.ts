/** Who takes part in a conversation: everybody but the workspace's own number (`facts.md`, "Calls"). */
import type { DatabaseSync } from 'node:sqlite';

/** Answers the others of some numbers, each once, in their order. */
export type OthersOf = (phoneNumberId: string, numbers: readonly string[]) => readonly string[];

export function createOthersOf(database: DatabaseSync): OthersOf {
  const ownNumber = database.prepare("SELECT document ->> 'number' AS number FROM phone_numbers WHERE id = ?");
  return (phoneNumberId, numbers) => {
    const own = ownNumber.get(phoneNumberId)?.number;
    return [...new Set(numbers)].filter((number) => number !== own);
  };
}
