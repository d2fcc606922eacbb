/**
 * Which contacts have an id, a phone number or an e-mail address, as the service last returned them.
 *
 * No index has these values: it would take a tenth of what a key takes, for a question that people ask now and then. So the database passes over
 * the packed memory of each contact, as text, and only those that may be meant are unpacked and compared.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { itemIdentity } from '#src/contacts/desired.ts';
import type { Contact } from '#src/wire/contact.ts';
import { shortText, unpackMemory } from './packed-memory.ts';
import type { ContactRow, KeyTables } from './tables/keys.ts';

/** Numbers of keys that the database looks at before others get their turn. */
const keysAtOnce = 50_000;
/** A text with fewer digits is no phone number. */
const digitsMin = 5;
/** What follows is compared with the contacts that are found. */
const patternCharsMax = 500;

/** Their keys. Looks at every contact; others get their turn meanwhile. */
export async function keysSeenWith(keys: Pick<KeyTables, 'someContacts'>, text: string): Promise<readonly string[]> {
  const wanted = text.normalize('NFC').trim();
  const values = wantedValues(wanted);
  const fits = ({ contactId, document }: ContactRow): boolean => {
    if (contactId === wanted) return true;
    if (values === null || document === null || !values.mayFit(document)) return false;
    const { seen } = unpackMemory(document);
    return seen !== null && values.fits(seen);
  };
  const found: string[] = [];
  // Ends behind the last key: each turn looks at greater numbers.
  for (let first: number | null = 0; first !== null; ) {
    const last: number = first + keysAtOnce;
    const which = { patterns: values?.patterns ?? [], contactId: wanted, first, last };
    const contacts = await keys.someContacts(keysAtOnce + 2, which);
    const behind = contacts.find(({ number }) => number !== null && number > last);
    found.push(...contacts.filter((one) => one !== behind && fits(one)).map(({ key }) => key));
    first = behind?.number ?? null;
    await nextTurn();
  }
  return found;
}

interface WantedValues {
  fits(contact: Contact): boolean;
  /** Whether a memory may be that of a contact that fits: sooner known than by unpacking it. */
  mayFit(memory: string): boolean;
  /** Of LIKE: the memories of contacts that fit are like one of them, and few others are. */
  readonly patterns: readonly string[];
}

function wantedValues(wanted: string): WantedValues | null {
  if (wanted.includes('@')) {
    const email = itemIdentity('email', wanted);
    return {
      fits: ({ defaultFields }) =>
        defaultFields.emails.some(({ value }) => value !== null && itemIdentity('email', value) === email),
      mayFit: () => true,
      patterns: [patternOf(email)],
    };
  }
  if (!isDialled(wanted)) return null;
  const phone = itemIdentity('phone', wanted);
  // Digits alone may be packed.
  const short = shortText(phone);
  return {
    fits: ({ defaultFields }) =>
      defaultFields.phoneNumbers.some(({ value }) => value !== null && itemIdentity('phone', value) === phone),
    // The digits of several texts are like the pattern in many memories: here they are those of one text.
    mayFit: (memory) => memory.replace(notDialled, '').includes(phone) || memory.includes(short),
    // However it is spelt: anything may stand between two digits.
    patterns: [patternOf([...phone].join('%')), ...(short === phone ? [] : [patternOf(short)])],
  };
}

/** What the identity of a number leaves out; texts of a memory stay apart. */
const notDialled = /[^+\d\u001f]+/g;

/** With words only where it has its country code: as `Tel. +90 532 123 45 67`. */
function isDialled(text: string): boolean {
  if (text.replace(/\D/g, '').length < digitsMin) return false;
  return !/\p{Letter}/u.test(text) || itemIdentity('phone', text).startsWith('+');
}

/**
 * Letters beyond ASCII are spelt in several ways, and JSON escapes quotes and backslashes: anything may be in their places. So it may where an i or
 * a k is wanted, since İ and the sign of kelvin are these in small letters, which LIKE does not know. An underscore fits itself, among others.
 */
function patternOf(text: string): string {
  const plain = text
    .slice(0, patternCharsMax)
    .replace(/[^ -~]|["\\]/gu, '%')
    .replace(/[ik]/g, '%');
  return `%${plain}%`.replace(/%+/g, '%');
}
