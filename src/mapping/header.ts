/**
 * Column names, as people write them and as they are compared.
 *
 * Two names are the same column when they differ only in case, spaces, `_` and dashes (`contract.md`, "Input").
 */

/** The form in which names are compared, and the name of a slot: NFC, lower case, no spaces, `_` or dashes. */
export function normaliseHeader(name: string): string {
  return tidyHeader(name)
    .toLowerCase()
    .replace(/[\s_\p{Pd}]/gu, '');
}

/** The name as it is shown: NFC, without a byte order mark or spaces around it. */
export function tidyHeader(name: string): string {
  return name.normalize('NFC').trim();
}

/** The columns that Patchbay adds to a fix-file (`rules.md`, "Dead letters"). They are no data of the user. */
const fixFileColumns: ReadonlySet<string> = new Set(['_id', '_line', '_code', '_hint']);

/** True for a header that is neither data nor worth a note: empty, or a column of a fix-file. */
export function isIgnoredHeader(name: string): boolean {
  const tidy = tidyHeader(name);
  return tidy === '' || fixFileColumns.has(tidy.toLowerCase());
}

const listedCharactersMax = 600;

/** Column names as a sentence may list them: quoted, separated by commas, cut when there are very many. */
export function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const text = names.map((name) => `"${tidyHeader(name)}"`).join(', ');
  return text.length <= listedCharactersMax ? text : `${text.slice(0, listedCharactersMax)}… (${names.length} in all)`;
}
