/** Chance that repeats: the same seed draws the same. */
import { seededRandom } from '#src/service/faults/faults.ts';

export interface Chance {
  /** A whole number, both bounds included. */
  between(least: number, most: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** In another order; the list itself stays as it is. */
  shuffled<Value>(values: readonly Value[]): readonly Value[];
}

export function createChance(seed: number): Chance {
  const random = seededRandom(seed);
  const between: Chance['between'] = (least, most) => least + Math.floor(random() * (most - least + 1));
  return {
    between,
    pick: (values) => {
      const value = values[between(0, values.length - 1)];
      if (value === undefined) throw new Error('there is nothing to pick from');
      return value;
    },
    shuffled: (values) => {
      const drawn = values.map((value) => ({ value, place: random() }));
      return drawn.sort((a, b) => a.place - b.place).map(({ value }) => value);
    },
  };
}
