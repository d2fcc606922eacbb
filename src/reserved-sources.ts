/**
 * The source labels that the service keeps for itself (`docs/interface.md`, section 8; the words: `docs/facts.md`, "Create, read, update,
 * delete"). Settings and cells are read by it, each with its own sentences; the service has its own list, since it is the referee.
 */

/** In characters. */
export const sourceLengthMax = 72;

const words = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'] as const;
const prefixes = ['openphone', 'csv'] as const;

/** The reserved word that the label is, and the reserved prefix that it begins with; case does not count. `undefined`: none. */
export function reservedSource(label: string): {
  readonly word: string | undefined;
  readonly prefix: string | undefined;
} {
  const folded = label.toLowerCase();
  return {
    word: words.find((reserved) => reserved === folded),
    prefix: prefixes.find((reserved) => folded.startsWith(reserved)),
  };
}
