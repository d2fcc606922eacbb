/**
 * A name under which a file of any name can be stored on any system (bad-inputs.md, "Files and folders"). The
 * original name stands in the report.
 */

/** Leaves room for `<run>__` before and `.reason.txt` behind, within the usual 255 bytes. */
const nameBytesMax = 150;
const ourEnding = /(\.(csv|tsv|txt|json|ndjson|jsonl))?(\.gz)?$/i;
const windowsReserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Keeps letters and digits of all scripts, `.`, `-`, `_`, single spaces, and the ending. The same name gives the same result. */
export function safeFileName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}. _-]+/gu, '_')
    .replace(/ {2,}/g, ' ');
  const ending = ourEnding.exec(cleaned)?.[0] ?? '';
  const stem = cleaned
    .slice(0, cleaned.length - ending.length)
    .replace(/^[\s._-]+/, '')
    .replace(/[\s.]+$/, '');
  const usable = /[\p{L}\p{N}]/u.test(stem) ? stem : 'file';
  const free = windowsReserved.test(usable) ? `file-${usable}` : usable;
  return cutBytes(free, nameBytesMax - Buffer.byteLength(ending)) + ending;
}

/** Cuts whole characters from the end. */
function cutBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const chars = [...text];
  // Ends at the latest with no character left.
  while (Buffer.byteLength(chars.join('')) > bytesMax) chars.length = Math.min(chars.length - 1, bytesMax);
  return chars.join('').replace(/[\s.]+$/, '');
}
