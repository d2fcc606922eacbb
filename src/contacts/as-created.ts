/**
 * The base of a contact that our own create made and whose answer we never saw.
 *
 * What it was like at birth is known: the create's body. So what differs from that now was changed by people since, and
 * stays theirs, instead of being taken for something that the file must correct (`rules.md`, "Three pictures, one plan").
 */
import type { Base } from '#src/contacts/base.ts';
import { type PlanInput, planContact } from '#src/contacts/plan.ts';
import { settle } from '#src/contacts/settle.ts';
import type { Contact, CreateContactBody } from '#src/wire/contact.ts';

/**
 * The base as a seen answer would have left it. `input` is what the create was planned from.
 * Null where the contact is not ours: somebody else made one with this key, and then the file's values stand.
 */
export function baseAsCreated(input: PlanInput, found: Contact): Base | null {
  const birth: PlanInput = { ...input, theirs: null };
  const plan = planContact(birth);
  if (plan.kind !== 'create' || plan.body.source === undefined || plan.body.source !== found.source) return null;
  return settle({ ...birth, plan, reply: atBirth(plan.body, found) });
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
