/** What each format offers once its head is known; `openSource` adds the file around it. */
import type { SourceHead, SourceItem, SourceTail } from '#src/sources/row.ts';

/** Items of one batch at most. */
export const itemsPerBatchMax = 500;

export interface FormatReader {
  readonly head: Omit<SourceHead, 'encoding'>;
  /** May be taken once. Batches hold 1 to 500 items. */
  batches(): AsyncGenerator<readonly SourceItem[]>;
  /** Valid after the last batch. */
  tail(): SourceTail;
}
