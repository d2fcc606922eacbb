/** A record whose names come from people: without a prototype, so that `constructor` is found only where it was put. */
export function plainRecord<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record: Record<string, T> = Object.create(null);
  for (const [name, value] of entries) record[name] = value;
  return record;
}
