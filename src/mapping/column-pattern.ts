/**
 * Column patterns: `Phone {n} - Value` names each column that has a number at `{n}`, `Person - Phone - {label}` each that
 * has any text at `{label}`. What the placeholders stand for in one column can be put into the name of another one, such as
 * `Phone {n} - Label`.
 */
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';

/** What the placeholders of a pattern stand for in one column. */
export interface Placeholders {
  readonly n?: string;
  /** In lower case, with single spaces between its words. */
  readonly label?: string;
}

const placeholder = /\{(n|label)\}/g;
const labelCharactersMax = 75;
/** A longer header matches no pattern: the work may grow with the square of its length. */
const headerCharactersMax = 500;
/** What makes no difference in the name of a column. */
const gap = '[\\s_\\p{Pd}]';
const gaps = new RegExp(`${gap}+`, 'gu');

/** Whether the reference is a name with `{n}` or `{label}`. */
export function isPattern(reference: string | number): reference is string {
  return typeof reference === 'string' && placeholdersOf(reference).length > 0;
}

/** The placeholders of a name, in order, each as often as it occurs. */
export function placeholdersOf(name: string): readonly (keyof Placeholders)[] {
  return [...name.matchAll(placeholder)].map(([, which]) => (which === 'n' ? 'n' : 'label'));
}

/** The name with its placeholders filled in; one that stands for nothing stays. */
export function fillPattern(name: string, by: Placeholders): string {
  return name.replace(placeholder, (whole, which: keyof Placeholders) => by[which] ?? whole);
}

/** A function that tells what the placeholders stand for in a column's name; null for a column that does not match. */
export function columnMatcher(pattern: string): (column: string) => Placeholders | null {
  const form = new RegExp(`^${patternSource(tidyHeader(pattern).toLowerCase())}$`, 'u');
  return (column) => {
    if (column.length > headerCharactersMax) return null;
    // One gap is as good as many, and there is one way to match it: of many gaps there are as many ways as their number cubed.
    const groups = form.exec(tidyHeader(column).toLowerCase().replace(gaps, ' '))?.groups;
    if (groups === undefined) return null;
    const { n, label } = groups;
    const words = label === undefined ? undefined : labelOf(label);
    if (words === null) return null;
    return { ...(n === undefined ? {} : { n }), ...(words === undefined ? {} : { label: words }) };
  };
}

/**
 * Tells of a column whether its number is beyond those that the columns of a file have. Exporters write as many numbered columns as the
 * longest list in the file needs: such a column is blank in every row.
 */
export function beyondNumbers(pattern: string, columns: readonly string[]): (column: string) => boolean {
  const match = columnMatcher(pattern);
  const numberOf = (column: string): number => Number(match(column)?.n ?? 0);
  const highest = columns.reduce((most, column) => Math.max(most, numberOf(column)), 0);
  return (column) => highest > 0 && numberOf(column) > highest;
}

/** Whether a slot may be one of the pattern's. The name of a slot is a normalised header, which has no spaces or dashes. */
export function slotMatcher(pattern: string): (slot: string) => boolean {
  const pieces = tidyHeader(pattern).toLowerCase().split(placeholder);
  const form = pieces.map((piece, index) => (index % 2 === 1 ? formOf(piece) : literally(normaliseHeader(piece))));
  const expression = new RegExp(`^${form.join('')}$`, 'u');
  return (slot) => slot.length <= headerCharactersMax && expression.test(slot);
}

function formOf(which: string): string {
  return which === 'n' ? '\\d{1,4}' : '.+';
}

/**
 * Every piece between placeholders matches with any gaps between its characters. Where a gap is next to `{label}`, the
 * column needs one, too: otherwise `Phone {label}` would be `Phonetic` with the label `tic`.
 */
function patternSource(pattern: string): string {
  const pieces = pattern.split(placeholder);
  return pieces
    .map((piece, index) => {
      if (index % 2 === 1) return `(?<${piece}>${formOf(piece)})`;
      const before = pieces[index - 1] === 'label' && new RegExp(`^${gap}`, 'u').test(piece);
      const after = pieces[index + 1] === 'label' && new RegExp(`${gap}$`, 'u').test(piece);
      const characters = [...normaliseHeader(piece)].map(literally).join(`${gap}*`);
      return `${gap}${before ? '+' : '*'}${characters}${characters === '' ? '' : `${gap}${after ? '+' : '*'}`}`;
    })
    .join('');
}

function labelOf(text: string): string | null {
  const label = text
    .split(/[\s_\p{Pd}]+/u)
    .filter((word) => word !== '')
    .join(' ');
  return label === '' || [...label].length > labelCharactersMax ? null : label;
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
