/** How a file is read for `map` where its mapping is to be replaced: by what that one says of sheet and encoding, as far as the file bears it out. */
import { PatchbayError } from '#src/errors.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { FileFacts } from '#src/mapping/propose/column-facts.ts';
import { keyColumnsLacked } from '#src/mapping/propose/kept-key.ts';

/** What separates the cells is seen anew, as it is with each export that has changed. */
export type KeptReading = Pick<Mapping, 'sheet' | 'encoding'>;

interface Read {
  readonly facts: FileFacts;
  readonly head: { readonly encoding: string };
}

type ReadBy<Result> = (kept: KeptReading) => Promise<Result>;

/**
 * @param readBy is called until the file can be read: without the sheet where the workbook lacks it; without the encoding where the file is
 *   not in it, or where its header then lacks the key, and does not as it is detected.
 * @param chosen what a person says now, which comes before what the mapping says.
 * @throws PatchbayError what `readBy` throws.
 */
export async function readKeeping<Result extends Read>(
  readBy: ReadBy<Result>,
  before: Mapping,
  chosen: { readonly sheet?: string; readonly encoding?: string },
): Promise<Result> {
  const ofSheet = chosen.sheet !== undefined || before.sheet === undefined ? {} : { sheet: before.sheet };
  const detected = (): Promise<Result> => readInSheet(readBy, ofSheet);
  if (chosen.encoding !== undefined || before.encoding === undefined) return detected();
  const kept = await orError(readInSheet(readBy, { ...ofSheet, encoding: before.encoding }));
  const isRead = !(kept instanceof PatchbayError);
  if (!isRead && kept.code === 'encodingInvalid') return detected();
  const hasKey = ({ facts }: Read): boolean => keyColumnsLacked(before, facts).length === 0;
  if (isRead && hasKey(kept)) return kept;
  const other = await orError(detected());
  const isBetter = !(other instanceof PatchbayError) && (hasKey(other) || !isRead || isMisread(kept, other));
  if (isBetter) return other;
  if (!isRead) throw kept;
  return kept;
}

/** Any bytes are text in UTF-16, which is detected where it is the encoding. Of another one it is not known that it is wrong. */
function isMisread({ head: { encoding } }: Read, detected: Read): boolean {
  return encoding.startsWith('utf-16') && encoding !== detected.head.encoding;
}

async function readInSheet<Result>(readBy: ReadBy<Result>, kept: KeptReading): Promise<Result> {
  const { sheet, ...others } = kept;
  const read = await orError(readBy(kept));
  if (!(read instanceof PatchbayError)) return read;
  if (read.code !== 'sheetMissing' || sheet === undefined) throw read;
  return readBy(others);
}

/** What is wrong with a file, as a value. */
async function orError<Result>(reading: Promise<Result>): Promise<Result | PatchbayError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return error;
    throw error;
  }
}
