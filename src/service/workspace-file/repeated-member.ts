/**
 * Finds a member that stands twice in one object: `JSON.parse` keeps the last one, and the value of the other would be
 * lost in silence.
 */

/** How many members the objects of a value have, at all depths. Its depth is limited by whoever read it. */
export function memberCountOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (!Array.isArray(value)) count = Object.keys(value).length;
  for (const inner of Object.values(value)) count += memberCountOf(inner);
  return count;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The name of the first one; null where there is none. The text is JSON. */
export function repeatedMember(text: string): string | null {
  // The names of the objects around the place that was reached; a list has none.
  const around: Set<string>[] = [];
  let last = '';
  for (const [found] of text.matchAll(token)) {
    if (found === '{' || found === '[') around.push(new Set());
    else if (found === '}' || found === ']') around.pop();
    else if (found !== ':') last = found;
    else {
      const name = String(JSON.parse(last));
      if (around.at(-1)?.has(name)) return name;
      around.at(-1)?.add(name);
    }
  }
  return null;
}
