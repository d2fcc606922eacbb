/**
 * How a feed may be called (`rules.md`, "Workspace, feed, key").
 *
 * A name is a folder's name too, so two names that differ only in case would be one feed on some file systems.
 */

const charactersMax = 60;
/** The characters of a name; `feedNameProblem` knows the rest. */
export const feedNamePattern = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._-]*$/u;
export const expectedFeedName = `a name that begins with a letter or digit, then letters, digits, spaces, dots, underscores and hyphens, up to ${charactersMax} characters`;

const taken: Readonly<Record<string, string>> = {
  main: 'main is the feed of the import folder itself and of files named on the command line',
  'phone-numbers': 'phone-numbers is the schedule of the phone-number snapshots',
};

/** What is wrong with a configured feed's name, in one sentence; null where it is fine. */
export function feedNameProblem(name: string): string | null {
  if (!feedNamePattern.test(name) || [...name].length > charactersMax) {
    return `a feed needs ${expectedFeedName}`;
  }
  if (/[ .]$/.test(name)) return 'the name of a feed must not end with a space or a dot';
  const folded = name.toLowerCase();
  return Object.hasOwn(taken, folded) ? `no feed may be called ${name}: ${taken[folded]}` : null;
}
