/** Enters PATCHes in the ledger before they are sent (`contacts/claim-written.ts` says why). */
import { type Chunk, ownedIfWritten, type PlannedRecord } from './chunk.ts';
import type { UpsertParts } from './parts.ts';

export async function claimPatches(parts: UpsertParts, chunk: Chunk, planned: readonly PlannedRecord[]): Promise<void> {
  const patches = planned.filter((one) => one.plan.kind === 'patch');
  if (patches.length === 0) return;
  await parts.ledger.contacts.claimItems(
    chunk.owner,
    chunk.run.id,
    patches.map((one) => ({ ...ownedIfWritten(one), position: one.record.position })),
  );
}
