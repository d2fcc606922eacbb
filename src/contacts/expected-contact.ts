/**
 * What the reply to a write must hold, in the service's own shape without ids (`verify-reply.ts` compares).
 *
 * It is derived from the body, so that the two cannot disagree.
 */

import type { ScalarName } from '#src/contacts/desired.ts';
import { scalarOf } from '#src/contacts/scalar-of.ts';
import type { Contact, CreateContactBody, CustomFieldValue, UpdateContactBody } from '#src/wire/contact.ts';

export interface ExpectedItem {
  readonly label: string;
  readonly value: string;
}

export interface ExpectedCustomField {
  readonly key: string;
  /** The service's word for the type, where it has named it. */
  readonly type: string | null;
  /** Never null: a field without a value is not listed. */
  readonly value: CustomFieldValue;
}

export interface ExpectedContact {
  readonly externalId: string;
  /** Null: not written by this plan, and not compared. */
  readonly source: string | null;
  readonly scalars: Readonly<Record<ScalarName, string | null>>;
  readonly emails: readonly ExpectedItem[];
  readonly phones: readonly ExpectedItem[];
  readonly customFields: readonly ExpectedCustomField[];
}

export function expectedAfterCreate(key: string, body: CreateContactBody): ExpectedContact {
  const { firstName, lastName, company, role, emails, phoneNumbers } = body.defaultFields;
  return {
    externalId: key,
    source: body.source ?? null,
    scalars: {
      firstName,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      sourceUrl: body.sourceUrl ?? null,
    },
    emails: expectedItems(emails ?? []),
    phones: expectedItems(phoneNumbers ?? []),
    customFields: (body.customFields ?? []).map(({ key: field, value }) => ({ key: field, type: null, value })),
  };
}

/** A `sourceUrl` that the body leaves out must stay what it was. */
export function expectedAfterUpdate(key: string, body: UpdateContactBody, theirs: Contact): ExpectedContact {
  const { firstName, lastName, company, role, emails, phoneNumbers } = body.defaultFields;
  return {
    externalId: key,
    source: null,
    scalars: {
      firstName: firstName ?? null,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      sourceUrl: body.sourceUrl === undefined ? scalarOf(theirs, 'sourceUrl') : body.sourceUrl,
    },
    emails: expectedItems(emails),
    phones: expectedItems(phoneNumbers),
    customFields: body.customFields
      .filter(({ value }) => value !== null)
      .map(({ key: field, value }) => ({ key: field, type: typeOf(theirs, field), value })),
  };
}

function expectedItems(items: readonly { name: string; value: string | null }[]): ExpectedItem[] {
  return items.flatMap(({ name, value }) => (value === null ? [] : [{ label: name, value }]));
}

function typeOf(contact: Contact, key: string): string | null {
  return contact.customFields.find((field) => field.key === key)?.type ?? null;
}
