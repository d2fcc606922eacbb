/** The bytes of JSON's own signs. All are ASCII: in UTF-8 none of them is a part of another character. */

export const [lf, quote, backslash, comma, colon] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
export const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** White space between values. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === lf || byte === 0x0d || byte === 0x09;
}
