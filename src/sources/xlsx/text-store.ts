/**
 * The shared texts of a workbook, kept outside the JavaScript heap: cells name a text by its number, and the texts may come to
 * more than the heap has room for.
 *
 * Invariant: never more than `bytesMax` bytes, places included.
 */

const blockBytes = 1024 * 1024;
const placesPerBlock = 64 * 1024;
/** Offset and length. */
const bytesPerPlace = 8;

export interface TextStore {
  /** Texts are numbered from 0. @returns false if there is no room for it. */
  add(text: string): boolean;
  /** Null if no text has this number. */
  get(index: number): string | null;
  /** Gives the memory back; no text is there any more. */
  clear(): void;
}

/** @param textBytesMax of one text: what is longer is cut there, which is beyond what a cell may hold. */
export function createTextStore(bytesMax: number, textBytesMax = 128 * 1024): TextStore {
  const blocks: Buffer[] = [];
  const places: Uint32Array[] = [];
  let count = 0;
  let free = 0;
  let bytes = 0;

  const reserve = (length: number): number => {
    if (blocks.length === 0 || free + length > blockBytes) {
      blocks.push(Buffer.allocUnsafeSlow(blockBytes));
      bytes += blockBytes;
      free = 0;
    }
    const offset = (blocks.length - 1) * blockBytes + free;
    free += length;
    return offset;
  };

  return {
    add: (text) => {
      let encoded = Buffer.from(text, 'utf8');
      if (encoded.length > textBytesMax) encoded = encoded.subarray(0, textBytesMax);
      const index = count % placesPerBlock;
      if (index === 0) {
        places.push(new Uint32Array(placesPerBlock * 2));
        bytes += placesPerBlock * bytesPerPlace;
      }
      const offset = reserve(encoded.length);
      if (bytes > bytesMax) return false;
      encoded.copy(blocks.at(-1) ?? encoded, offset % blockBytes);
      places.at(-1)?.set([offset, encoded.length], index * 2);
      count++;
      return true;
    },
    get: (index) => {
      if (!Number.isSafeInteger(index) || index < 0 || index >= count) return null;
      const block = places[Math.floor(index / placesPerBlock)];
      const at = (index % placesPerBlock) * 2;
      const offset = block?.[at] ?? 0;
      const length = block?.[at + 1] ?? 0;
      const start = offset % blockBytes;
      return blocks[Math.floor(offset / blockBytes)]?.toString('utf8', start, start + length) ?? null;
    },
    clear: () => {
      blocks.length = 0;
      places.length = 0;
      count = 0;
    },
  };
}
