/** Percentages as people write them, `30%` or `2.5%`; inside the program a fraction from 0 to 1. */

/** The form of a percentage, for messages and for the JSON Schema. */
export const percentagePattern = /^\d{1,3}(\.\d{1,4})?%$/;

/** A fraction from 0 to 1, or null where the text is no percentage up to 100%. Never throws. */
export function parsePercentage(text: string): number | null {
  const trimmed = text.trim();
  if (!percentagePattern.test(trimmed)) return null;
  const percent = Number(trimmed.slice(0, -1));
  return percent <= 100 ? percent / 100 : null;
}

/** The text that `parsePercentage` reads as the same fraction. */
export function formatPercentage(fraction: number): string {
  return `${Number((fraction * 100).toFixed(4))}%`;
}
