/**
 * Column names: how they are shown, compared and suggested, and which are ignored. Two names mean the same column when they differ only in
 * case, spaces, `_` and dashes (`docs/contract.md`, "Input"), or in an arrow behind them.
 */

/** The form in which names are compared, and the name of a slot: NFC, lower case, no spaces, `_` or dashes. */
export function normaliseHeader(name: string): string {
  return tidyHeader(name)
    .toLowerCase()
    .replace(/[\s_\p{Pd}]/gu, '');
}

/** By which a report shows the order of its rows, behind a name: `Last Name  ↑`. */
export const sortMarks = ['↑', '↓', '▲', '▼'] as const;
const sortMark = new RegExp(`\\s[${sortMarks.join('')}]$`, 'u');

/** The name as it is shown: NFC, without characters of no width, spaces around it, or an arrow that shows the order of the rows. */
export function tidyHeader(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .trim()
    .replace(sortMark, '')
    .trimEnd();
}

/** The columns that Patchbay adds to a fix-file (`docs/rules.md`, "Dead letters"). They hold no data of the user. */
const fixFileColumns: ReadonlySet<string> = new Set(['_id', '_line', '_code', '_hint']);

/** True for a header that is never read as data: empty, or a column of a fix-file. */
export function isIgnoredHeader(name: string): boolean {
  const tidy = tidyHeader(name);
  return tidy === '' || fixFileColumns.has(tidy.toLowerCase());
}

/** What a template for people says of a column, behind its name: `First Name [Required]`, `Nachname (Pflichtfeld)`. */
const requirement =
  /[[(]\s*(?:required|mandatory|optional|pflichtfeld|pflichtangabe|erforderlich|obligatoire|requis|facultatif|obligatorio|requerido|opcional)\s*[\])]\s*$/iu;

export function withoutRequirement(header: string): string {
  return header.replace(requirement, '');
}

/** Tells of a column, or of the path of a member, whether `ignore` of a mapping names it. */
export function ignoredBy({ ignore = [] }: { readonly ignore?: readonly string[] | undefined }) {
  const ignored = new Set(ignore.map(normaliseHeader));
  return (name: string): boolean => ignored.has(normaliseHeader(name));
}

/** What a spreadsheet calls a column: `A` for 0. */
export function columnLetters(index: number): string {
  let name = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(0x41 + ((rest - 1) % 26)) + name;
  }
  return name;
}

/** The compared part of a name: the work is quadratic in its length. */
const lengthMax = 60;

/**
 * The candidate that was probably meant, for "did you mean": the one with the fewest edits, if these are at most a third
 * of the name's length, or two (one in names of three letters). Null if none is. The first of several wins.
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
