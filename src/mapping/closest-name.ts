/** Finds the name that somebody probably meant, for "did you mean". */

/** Longer names are compared by their beginning only: the work is quadratic in it. */
const lengthMax = 60;

/**
 * The candidate nearest to `name` in edits, when it is near enough (a third of the name's length; two edits, which two
 * swapped letters are; one for names of three letters): null when none is. Of several equally near the first wins.
 */
export function closestName(name: string, candidates: readonly string[]): string | null {
  const wanted = name.toLowerCase().slice(0, lengthMax);
  let best: string | null = null;
  let bestDistance = Math.max(wanted.length > 3 ? 2 : 1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase().slice(0, lengthMax));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein: insertions, deletions and replacements; ends after `left.length * right.length` steps. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? left.length;
}
