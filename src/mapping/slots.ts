/**
 * The names of slots (`contacts/desired.ts`): under them it is remembered what a feed said of e-mail addresses and phone
 * numbers. A column's slot is its normalised header, which has no spaces; every other one has a space.
 */
import type { SlotNames } from '#src/contacts/base.ts';
import { isPattern, slotMatcher } from './column-pattern.ts';
import type { EmailEntry } from './entry-schema.ts';
import { normaliseHeader } from './header.ts';
import type { Mapping } from './mapping-schema.ts';
import { type ColumnRef, referencesIn, type ValueObject } from './value-schema.ts';

const nameCharactersMax = 200;

/** A function that names the slots of a list's entries in order: the second of one name gets a number. */
export function createSlotNamer(): (value: ValueObject) => string {
  const counts = new Map<string, number>();
  return (value) => {
    const name = slotOf(value);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  };
}

/** Transforms make no difference: a correction there must not part the feed from what it wrote before. */
function slotOf(value: ValueObject): string {
  const part = value.part === undefined ? '' : ` part ${value.part}`;
  if (value.column !== undefined) return `${nameOf(value.column)}${part}`;
  const references = referencesIn(value).map(({ reference }) => nameOf(reference));
  const kind =
    (['firstOf', 'join', 'template', 'constant'] as const).find((one) => value[one] !== undefined) ?? 'value';
  const name = `${kind} ${[...references, ...(value.constant === undefined ? [] : [value.constant])].join(' ')}${part}`;
  return name.slice(0, nameCharactersMax);
}

function nameOf(reference: ColumnRef): string {
  return typeof reference === 'number' ? `column ${reference}` : normaliseHeader(reference);
}

/** The slots that the mapping may fill; any other slot of the feed is no longer in use. */
export function slotNamesOf({ emails, phones }: Mapping): { readonly emails: SlotNames; readonly phones: SlotNames } {
  return { emails: slotsOf(emails), phones: slotsOf(phones) };
}

function slotsOf(entries: readonly EmailEntry[]): SlotNames {
  const names = new Set<string>();
  const patterns: ((slot: string) => boolean)[] = [];
  for (const entry of entries) {
    if (entry.column !== undefined && isPattern(entry.column)) patterns.push(slotMatcher(entry.column));
    else names.add(slotOf(entry));
  }
  return {
    has: (slot) => {
      const name = slot.replace(/ #\d+$/, '');
      const column = name.replace(/ part -?\d+$/, '');
      return names.has(name) || patterns.some((matches) => matches(column));
    },
  };
}
