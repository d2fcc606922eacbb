/**
 * A contact as the rules speak of it: a value for each field, by the names that reports use (`role`, `custom.seats`,
 * `phone.+14155550100`). A field without a value is left out; an item that is there has the value `there`.
 */
import type { Contact, CreateContactBody, CustomFieldValue, UpdateContactBody } from '#src/wire/contact.ts';

export type Picture = ReadonlyMap<string, string>;

export const there = 'there';

export const valueIn = (picture: Picture, field: string): string => picture.get(field) ?? '';

/** All fields that one of them has. */
export function fieldsOf(...pictures: readonly Picture[]): readonly string[] {
  return [...new Set(pictures.flatMap((picture) => [...picture.keys()]))];
}

/** Only what a picture is made of: a contact as read, the body of a create, or what a body makes of a contact. */
interface Pictured {
  readonly defaultFields: {
    readonly firstName?: string | null;
    readonly lastName?: string | null;
    readonly company?: string | null;
    readonly role?: string | null;
    readonly emails?: readonly { readonly value: string | null }[];
    readonly phoneNumbers?: readonly { readonly value: string | null }[];
  };
  readonly customFields?: readonly { readonly key: string; readonly value: CustomFieldValue }[];
}

export function pictureOf({ defaultFields, customFields = [] }: Pictured): Picture {
  const { firstName, lastName, company, role, emails = [], phoneNumbers = [] } = defaultFields;
  const scalars = Object.entries({ firstName, lastName, company, role });
  const customs = customFields.map(({ key, value }) => [`custom.${key}`, value === null ? '' : String(value)] as const);
  const items = [
    ...emails.map(({ value }) => [`email.${(value ?? '').toLowerCase()}`, value === null ? '' : there] as const),
    ...phoneNumbers.map(({ value }) => [`phone.${value ?? ''}`, value === null ? '' : there] as const),
  ];
  const all = [...scalars, ...customs, ...items];
  return new Map(all.flatMap(([field, value]) => (value ? [[field, value] as const] : [])));
}

/** What each item of a contact is called. Of one that it has twice, all of that. */
export function labelsOf({ defaultFields: { emails, phoneNumbers } }: Contact): Picture {
  const named = [
    ...emails.map(({ name, value }) => [`email.${(value ?? '').toLowerCase()}`, name ?? ''] as const),
    ...phoneNumbers.map(({ name, value }) => [`phone.${value ?? ''}`, name ?? ''] as const),
  ];
  return new Map(
    [...Map.groupBy(named, ([field]) => field)].map(([field, all]) => [
      field,
      all.map(([, label]) => label).join(', '),
    ]),
  );
}

export const pictureOfCreate = (body: CreateContactBody): Picture => pictureOf(body);

/** What a PATCH makes of a contact, by either reading of the interface (`docs/facts.md`). */
export function afterUpdate(shown: Contact, body: UpdateContactBody, reading: 'merge' | 'replace'): Picture {
  const { emails, phoneNumbers, ...given } = body.defaultFields;
  const { firstName, lastName, company, role } = shown.defaultFields;
  const before = { firstName, lastName, company, role };
  const scalars = reading === 'merge' ? { ...before, ...given } : given;
  interface Item {
    readonly id?: string | null;
    readonly value: string | null;
  }
  const items = (stored: readonly Item[], sent: readonly Item[]): readonly Item[] => {
    const kept = stored.flatMap((item): readonly Item[] => {
      const named = sent.find(({ id }) => id !== undefined && id === item.id);
      if (named !== undefined) return [named];
      return reading === 'merge' ? [item] : [];
    });
    return [...kept, ...sent.filter(({ id }) => id === undefined)];
  };
  const named = new Set(body.customFields.map((field) => field.key));
  const unnamed = shown.customFields.filter(({ key }) => !named.has(key));
  return pictureOf({
    defaultFields: {
      ...scalars,
      emails: items(shown.defaultFields.emails, emails),
      phoneNumbers: items(shown.defaultFields.phoneNumbers, phoneNumbers),
    },
    customFields: [...body.customFields, ...(reading === 'merge' ? unnamed : [])],
  });
}
