/**
 * The base of a contact that an update of ours changed although its answer was never seen.
 *
 * What the update was to make is known: it was entered before it was sent. So a contact that is just like that was changed
 * by us, and not by people (`rules.md`, "Three pictures, one plan").
 */
import type { Base, Said } from '#src/contacts/base.ts';
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import type { ExpectedContact } from '#src/contacts/expected-contact.ts';
import { customFieldName } from '#src/contacts/field-name.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';
import { type PlanInput, planContact } from '#src/contacts/plan.ts';
import { sameCustomValue, sameText } from '#src/contacts/same-value.ts';
import { scalarOf } from '#src/contacts/scalar-of.ts';
import { settle } from '#src/contacts/settle.ts';
import { verifyReply } from '#src/contacts/verify-reply.ts';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';

/** An update that is about to be sent, as it will be remembered if it lands. */
export interface Claim {
  readonly feed: string;
  /** Of the run whose file said it. */
  readonly sequence: number;
  /** The contact as it was read for the update: people's changes that it keeps are no traces of it. */
  readonly before: Contact;
  readonly expected: ExpectedContact;
  readonly said: Said;
}

/** What to remember before a patch is sent; null for any other plan. */
export function claimOf(input: PlanInput, sequence: number): Claim | null {
  const plan = planContact(input);
  if (plan.kind !== 'patch' || input.theirs === null) return null;
  const { feed, theirs } = input;
  const { said } = settle({ ...input, plan, reply: theirs });
  return { feed, sequence, before: theirs, expected: plan.expected, said };
}

/** The base as a seen answer would have left it, for that feed; null where the update has not landed. */
export function baseAsUpdated(base: Base, claim: Claim, feed: string, found: Contact): Base | null {
  const { before, expected, said } = claim;
  if (!verifyReply(expected, found).matches && !showsTraces(before, expected, found)) return null;
  const seen = withHeldOf(base.seen, asExpected(expected, found), said);
  return { ...base, seen, said: claim.feed === feed ? said : base.said };
}

/** Something that the update was to change is so now: it landed, and people may have changed other things since. */
function showsTraces(before: Contact, expected: ExpectedContact, found: Contact): boolean {
  const scalar = scalarNames.some((name) => {
    const wanted = expected.scalars[name];
    return !sameText(wanted, scalarOf(before, name)) && sameText(wanted, scalarOf(found, name));
  });
  const item = (kind: ItemKind, wanted: readonly { readonly value: string }[], list: ItemsOf): boolean => {
    const then = identities(kind, list(before));
    const now = identities(kind, list(found));
    return [...identities(kind, wanted)].some((one) => !then.has(one) && now.has(one));
  };
  const custom = expected.customFields.some(
    ({ key, type, value }) =>
      !sameCustomValue(type, value, customValueOf(before, key)) &&
      sameCustomValue(type, value, customValueOf(found, key)),
  );
  const { emails, phones } = expected;
  const emailsOf: ItemsOf = (contact) => contact.defaultFields.emails;
  const phonesOf: ItemsOf = (contact) => contact.defaultFields.phoneNumbers;
  return scalar || custom || item('email', emails, emailsOf) || item('phone', phones, phonesOf);
}

type ItemsOf = (contact: Contact) => readonly { readonly value: string | null }[];

function identities(kind: ItemKind, items: readonly { readonly value: string | null }[]): ReadonlySet<string> {
  return new Set(items.flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
}

function customValueOf(contact: Contact, key: string): CustomFieldValue {
  return contact.customFields.find((field) => field.key === key)?.value ?? null;
}

/** The contact as the update made it. Its items' ids matter to nobody here. */
function asExpected({ scalars, emails, phones, customFields }: ExpectedContact, found: Contact): Contact {
  const { firstName, lastName, company, role, sourceUrl } = scalars;
  const items = (list: readonly { readonly label: string; readonly value: string }[]) =>
    list.map(({ label, value }) => ({ id: null, name: label, value }));
  return {
    ...found,
    sourceUrl,
    defaultFields: { firstName, lastName, company, role, emails: items(emails), phoneNumbers: items(phones) },
    customFields: customFields.map(({ key, type, value }) => ({ id: null, key, name: null, type, value })),
  };
}

/** A held field keeps its old seen value, so that the people's change stays visible (`base.ts`). */
function withHeldOf(before: Contact | null, found: Contact, { held }: Said): Contact {
  if (before === null || held.length === 0) return found;
  const isHeld = (name: ScalarName) => held.includes(name);
  const defaultFields = { ...found.defaultFields };
  for (const name of scalarNames) {
    if (name !== 'sourceUrl' && isHeld(name)) defaultFields[name] = before.defaultFields[name];
  }
  const isHeldField = ({ key }: { readonly key: string }) => held.includes(customFieldName(key));
  return {
    ...found,
    sourceUrl: isHeld('sourceUrl') ? before.sourceUrl : found.sourceUrl,
    defaultFields,
    customFields: [
      ...found.customFields.filter((field) => !isHeldField(field)),
      ...before.customFields.filter(isHeldField),
    ],
  };
}
