/** The content of a file as one word: by it a file is known again. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** SHA-256 in hex, streaming. Throws the system's error. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
