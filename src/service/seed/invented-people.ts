/** Invented names: 91 pairs pass before one repeats, as the lists' lengths are coprime; a number keeps addresses apart. */
const firstNames = ['Ada', 'Bruno', 'Chiara', 'Dmitri', 'Esra', 'Femi', 'Greta'] as const;
const lastNames = [
  'Abbot',
  'Brook',
  'Cole',
  'Dunn',
  'Eastly',
  'Finch',
  'Grove',
  'Holm',
  'Ivers',
  'Joss',
  'Kirk',
  'Lund',
  'Moor',
] as const;

export interface InventedPerson {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
}

/** The n-th person, counted from 0. */
export function inventedPerson(index: number): InventedPerson {
  const firstName = firstNames[index % firstNames.length] ?? 'Ada';
  const lastName = lastNames[index % lastNames.length] ?? 'Abbot';
  return { firstName, lastName, email: `${firstName}.${lastName}.${index + 1}@example.com`.toLowerCase() };
}
