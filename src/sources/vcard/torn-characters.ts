/**
 * Some programs fold a vCard's lines after 75 bytes, in the middle of a character of UTF-8. Such a file is no valid UTF-8,
 * and each of its letters beyond ASCII would be read wrong. Here the rest of the character is moved before the fold.
 *
 * Invariants: no byte is lost or added, lines keep their numbers, and the bytes are the same wherever they are cut.
 */
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
/** As far as bytes around a line feed are looked at: a character without its last byte, CR, LF, a space, three bytes. */
const lookedAtBytes = 9;

export async function* joinTornCharacters(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let carry: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const piece = Buffer.concat([carry, chunk]);
    join(piece);
    const cut = Math.max(0, piece.length - lookedAtBytes);
    if (cut > 0) yield piece.subarray(0, cut);
    carry = piece.subarray(cut);
  }
  if (carry.length > 0) yield carry;
}

/** Each turn goes to the next line feed. What is done once is not changed by doing it again. */
function join(bytes: Buffer): void {
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    const after = bytes[at + 1];
    if ((after !== space && after !== tab) || !isContinuation(bytes[at + 2])) continue;
    const fold = bytes[at - 1] === carriageReturn ? at - 1 : at;
    const missing = missingBytes(bytes, fold);
    const rest = bytes.subarray(at + 2, at + 2 + missing);
    if (missing === 0 || rest.length < missing || !rest.every(isContinuation)) continue;
    bytes.set(Buffer.concat([rest, bytes.subarray(fold, at + 2)]), fold);
  }
}

/** How many bytes the character that ends before `end` still needs: 0 to 3. */
function missingBytes(bytes: Buffer, end: number): number {
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return Math.max(0, needed - back);
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
