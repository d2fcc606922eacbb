/**
 * Which source labels the service accepts (`facts.md`, "Create, read, update, delete"; `interface.md`, section 8).
 *
 * The words stand in `src/mapping/text-cells.ts` too, which this layer must not import, so that a wrong label is told
 * with its line when the configuration is loaded; a test holds both equal.
 */

export const sourceLengthMax = 72;
export const reservedSourceWords = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'] as const;
export const reservedSourcePrefixes = ['openphone', 'csv'] as const;

export const expectedSource = `a label of 1 to ${sourceLengthMax} characters, such as the name of the system that the files come from`;

/** What is expected instead; null where the label is accepted. Case does not count. */
export function sourceProblem(text: string): string | null {
  const label = text.trim().normalize('NFC');
  const length = [...label].length;
  if (length < 1 || length > sourceLengthMax || /\p{Cc}/u.test(label)) return expectedSource;
  const folded = label.toLowerCase();
  if (reservedSourceWords.some((word) => word === folded)) return `a label that the service does not reserve`;
  const prefix = reservedSourcePrefixes.find((reserved) => folded.startsWith(reserved));
  return prefix === undefined ? null : `a label that does not begin with "${prefix}", which the service reserves`;
}
