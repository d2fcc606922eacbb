/**
 * A small model of the service's contacts (`docs/interface.md`, 4.1 and 4.3), in the two readings of PATCH that `docs/facts.md`
 * names. It shares no code with the service or with what it judges.
 *
 *   merge    what the body leaves out stays
 *   replace  lists are what the body says; scalars that a given defaultFields leaves out become null
 */
import type {
  Contact,
  ContactItem,
  CreateContactBody,
  CustomFieldValue,
  UpdateContactBody,
  UpdateItem,
} from '#src/wire/contact.ts';

export type PatchMode = 'merge' | 'replace';

/** What the workspace knows of a custom field. */
export type FieldTypes = ReadonlyMap<string, string>;

export function modelCreate(body: CreateContactBody, id: string, types: FieldTypes): Contact {
  const { firstName, lastName, company, role, emails, phoneNumbers } = body.defaultFields;
  const items = (kind: string, list: readonly { name: string; value: string }[] = []) =>
    list.map((item, index) => ({ id: `${id}-${kind}${index}`, ...item }));
  return {
    id,
    externalId: body.externalId ?? null,
    source: body.source ?? 'public-api',
    sourceUrl: body.sourceUrl ?? null,
    defaultFields: {
      firstName,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      emails: items('e', emails),
      phoneNumbers: items('p', phoneNumbers),
    },
    customFields: (body.customFields ?? []).map(({ key, value }) => storedField(key, value, types)),
    createdAt: null,
    updatedAt: null,
    createdByUserId: null,
  };
}

/** Returns what is stored afterwards. New ids follow from the highest in use, so that both modes count alike. */
export function modelUpdate(stored: Contact, body: UpdateContactBody, mode: PatchMode, types: FieldTypes): Contact {
  const named = body.defaultFields;
  const old = stored.defaultFields;
  const scalar = (name: 'firstName' | 'lastName' | 'company' | 'role') =>
    named[name] === undefined ? (mode === 'merge' ? old[name] : null) : named[name];
  return {
    ...stored,
    sourceUrl: body.sourceUrl === undefined ? stored.sourceUrl : body.sourceUrl,
    defaultFields: {
      firstName: scalar('firstName'),
      lastName: scalar('lastName'),
      company: scalar('company'),
      role: scalar('role'),
      emails: updatedItems(old.emails, named.emails, mode),
      phoneNumbers: updatedItems(old.phoneNumbers, named.phoneNumbers, mode),
    },
    customFields: updatedFields(stored, body, mode, types),
  };
}

/** The body of the reply to a PATCH: custom fields come without ids. */
export function modelPatchReply(stored: Contact): Contact {
  return { ...stored, customFields: stored.customFields.map((field) => ({ ...field, id: null })) };
}

function updatedItems(old: readonly ContactItem[], sent: readonly UpdateItem[], mode: PatchMode): ContactItem[] {
  const sentIds = new Set(sent.map((item) => item.id));
  const after = mode === 'replace' ? old.filter((item) => sentIds.has(item.id ?? undefined)) : [...old];
  let lastId = Math.max(0, ...old.map((item) => Number(/\d+$/.exec(item.id ?? '0')?.[0] ?? 0)));
  for (const { id, name, value } of sent) {
    const index = after.findIndex((item) => item.id === id);
    if (id === undefined) {
      lastId += 1;
      if (value !== null) after.push({ id: `n${lastId}`, name, value });
    } else if (index >= 0) {
      after.splice(index, 1, ...(value === null ? [] : [{ id, name, value }]));
    }
  }
  return after;
}

function updatedFields(stored: Contact, body: UpdateContactBody, mode: PatchMode, types: FieldTypes) {
  const after = new Map(mode === 'replace' ? [] : stored.customFields.map((field) => [field.key, field]));
  for (const { key, value } of body.customFields) {
    if (value === null) after.delete(key);
    else after.set(key, storedField(key, value, types));
  }
  return [...after.values()];
}

function storedField(key: string, value: CustomFieldValue, types: FieldTypes) {
  return { id: `f-${key}`, key, name: key, type: types.get(key) ?? 'string', value };
}
