/**
 * The base of a contact that our own create made and whose answer we never saw.
 *
 * What it was like at birth is known: the create's body. So what differs from that now was changed by people since, and
 * stays theirs, instead of being taken for something that the file must correct (`rules.md`, "Three pictures, one plan").
 */
import type { Base, OwnedItem, Ownership } from '#src/contacts/base.ts';
import { type PlanInput, planContact } from '#src/contacts/plan.ts';
import { settle } from '#src/contacts/settle.ts';
import { verifyReply } from '#src/contacts/verify-reply.ts';
import type { Contact, CreateContactBody } from '#src/wire/contact.ts';

/**
 * The base as a seen answer would have left it. `input` is what the create was planned from; `isThisRow`: our create in
 * doubt was that of this very row.
 * Null where the contact is not ours: somebody else made one with this key, and then the file's values stand. Ours is
 * what is just as we wanted it, and for the row that created it what carries its source.
 */
export function baseAsCreated(input: PlanInput, found: Contact, isThisRow: boolean): Base | null {
  const birth: PlanInput = { ...input, theirs: null };
  const plan = planContact(birth);
  if (plan.kind !== 'create') return null;
  const isOurs = isThisRow && plan.body.source !== undefined && plan.body.source === found.source;
  if (!isOurs && !verifyReply(plan.expected, found).matches) return null;
  const settled = settle({ ...birth, plan, reply: atBirth(plan.body, found) });
  return { ...settled, owned: withClaims(settled.owned, input.base.owned) };
}

/** What others have claimed since stays theirs. */
function withClaims(own: Ownership, claimed: Ownership): Ownership {
  const items = (mine: readonly OwnedItem[], all: readonly OwnedItem[]): readonly OwnedItem[] => [
    ...mine,
    ...all.filter((item) => !mine.some((one) => one.value === item.value)),
  ];
  const { emails, phones, customFields } = own;
  const isNew = ({ key }: { readonly key: string }): boolean => !customFields.some((field) => field.key === key);
  return {
    emails: items(emails, claimed.emails),
    phones: items(phones, claimed.phones),
    customFields: [...customFields, ...claimed.customFields.filter(isNew)],
  };
}

/** The contact as the create's body describes it. Ids are those of today, and matter to nobody here. */
function atBirth({ defaultFields, customFields = [], sourceUrl }: CreateContactBody, found: Contact): Contact {
  const { firstName, lastName, company, role, emails = [], phoneNumbers = [] } = defaultFields;
  const items = (list: readonly { readonly name: string; readonly value: string }[]) =>
    list.map(({ name, value }) => ({ id: null, name, value }));
  return {
    ...found,
    sourceUrl: sourceUrl ?? null,
    defaultFields: {
      firstName,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      emails: items(emails),
      phoneNumbers: items(phoneNumbers),
    },
    customFields: customFields.map(({ key, value }) => ({ id: null, key, name: null, type: null, value })),
  };
}
