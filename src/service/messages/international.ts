/**
 * Which recipients are international (section 7: not shown). Everybody outside the United States and Canada, as the
 * regions of a number's restrictions have it (2.4: CA, US, Intl).
 *
 * It is told from the number alone. Country code 1 is shared: its area codes of other countries are international, those
 * of territories of the United States are not.
 */

/** Area codes under +1 that belong neither to the United States nor to Canada. */
const otherCountries: ReadonlySet<string> = new Set([
  ...['242', '246', '264', '268', '284', '345', '441', '473', '649', '658', '664', '721', '758', '767', '784'],
  ...['809', '829', '849', '868', '869', '876'],
]);

/** `number`: E.164. */
export function isInternational(number: string): boolean {
  return !number.startsWith('+1') || otherCountries.has(number.slice(2, 5));
}
