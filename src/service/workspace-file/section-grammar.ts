/**
 * What may come next between the values of a workspace file: an object whose members are the sections, each a list of
 * records or one object.
 *
 * A *value* is what is not looked into here: the name of a section, a record, or the object of a section that is one.
 * All is pure: what was expected and the next byte give what is expected then.
 */
import { unreachable } from '#src/errors.ts';
import { closeList, closeObject, colon, comma, openList, openObject, quote } from './json-bytes.ts';

/** How a section is written. */
export type SectionShape = 'list' | 'object';

export type Expected =
  | 'root'
  | 'nameOrEnd'
  | 'name'
  | 'colon'
  | 'section'
  | 'itemOrEnd'
  | 'item'
  | 'commaOrListEnd'
  | 'commaOrEnd'
  | 'nothing';

/**
 * What is expected after a byte that is no white space; `value` where a value begins with it; null where it must not
 * stand. `shape` is that of the section whose name came last.
 */
export function step(expected: Expected, byte: number, shape: SectionShape): Expected | 'value' | null {
  switch (expected) {
    case 'root':
      return byte === openObject ? 'nameOrEnd' : null;
    case 'nameOrEnd':
      if (byte === closeObject) return 'nothing';
      return byte === quote ? 'value' : null;
    case 'name':
      return byte === quote ? 'value' : null;
    case 'colon':
      return byte === colon ? 'section' : null;
    case 'section':
      if (shape === 'object') return byte === openObject ? 'value' : null;
      return byte === openList ? 'itemOrEnd' : null;
    case 'itemOrEnd':
      if (byte === closeList) return 'commaOrEnd';
      return isValueStart(byte) ? 'value' : null;
    case 'item':
      return isValueStart(byte) ? 'value' : null;
    case 'commaOrListEnd':
      if (byte === comma) return 'item';
      return byte === closeList ? 'commaOrEnd' : null;
    case 'commaOrEnd':
      if (byte === comma) return 'name';
      return byte === closeObject ? 'nothing' : null;
    case 'nothing':
      return null;
    default:
      return unreachable(expected);
  }
}

/** Whether the value that begins here is the name of a section. */
export function isNameExpected(expected: Expected): boolean {
  return expected === 'name' || expected === 'nameOrEnd';
}

/** What is expected behind a value. */
export function afterValue(expected: Expected, shape: SectionShape): Expected {
  if (isNameExpected(expected)) return 'colon';
  return shape === 'list' ? 'commaOrListEnd' : 'commaOrEnd';
}

/** What is wrong with a byte that must not stand there, in words. */
export function misfit(expected: Expected, byte: number, shape: SectionShape): string {
  if (expected === 'section') return `this section must be ${shape === 'object' ? 'an object, {…}' : 'a list, […]'}`;
  const found = byte > 0x20 && byte < 0x7f ? `, not ${String.fromCharCode(byte)}` : '';
  return `here must stand ${wanted[expected]}${found}`;
}

/** What is wrong with a text that ends there; null where it may. */
export function earlyEnd(expected: Expected): string | null {
  if (expected === 'nothing') return null;
  return expected === 'root' ? 'it is empty' : 'the text ends in the middle; a part is missing';
}

const wanted: Readonly<Record<Expected, string>> = {
  root: 'an object, {…}',
  nameOrEnd: 'the name of a section, or }',
  name: 'the name of a section',
  colon: 'a colon',
  section: 'a section',
  itemOrEnd: 'a record, or ]',
  item: 'a record',
  commaOrListEnd: 'a comma or ]',
  commaOrEnd: 'a comma or }',
  nothing: 'nothing more',
};

/** Whether it is a value at all is for `JSON.parse` to say. */
function isValueStart(byte: number): boolean {
  return byte !== comma && byte !== colon && byte !== closeList && byte !== closeObject;
}
