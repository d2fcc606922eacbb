/**
 * Invented people: users of the workspace, and contacts. The two share no first name, so that nobody is both.
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

export interface InventedPerson {
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
