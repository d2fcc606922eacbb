/** Whether two answers of `Ledger.placeId` name one place. */

/**
 * One database has two names: with its cluster, and without it (`/16384/16387`) for a user who may not ask which one it is. So hosts that use
 * it as different users are no copies of each other.
 */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  const lacksCluster = one.startsWith('/') || other.startsWith('/');
  return lacksCluster && withoutCluster(one) === withoutCluster(other);
}

/** The place of a file has no `/`, and stays as it is. */
function withoutCluster(place: string): string {
  const slash = place.indexOf('/');
  return slash === -1 ? place : place.slice(slash);
}
