/** Invented people in an older and a newer version, as files and as what the service must hold in the end. */
import type { ListedContact } from './faulty-service.ts';

export type Version = 'older' | 'newer';

export interface Person {
  readonly key: string;
  readonly version: Version;
}

const header = 'externalId,firstName,company,email work';

/** The rows stand in the order of the people. */
export function csvOf(people: readonly Person[]): string {
  return `${[header, ...people.map(rowOf)].join('\n')}\n`;
}

function rowOf(person: Person): string {
  const { firstName, company, email } = fieldsOf(person);
  return [person.key, firstName, company, email].join(',');
}

function fieldsOf({ key, version }: Person): { firstName: string; company: string; email: string } {
  return {
    firstName: `Given ${key}`,
    company: version === 'older' ? 'Olderbrook' : 'Newerbrook',
    email: `${key}.${version}@example.com`,
  };
}

export interface ContactCheck {
  /** Contacts beyond the first of their key. */
  readonly duplicates: number;
  /** Keys that no contact has. */
  readonly missing: readonly string[];
  /** In words, the first of them come first. */
  readonly violations: readonly string[];
}

/**
 * Holds the service's contacts to what was asked for: one for each key, with the fields of its version and no other
 * e-mail. `ignore` are keys with a legal reason to be missing or to hold an older version.
 */
export function checkContacts(
  contacts: readonly ListedContact[],
  people: readonly Person[],
  ignore: ReadonlySet<string> = new Set(),
): ContactCheck {
  const byKey = Map.groupBy(contacts, (contact) => contact.externalId ?? '');
  const violations: string[] = [];
  const missing: string[] = [];
  let duplicates = 0;
  for (const person of people) {
    const [contact, ...more] = byKey.get(person.key) ?? [];
    duplicates += more.length;
    if (more.length > 0) violations.push(`${person.key} has ${more.length + 1} contacts`);
    if (ignore.has(person.key)) continue;
    if (contact === undefined) {
      missing.push(person.key);
      violations.push(`${person.key} has no contact`);
    } else if (!isAsAsked(contact, person)) {
      violations.push(`${person.key} is not ${person.version}: ${JSON.stringify(contact.defaultFields)}`);
    }
  }
  return { duplicates, missing, violations };
}

function isAsAsked({ defaultFields }: ListedContact, person: Person): boolean {
  const { firstName, company, email } = fieldsOf(person);
  const emails = defaultFields.emails.map(({ value }) => value);
  return defaultFields.firstName === firstName && defaultFields.company === company && emails.join() === email;
}
