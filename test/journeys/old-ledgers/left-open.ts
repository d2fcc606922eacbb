/** The files whose work an old ledger left open (`make-old-ledger.ts`), by name. */

const header = 'externalId,firstName,lastName,phone work';
const firstNumbers = { p: 10, c: 30, s: 50, l: 70 } as const;

function people(letter: keyof typeof firstNumbers, count: number, name: (at: number) => string): readonly string[] {
  const numberOf = (at: number) => `+141555501${firstNumbers[letter] + at}`;
  return [header, ...Array.from({ length: count }, (_, at) => `${letter}-${at},${name(at)},Old,${numberOf(at)}`)];
}

/** What the file says of the person whose name the app has changed. */
const heldName = 'Anna';
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const mixed = people('p', 12, (at) => (at === 1 ? heldName : `Ann${at}`));

export const oldFiles = {
  'people.csv': text(people('p', 12, (at) => `Ann${at}`)),
  'mixed.csv': text([...mixed, 'p-bad,Bad,Old,12']),
  'moved.csv': text(people('p', 12, (at) => (at === 1 ? heldName : `Bea${at}`))),
  'crm.csv': text(people('c', 6, (at) => `Cyn${at}`)),
  'shop.csv': text(people('s', 6, (at) => `Sam${at}`)),
  'later.csv': text(people('l', 3, (at) => `Lea${at}`)),
} as const;

/** Of the feed whose schedule the ledger has. */
export const oldConfig = 'feeds:\n  nightly: { take: drop/*.csv, every: 1d }\n';
