/** The arguments of `npm run bench`. Pure. */

export interface BenchArguments {
  /** Names of cases, in the order given; empty for all. */
  readonly cases: readonly string[];
  readonly rows: number;
  readonly applied: number;
  readonly rounds: number;
  /** Another checkout to compare with. */
  readonly against: string | null;
  /** Where exports and ledgers are kept for the next time; null: in a folder that is removed. */
  readonly keep: string | null;
}

export const usage = `usage: npm run bench -- [CASE…] [--rows N] [--apply N] [--rounds N] [--against FOLDER] [--keep FOLDER]`;

const defaults: BenchArguments = { cases: [], rows: 1_000_000, applied: 20_000, rounds: 5, against: null, keep: null };
const rowsMax = 5_000_000;

/** @returns a sentence where an argument cannot be meant. */
export function readArguments(words: readonly string[], names: readonly string[]): BenchArguments | string {
  let read = defaults;
  const left = [...words];
  // Ends: each turn takes a word.
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith('--')) {
      if (!names.includes(word)) return `no case is called “${word}”; there are ${names.join(', ')}`;
      read = { ...read, cases: [...read.cases, word] };
      continue;
    }
    const value = left.shift();
    if (value === undefined) return `${word} needs a value`;
    const count = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN;
    if (word === '--against' || word === '--keep') read = { ...read, [word.slice(2)]: value };
    else if (word === '--rows' && count >= 100 && count <= rowsMax) read = { ...read, rows: count };
    else if (word === '--apply' && count >= 100 && count <= rowsMax) read = { ...read, applied: count };
    else if (word === '--rounds' && count % 2 === 1 && count < 100) read = { ...read, rounds: count };
    else return wrongValue(word, value);
  }
  return read;
}

function wrongValue(word: string, value: string): string {
  if (word === '--rows' || word === '--apply') return `${word} is a number from 100 to ${rowsMax}, not “${value}”`;
  return word === '--rounds' ? `--rounds is an odd number, not “${value}”` : `there is no option ${word}`;
}
