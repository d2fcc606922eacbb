/** Whether two values of replies say the same. Pure. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absent and null are the same (`facts.md`: members may be either), and the order of an object's members is free. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if ((one ?? null) === null || (other ?? null) === null) return (one ?? null) === (other ?? null);
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, place) => sameValue(item, other[place]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  return namesOf(one, other).every((name) => sameValue(one[name], other[name]));
}

/** The members of both, each once: first those of the first. */
export function namesOf(one: JsonObject, other: JsonObject): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}
