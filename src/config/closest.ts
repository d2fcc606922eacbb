/** The name that was most likely meant. Without dependencies, since the command line needs it at every start. */

const nameCharactersMax = 80;

/**
 * The candidate closest to a name, where case, `_` and `-` do not count, or null where none is close: at most one
 * change per three characters, and at least one.
 */
export function closest(name: string, candidates: readonly string[]): string | null {
  const wanted = plain(name);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 3)) ? best.candidate : null;
}

function plain(name: string): string {
  return name.slice(0, nameCharactersMax).toLowerCase().replaceAll(/[_-]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let line = 1; line <= a.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(row, column - 1) + (a[line - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        a[line - 1] === b[column - 2] && a[line - 2] === b[column - 1] ? at(before, column - 2) + 1 : replaced;
      next.push(Math.min(replaced, swapped, at(row, column) + 1, at(next, column - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
