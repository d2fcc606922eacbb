/**
 * A list that is too long for memory: in a file, one line of JSON for each item. The file loses its name as soon as it is open, so that
 * nothing of it stays behind, whatever ends the process: it may hold personal data.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { makeFolder, ownerOnlyFileMode, writeAsAsked } from '#src/whole-file.ts';

const hint =
  'It holds for a moment what is too long for memory. Make room in the data folder, and try again. Nothing was changed.';

/** Items are JSON values. Read in their order, and as often as they are asked for. Disposed of, they are gone. */
export interface Spool<Item> extends AsyncIterable<Item>, AsyncDisposable {
  readonly count: number;
  /** @throws PatchbayError as `openSpool`. */
  add(items: readonly Item[]): Promise<void>;
}

/**
 * @param folder made where it is missing. `signal`: ends every reading, which throws its reason.
 * @throws PatchbayError `usage` `outputNotWritten` for what the system refuses, such as a full disk.
 */
export async function openSpool<Item>(folder: string, signal: AbortSignal): Promise<Spool<Item>> {
  const path = join(folder, `${randomUUID()}.spool`);
  const file = await writeAsAsked(path, () => openNameless(folder, path), hint);
  let count = 0;
  return {
    get count() {
      return count;
    },
    add: async (items) => {
      if (items.length === 0) return;
      const text = items.map((item) => `${JSON.stringify(item)}\n`).join('');
      await writeAsAsked(path, () => file.writeFile(text), hint);
      count += items.length;
    },
    [Symbol.asyncIterator]: () => read<Item>(file, signal),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

async function openNameless(folder: string, path: string): Promise<FileHandle> {
  await makeFolder(folder);
  const file = await open(path, 'wx+', ownerOnlyFileMode);
  await rm(path);
  return file;
}

const pieceBytes = 64 * 1024;

/** Ends with the file. */
async function* read<Item>(file: FileHandle, signal: AbortSignal): AsyncGenerator<Item> {
  const decoder = new StringDecoder('utf8');
  const piece = Buffer.alloc(pieceBytes);
  let rest = '';
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(piece, 0, pieceBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const lines = (rest + decoder.write(piece.subarray(0, bytesRead))).split('\n');
    rest = lines.pop() ?? '';
    // Written by `add`, from items of that type.
    for (const line of lines) yield JSON.parse(line) as Item;
  }
}
