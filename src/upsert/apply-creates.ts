/**
 * Creates the contacts of a chunk that no look-up found.
 *
 * The intents are committed, durable, before the first byte of a POST leaves: whatever dies after that, somebody will
 * look before another POST is sent (`rules.md`, "One contact per key", steps 3 to 5).
 */

import { matchByKey } from '#src/contacts/match-key.ts';
import { verifyReply } from '#src/contacts/verify-reply.ts';
import { invariant, unreachable } from '#src/errors.ts';
import { keyHash } from '#src/log.ts';
import type { CallOptions, WriteResult } from '#src/workspace/port.ts';
import { applyPatch } from './apply-patch.ts';
import { type Chunk, endDead, endWell, ownedIfWritten, type PlannedRecord, putOff } from './chunk.ts';
import { claimPatches } from './claim-patches.ts';
import { planFrom } from './look-up.ts';
import { notAppliedDeath } from './not-applied.ts';
import { createsPerIntent, horizonMs, type UpsertParts } from './parts.ts';
import { checkBeforeSend, sendRefusal } from './send-checks.ts';
import { keyTakenDeath, refusedDeath } from './service-answer.ts';

/** One record with the moment its intent was committed. */
interface Intended {
  readonly planned: PlannedRecord;
  readonly intentAtMs: number;
}

/** Ends because every round takes records off the list, and none is put back. */
export async function applyCreates(
  parts: UpsertParts,
  chunk: Chunk,
  creates: readonly PlannedRecord[],
  options: CallOptions,
): Promise<void> {
  const perIntent = createsPerIntent(parts.limits);
  for (let start = 0; start < creates.length; start += perIntent) {
    if (chunk.signal.aborted) return;
    const round = creates.slice(start, start + perIntent);
    const intentAtMs = parts.clock.monotonicMs();
    const held = new Set(
      await parts.ledger.contacts.intend({
        contacts: round.map(ownedIfWritten),
        owner: chunk.owner,
        runId: chunk.run.id,
        bootId: parts.clock.bootId,
        horizonMonotonicMs: intentAtMs + horizonMs(parts.limits),
      }),
    );
    const results = await Promise.allSettled(
      round.map((planned) =>
        held.has(planned.record.key)
          ? createOne(parts, chunk, { planned, intentAtMs }, options)
          : putOff(chunk, planned.record, 0),
      ),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

async function createOne(parts: UpsertParts, chunk: Chunk, intended: Intended, options: CallOptions): Promise<void> {
  const { planned, intentAtMs } = intended;
  const { plan, record } = planned;
  invariant(plan.kind === 'create', 'only a create is sent here');
  let result: WriteResult;
  try {
    const beforeSend = checkBeforeSend(parts, { leaseUntilMs: planned.leaseUntilMs, intentAtMs });
    result = await parts.workspace.createContact(plan.body, { ...options, beforeSend });
  } catch (error) {
    // Whatever is thrown here was thrown before the socket write.
    await withdraw(parts, chunk, planned);
    if (sendRefusal(error) === null) throw error;
    return putOff(chunk, record, 0);
  }
  await endCreate(parts, chunk, intended, result, options);
}

async function endCreate(
  parts: UpsertParts,
  chunk: Chunk,
  { planned, intentAtMs }: Intended,
  result: WriteResult,
  options: CallOptions,
): Promise<void> {
  const { plan, record } = planned;
  invariant(plan.kind === 'create', 'only a create ends here');
  switch (result.kind) {
    case 'done': {
      parts.writeHealth.succeeded();
      const { contact } = result;
      const verdict = verifyReply(plan.expected, contact);
      if (verdict.matches) return endWell(chunk, planned, 'created', contact, verdict.warnings);
      // What of it did land stays the feed's own, so that it can leave with the file one day.
      const bound = { contactId: contact.id, seen: contact, owned: ownedIfWritten(planned).owned };
      return endDead(chunk, record, { ...notAppliedDeath(verdict.differences), bound });
    }
    case 'notSent':
      await withdraw(parts, chunk, planned);
      if (!result.rateLimited) throw result.error;
      return putOff(chunk, record, 0);
    case 'refused':
      if (result.status === 409) return await endTaken(parts, chunk, planned, result, options);
      await withdraw(parts, chunk, planned);
      return endDead(chunk, record, refusedDeath(result.status, result.body));
    case 'unauthorized':
      await withdraw(parts, chunk, planned);
      // A look-up that passes shows that the key is good and only this contact is refused; else this throws.
      await parts.workspace.listByExternalIds([record.key], options);
      return endDead(chunk, record, refusedDeath(result.status, result.body));
    case 'doubt':
      if (parts.writeHealth.succeededSince(intentAtMs)) await parts.ledger.contacts.burnAttempts([record.key]);
      parts.log.warn(
        { run: record.runId, line: record.line, key: keyHash(record.key), why: result.why, status: result.status },
        'create in doubt',
      );
      return putOff(chunk, record, intentAtMs + horizonMs(parts.limits) - parts.clock.monotonicMs());
    default:
      unreachable(result);
  }
}

/** 409: somebody has the key, perhaps we ourselves by an earlier create in doubt. Found, it is patched. */
async function endTaken(
  parts: UpsertParts,
  chunk: Chunk,
  planned: PlannedRecord,
  result: WriteResult & { kind: 'refused' },
  options: CallOptions,
): Promise<void> {
  const { record } = planned;
  const { contacts, readAtMs } = await parts.workspace.listByExternalIds([record.key], options);
  const match = matchByKey(record.key, contacts);
  // This POST made nothing: what is found is ours only by an earlier create in doubt, and that one keeps its intent.
  await withdraw(parts, chunk, planned);
  if (match.kind === 'one') {
    const found = planFrom(parts, chunk, planned, match.contact, readAtMs);
    await claimPatches(parts, chunk, [found]);
    return applyPatch(parts, chunk, found, options);
  }
  // It may have been created a moment ago and not be visible yet: one more look after the lag, then it is a conflict.
  if (record.attempts === 0) return putOff(chunk, record, Math.max(1_000, parts.limits.visibilityLagMs), true);
  endDead(chunk, record, keyTakenDeath(result.status, result.body));
}

/** Certainly not created by this POST. An earlier create in doubt keeps the intent: only a look-up answers for it. */
async function withdraw(parts: UpsertParts, chunk: Chunk, planned: PlannedRecord): Promise<void> {
  if (planned.contact.state === 'intent') return;
  const { key, owned } = planned.contact;
  await parts.ledger.contacts.withdrawIntents(chunk.owner, [{ key, owned }]);
}
