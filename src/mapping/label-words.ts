/** Which texts are labels that say which number or address it is. Pure. */
import { machineIn } from '#src/sources/number-words.ts';
import { contactColumnOf, labelByWords } from './contact-columns.ts';

/** `mobile`, `Work phone`: a text that says which number or address it is. */
export function isLabel(text: string): boolean {
  return [text, `${text} phone`].some((name) => contactColumnOf(name)?.generic.includes(' ') === true);
}

/** A label, or what says that the number cannot be called: `fax`. */
export function isNumberWord(text: string): boolean {
  return isLabel(text) || machineIn(text) === 'alone';
}

/** The same where each of its words is known: `office main`, not `only for work orders`. */
export function isPlainNumberWord(text: string): boolean {
  return (labelByWords(`${text} phone`, 'phone') ?? 'phone') !== 'phone' || machineIn(text) === 'alone';
}
