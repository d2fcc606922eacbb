/**
 * Phone numbers that nobody has: 555-0100 to 555-0199 of an area code are set aside for fiction.
 *
 * The first hundred are those of 415; each further hundred takes the next area code.
 */
import { invariant } from '#src/errors.ts';

const firstAreaCode = 415;
const numbersPerAreaCode = 100;

/** Area codes from 201 to 989: none ends in 11, none has 9 as its middle digit, both being set aside. */
const areaCodes: readonly number[] = [
  firstAreaCode,
  ...Array.from({ length: 789 }, (_, index) => 201 + index).filter(
    (code) => code !== firstAreaCode && code !== 555 && code % 100 !== 11 && Math.floor(code / 10) % 10 !== 9,
  ),
];

export const fictionalNumberCount = areaCodes.length * numbersPerAreaCode;

export interface FictionalNumber {
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
