/** Whether what the elements of a JSON list are called is a label of their values, or the name of a person. Pure. */
import { contactColumnOf } from '#src/mapping/contact-columns.ts';
import type { ColumnFacts, ElementNames } from './column-facts.ts';

/** `mobile`, `Work phone`: a text that says which number or address it is. */
export function isLabel(text: string): boolean {
  return [text, `${text} phone`].some((name) => contactColumnOf(name)?.generic.includes(' ') === true);
}

/** A list is read element by element where the `name` of each is none of its labels, but a person's: `{"name": "Ada Lee", "address": …}`. */
export function withoutNames(facts: ColumnFacts): ColumnFacts {
  const { elementNames } = facts;
  if (elementNames === null || !holdNames(elementNames)) return facts;
  const { valuePath: path, labelPaths } = elementNames;
  return { ...facts, ofElements: { path, labelPaths, isLacked: false } };
}

const namesMin = 4;
/** The share of names that differ from all others. */
const namesShareMin = 0.8;

/** No labels that are known, and hardly one that two people have. */
function holdNames({ values, filled }: ElementNames): boolean {
  if (filled < namesMin || values.filter(isLabel).length * 2 > values.length) return false;
  return values.length >= filled * namesShareMin;
}
