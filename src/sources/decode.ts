/**
 * Bytes to text, as a stream. Nothing behind this point sees a byte, so no character can be torn at a chunk border
 * (bad-inputs.md, "Parsers: known traps").
 *
 * Invariant: the same text comes out however the bytes are cut.
 */
import { fileError } from '#src/sources/file-error.ts';

/** Removes one BOM. Throws `encodingInvalid` (file) where the bytes are not in that encoding. */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  label: string,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(label, { fatal: true });
  let byteCount = 0;
  const decode = (chunk: Uint8Array | null): string => {
    try {
      return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (error) {
      const hint = 'Save the file as UTF-8, or name its true encoding with --encoding.';
      const message = `${name} is not valid ${label} (after byte ${byteCount})`;
      throw fileError('encodingInvalid', message, { file: name, encoding: label, byteOffset: byteCount }, hint, error);
    }
  };
  for await (const chunk of bytes) {
    const text = decode(chunk);
    byteCount += chunk.length;
    if (text !== '') yield text;
  }
  const last = decode(null);
  if (last !== '') yield last;
}
