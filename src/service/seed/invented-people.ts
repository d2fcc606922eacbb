import { invariant } from '#src/errors.ts';

/**
 * Invented people: users of the workspace, and contacts. The two share no first name, so that no person is both.
 *
 * The lengths of the two lists are coprime, so that a pair of names repeats only after all of them have passed. A number
 * keeps addresses apart.
 */
interface Names {
  readonly first: readonly [string, ...string[]];
  readonly last: readonly [string, ...string[]];
}

const userNames: Names = {
  first: ['Hedda', 'Ilja', 'Juno', 'Kasper', 'Leila'],
  last: ['Ames', 'Birch', 'Corwin', 'Dale', 'Elm', 'Frost', 'Gale', 'Hart', 'Isle', 'Jarvis', 'Keel'],
};

const contactNames: Names = {
  first: ['Ada', 'Bruno', 'Chiara', 'Dmitri', 'Esra', 'Femi', 'Greta'],
  last: [
    'Abbot',
    ...['Brook', 'Cole', 'Dunn', 'Eastly', 'Finch', 'Grove', 'Holm', 'Ivers', 'Joss', 'Kirk', 'Lund', 'Moor'],
  ],
};

interface InventedPerson {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
}

/** The n-th user, counted from 0; 55 have different names. */
export function inventedUser(index: number): InventedPerson {
  return personOf(userNames, index);
}

/** The n-th contact, counted from 0; 91 have different names. */
export function inventedContact(index: number): InventedPerson {
  return personOf(contactNames, index);
}

function personOf({ first, last }: Names, index: number): InventedPerson {
  const firstName = first[index % first.length] ?? first[0];
  const lastName = last[index % last.length] ?? last[0];
  return { firstName, lastName, email: `${firstName}.${lastName}.${index + 1}@example.com`.toLowerCase() };
}

/**
 * Phone numbers that are not in use: 555-0100 to 555-0199 of an area code are set aside for fiction.
 *
 * The first hundred are those of 415; each further hundred takes the next area code.
 */
const firstAreaCode = 415;
const numbersPerAreaCode = 100;

/** Area codes from 201 to 989: none ends in 11, none has 9 as its middle digit, both being set aside. */
const areaCodes: readonly number[] = [
  firstAreaCode,
  ...Array.from({ length: 789 }, (_, index) => 201 + index).filter(
    (code) => code !== firstAreaCode && code !== 555 && code % 100 !== 11 && Math.floor(code / 10) % 10 !== 9,
  ),
];

const fictionalNumberCount = areaCodes.length * numbersPerAreaCode;

interface FictionalNumber {
  /** E.164, as +14155550100. */
  readonly e164: string;
  /** As people write it: (415) 555-0100. */
  readonly national: string;
}

/** The n-th number, counted from 0; below `fictionalNumberCount`. */
export function fictionalNumber(index: number): FictionalNumber {
  const areaCode = areaCodes[Math.floor(index / numbersPerAreaCode)];
  invariant(areaCode !== undefined, 'the index is below the count of fictional numbers', { index });
  const line = `01${String(index % numbersPerAreaCode).padStart(2, '0')}`;
  return { e164: `+1${areaCode}555${line}`, national: `(${areaCode}) 555-${line}` };
}

// Who has which of the fictional numbers in a new workspace: its own phone numbers the first, its contacts those from the second
// area code on, and the last are those of strangers. Samples and examples use the first area code: the people in them are
// none of the contacts.
//
// Invariant: no number is both the workspace's and a contact's, and a stranger is no contact. Contacts share numbers
// where there are more of them than numbers, as people do who share a telephone.

/** Strangers who call and write, and one to whom calls are forwarded. */
const strangerCount = 8;

export interface NumberPlan {
  /** The number of the n-th contact, E.164. Without contacts: of a stranger. */
  readonly ofContact: (index: number) => string;
  /** The number of the n-th stranger, E.164; below 8. */
  readonly ofStranger: (index: number) => string;
}

export function createNumberPlan(phoneNumberCount: number): NumberPlan {
  const firstOfStrangers = fictionalNumberCount - strangerCount;
  const firstOfContacts = Math.max(phoneNumberCount, numbersPerAreaCode);
  const ofContactsCount = firstOfStrangers - firstOfContacts;
  return {
    ofContact: (index) => fictionalNumber(firstOfContacts + (index % ofContactsCount)).e164,
    ofStranger: (index) => fictionalNumber(firstOfStrangers + index).e164,
  };
}
