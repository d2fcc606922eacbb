/**
 * Brings one existing contact to its plan: PATCH, compare the reply, end.
 *
 * A PATCH is never repeated blindly: after a doubt the record is put off, read again and planned again, so that only
 * what still differs is sent (`rules.md`, step 6).
 */

import { matchByKey } from '#src/contacts/match-key.ts';
import { settle } from '#src/contacts/settle.ts';
import { verifyReply } from '#src/contacts/verify-reply.ts';
import { invariant, unreachable } from '#src/errors.ts';
import { keyHash } from '#src/log.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { CallOptions, WriteResult } from '#src/workspace/port.ts';
import { type Chunk, endDead, endSkipped, endWell, ownedIfWritten, type PlannedRecord, putOff } from './chunk.ts';
import { claimPatches } from './claim-patches.ts';
import { planFrom } from './look-up.ts';
import { notAppliedDeath } from './not-applied.ts';
import type { UpsertParts } from './parts.ts';
import { checkBeforeSend, sendRefusal } from './send-checks.ts';
import { doubtDeath, refusedDeath } from './service-answer.ts';

/** How often a read that grew too old in the line is refreshed before the record is put off. */
const refreshesMax = 3;
const retryWaitMs = 1_000;

export async function applyPatch(
  parts: UpsertParts,
  chunk: Chunk,
  first: PlannedRecord,
  options: CallOptions,
): Promise<void> {
  let planned = first;
  for (let refresh = 0; refresh <= refreshesMax; refresh += 1) {
    const { plan, record } = planned;
    const theirs = planned.input.theirs;
    invariant(theirs !== null, 'a patch has a contact to patch');
    if (plan.kind === 'noop' || plan.kind === 'hold') return endWell(chunk, planned, 'unchanged', theirs, []);
    invariant(plan.kind === 'patch', 'a contact that was found is never created');
    try {
      const beforeSend = checkBeforeSend(parts, { leaseUntilMs: planned.leaseUntilMs, readAtMs: planned.readAtMs });
      const result = await parts.workspace.updateContact(theirs.id, plan.body, { ...options, beforeSend });
      return await endPatch(parts, chunk, planned, theirs, result, options);
    } catch (error) {
      const refusal = sendRefusal(error);
      if (refusal === null) throw error;
      if (refusal !== 'readTooOld') return putOff(chunk, record, 0);
    }
    const fresh = await readAgain(parts, chunk, planned, theirs.id, options);
    if (fresh === null) return;
    planned = fresh;
    await claimPatches(parts, chunk, [planned]);
  }
  // The line before the rate gate is longer than a read stays fresh: let others go first.
  putOff(chunk, planned.record, retryWaitMs);
}

/** Reads the contact anew and plans again; null where the record has ended. */
async function readAgain(
  parts: UpsertParts,
  chunk: Chunk,
  planned: PlannedRecord,
  contactId: string,
  options: CallOptions,
): Promise<PlannedRecord | null> {
  let readAtMs = 0;
  const theirs = await parts.workspace.getContact(contactId, {
    ...options,
    beforeSend: () => {
      readAtMs = parts.clock.monotonicMs();
    },
  });
  if (theirs === null) {
    endSkipped(chunk, planned.record, 'gone');
    return null;
  }
  return planFrom(parts, chunk, planned, theirs, readAtMs);
}

async function endPatch(
  parts: UpsertParts,
  chunk: Chunk,
  planned: PlannedRecord,
  theirs: Contact,
  result: WriteResult,
  options: CallOptions,
): Promise<void> {
  const { record, plan, contact } = planned;
  /** Nothing of the plan landed: what was claimed for it is nobody's again. */
  const unwritten = { contactId: theirs.id, seen: contact.seen ?? theirs, owned: contact.owned };
  switch (result.kind) {
    case 'done': {
      parts.writeHealth.succeeded();
      invariant(plan.kind === 'patch', 'only a patch is sent here');
      const verdict = verifyReply(plan.expected, result.contact);
      if (verdict.matches) return endWell(chunk, planned, 'updated', result.contact, verdict.warnings);
      // What of it did land stays the feed's own, so that it can leave with the file one day.
      const { seen } = settle({ ...planned.input, plan, reply: result.contact });
      const bound = { contactId: theirs.id, seen, owned: ownedIfWritten(planned).owned };
      return endDead(chunk, record, { ...notAppliedDeath(verdict.differences), bound });
    }
    case 'notSent':
      if (!result.rateLimited) throw result.error;
      return putOff(chunk, record, 0);
    case 'refused':
      if (result.status === 404) return await endVanished(parts, chunk, planned, theirs.id, options);
      return endDead(chunk, record, { ...refusedDeath(result.status, result.body), bound: unwritten });
    case 'unauthorized':
      // A look-up that passes shows that the key is good and this contact is not ours to write.
      await parts.workspace.listByExternalIds([record.key], options);
      return endDead(chunk, record, { ...refusedDeath(result.status, result.body), bound: unwritten });
    case 'doubt': {
      const { why, status } = result;
      parts.log.warn(
        { run: record.runId, line: record.line, key: keyHash(record.key), why, status },
        'update in doubt',
      );
      const counts = parts.writeHealth.succeededSince(planned.readAtMs);
      if (counts && record.attempts + 1 >= parts.limits.attemptsMax)
        return endDead(chunk, record, doubtDeath(record.attempts + 1));
      return putOff(chunk, record, retryWaitMs, counts);
    }
    default:
      unreachable(result);
  }
}

/** PATCH answered 404: found under another id, the record is tried again with that one; else the contact is gone. */
async function endVanished(
  parts: UpsertParts,
  chunk: Chunk,
  planned: PlannedRecord,
  vanishedId: string,
  options: CallOptions,
): Promise<void> {
  const { record } = planned;
  const { contacts, readAtMs } = await parts.workspace.listByExternalIds([record.key], options);
  const match = matchByKey(
    record.key,
    contacts.filter((contact) => contact.id !== vanishedId),
  );
  if (match.kind !== 'one' || record.attempts + 1 >= parts.limits.attemptsMax) return endSkipped(chunk, record, 'gone');
  const again = { ...planned, record: { ...record, attempts: record.attempts + 1 } };
  const found = planFrom(parts, chunk, again, match.contact, readAtMs);
  await claimPatches(parts, chunk, [found]);
  return applyPatch(parts, chunk, found, options);
}
