/**
 * What a plan says of one contact, for people to read before it is carried out; and its digest, by which a run that carries it out
 * tells whether it would still do the same (`docs/plans.md`, "Plans"). Pure.
 */
import { createHash } from 'node:crypto';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import { emptySaid, type Said, type Seen, saidValue } from './base.ts';
import type { DesiredContact } from './desired.ts';
import type { Change, HeldField, Note } from './outcome.ts';
import type { Plan } from './plan.ts';
import { takeApp } from './take-held.ts';

/**
 * - `create`, `update`, `link`: what is written; `link` gives a contact its key, perhaps with other changes.
 * - `delete`: of an undo alone.
 * - `none`: nothing is written; fields of it may be held.
 */
export type PlannedDeed = 'create' | 'update' | 'link' | 'delete' | 'none';

/** Holds personal data: never for a log. */
export interface PlannedContact {
  readonly key: string;
  readonly line: number;
  /** As the file or the app names the person; null where neither does. */
  readonly name: string | null;
  readonly contactId: string | null;
  readonly deed: PlannedDeed;
  /** Every difference that is written. */
  readonly changes: readonly Change[];
  /** Fields that wait for a person, with both values. */
  readonly held: readonly HeldField[];
  readonly notes: readonly Note[];
  readonly digest: string;
}

export function plannedContact(
  { line, desired }: { readonly line: number; readonly desired: DesiredContact },
  plan: Plan,
  theirs: Contact | null,
): PlannedContact {
  const { reasons, held, notes } = plan;
  return {
    key: desired.key,
    line,
    name: nameOf(desired, theirs),
    contactId: theirs?.id ?? null,
    deed: deedOf(plan),
    changes: reasons,
    held,
    notes,
    digest: planDigest(plan, theirs?.id ?? null),
  };
}

/**
 * A contact of whose row nothing is planned, since it says nothing new, and of which fields wait for a person already: as it was remembered.
 * @param fields with the values of file and app, as they are listed.
 * @param said by the feed before the hold; null where nothing is known of it.
 */
export function waitingContact(
  { key, line }: Pick<PlannedContact, 'key' | 'line'>,
  fields: readonly Pick<HeldField, 'field' | 'ours' | 'theirs'>[],
  {
    said,
    seen,
    contactId,
  }: { readonly said: Said | null; readonly seen: Seen | null; readonly contactId: string | null },
): PlannedContact {
  const saidBefore = said ?? emptySaid;
  const held = fields.map((one): HeldField => ({ ...one, said: saidValue(saidBefore, one.field) ?? null }));
  const nothing = { deed: 'none', changes: [], notes: [], digest: '' } as const;
  return { key, line, name: nameOf({ scalars: takeApp(saidBefore, held).scalars }, seen), contactId, held, ...nothing };
}

function deedOf(plan: Plan): PlannedDeed {
  if (plan.kind === 'create') return 'create';
  if (plan.kind === 'delete') return 'delete';
  if (plan.kind !== 'patch') return 'none';
  return plan.body.externalId === undefined ? 'update' : 'link';
}

function nameOf({ scalars }: Pick<DesiredContact, 'scalars'>, theirs: Contact | null): string | null {
  const { firstName = theirs?.defaultFields.firstName, lastName = theirs?.defaultFields.lastName } = scalars;
  const parts = [firstName, lastName].filter((part) => part !== null && part !== undefined && part !== '');
  const company = scalars.company ?? theirs?.defaultFields.company ?? null;
  return parts.length > 0 ? parts.join(' ') : company;
}

/**
 * Equal where the same would be written over the same values, and the same held between the same values. An edit of a field that
 * the plan does not touch makes no other digest.
 */
export function planDigest(plan: Plan, contactId: string | null): string {
  const changes = plan.reasons.map(({ field, from, to, why }) => [field, sorted(from), sorted(to), why]);
  const held = plan.held.map(({ field, theirs, ours }) => [field, sorted(theirs), sorted(ours)]);
  const byField = (lists: readonly unknown[][]) => lists.map((one) => JSON.stringify(one)).sort();
  return createHash('sha256')
    .update(JSON.stringify([deedOf(plan), contactId, byField(changes), byField(held)]))
    .digest('base64url')
    .slice(0, 22);
}

/** The order of choices is the service's own matter. */
function sorted(value: CustomFieldValue): CustomFieldValue {
  return Array.isArray(value) ? value.toSorted() : value;
}
