/**
 * What the service returned: the reply to a write compared with what the plan wanted, two pictures of one contact, and the
 * contact of a key in a look-up.
 *
 * A write is a success only if its reply shows what was wanted. Values are compared as multisets; order and item ids do not
 * matter. A difference of case, spaces or punctuation of a phone number is a warning; any other difference rejects the row
 * (`notApplied`). Differences hold personal data: they go into the ledger and reports, never into a log.
 */
import type { Contact, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import {
  alikeValue,
  customFieldName,
  customValueOrNull,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  sameCustomValue,
  sameText,
  scalarNames,
  scalarOf,
  textOrNull,
} from './desired.ts';
import type { WriteWarning } from './outcome.ts';
import type { ExpectedContact, ExpectedCustomField, ExpectedItem } from './plan.ts';

export interface ReplyDifference {
  /** A field name, `externalId`, `source`, or the name of an item followed by `.label`. */
  readonly field: string;
  readonly expected: CustomFieldValue;
  readonly got: CustomFieldValue;
}

export interface ReplyVerdict {
  readonly matches: boolean;
  readonly differences: readonly ReplyDifference[];
  readonly warnings: readonly WriteWarning[];
}

interface Findings {
  readonly differences: ReplyDifference[];
  readonly warnings: WriteWarning[];
}

export function verifyReply(expected: ExpectedContact, reply: Contact): ReplyVerdict {
  const findings: Findings = { differences: [], warnings: [] };
  if (reply.externalId === null) {
    findings.warnings.push({ field: 'externalId', code: 'replyDiffers', message: 'the reply does not carry it' });
  } else if (reply.externalId !== expected.externalId) {
    findings.differences.push({ field: 'externalId', expected: expected.externalId, got: reply.externalId });
  }
  if (expected.source !== null) compareText('source', expected.source, reply.source, findings);
  for (const name of scalarNames) compareText(name, expected.scalars[name], scalarOf(reply, name), findings);
  compareItems('email', expected.emails, reply.defaultFields.emails, findings);
  compareItems('phone', expected.phones, reply.defaultFields.phoneNumbers, findings);
  compareCustomFields(expected.customFields, reply, findings);
  return { matches: findings.differences.length === 0, ...findings };
}

/** Whether two pictures show the same values and labels in the same spelling; ids and order do not matter. */
export function sameContents(left: Contact, right: Contact): boolean {
  const contents = ({ externalId, sourceUrl, defaultFields, customFields }: Contact): string => {
    const { emails, phoneNumbers, ...scalars } = defaultFields;
    const items = (list: readonly ContactItem[]) => list.map(({ name, value }) => JSON.stringify([name, value])).sort();
    const fields = customFields
      .filter(({ value }) => customValueOrNull(value) !== null)
      .map(({ key, value }) => JSON.stringify([key, value]))
      .sort();
    const texts = [externalId, sourceUrl, scalars.firstName, scalars.lastName, scalars.company, scalars.role];
    return JSON.stringify([texts.map(textOrNull), items(emails), items(phoneNumbers), fields]);
  };
  return contents(left) === contents(right);
}

function compareText(field: string, expected: string | null, got: string | null, findings: Findings): void {
  if (sameText(expected, got)) return;
  if (alikeValue('string', expected, got)) warnOfForm(field, findings);
  else findings.differences.push({ field, expected, got });
}

/** Each expected item takes one item of its identity from the reply, preferably with its label; none may be left. */
function compareItems(
  kind: ItemKind,
  expected: readonly ExpectedItem[],
  reply: readonly ContactItem[],
  findings: Findings,
): void {
  const unclaimed = new Map<string, { name: string | null; value: string }[]>();
  for (const { name, value } of reply) {
    if (value === null) continue;
    const identity = itemIdentity(kind, value);
    unclaimed.set(identity, [...(unclaimed.get(identity) ?? []), { name, value }]);
  }
  for (const { label, value } of expected) {
    const identity = itemIdentity(kind, value);
    const field = itemFieldName(kind, identity);
    const candidates = unclaimed.get(identity) ?? [];
    const sameLabel = candidates.findIndex((item) => sameText(item.name, label));
    const [claimed] = candidates.splice(Math.max(sameLabel, 0), 1);
    if (claimed === undefined) {
      findings.differences.push({ field, expected: value, got: null });
      continue;
    }
    if (!sameText(value, claimed.value)) warnOfForm(field, findings);
    compareText(`${field}.label`, label, claimed.name, findings);
  }
  for (const [identity, items] of unclaimed) {
    for (const { value } of items) {
      findings.differences.push({ field: itemFieldName(kind, identity), expected: null, got: value });
    }
  }
}

function compareCustomFields(expected: readonly ExpectedCustomField[], reply: Contact, findings: Findings): void {
  const wantedByKey = new Map(expected.map((field) => [field.key, field]));
  const replyByKey = new Map(reply.customFields.map((field) => [field.key, field]));
  for (const key of new Set([...wantedByKey.keys(), ...replyByKey.keys()])) {
    const wanted = customValueOrNull(wantedByKey.get(key)?.value ?? null);
    const got = customValueOrNull(replyByKey.get(key)?.value ?? null);
    const type = replyByKey.get(key)?.type ?? wantedByKey.get(key)?.type ?? null;
    if (sameCustomValue(type, wanted, got)) continue;
    const field = customFieldName(key);
    if (alikeValue(type, wanted, got)) warnOfForm(field, findings);
    else findings.differences.push({ field, expected: wanted, got });
  }
}

function warnOfForm(field: string, findings: Findings): void {
  const message = 'it came back in another form (case, spaces or punctuation)';
  findings.warnings.push({ field, code: 'replyDiffers', message });
}

type KeyMatch =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly contact: Contact }
  | { readonly kind: 'conflict'; readonly ids: readonly string[] };

/**
 * The contact of a key among those that a look-up returned. Each is compared exactly, since a service that reads a filter in
 * another way answers with other people's contacts (`docs/facts.md`, "array encoding").
 */
export function matchByKey(key: string, contacts: readonly Contact[]): KeyMatch {
  const own = contacts.filter((contact) => contact.externalId === key);
  // Pages may overlap while contacts are being added: one id is one contact.
  const byId = new Map(own.map((contact) => [contact.id, contact]));
  const [contact] = byId.values();
  if (contact === undefined) return { kind: 'none' };
  return byId.size > 1 ? { kind: 'conflict', ids: [...byId.keys()] } : { kind: 'one', contact };
}
