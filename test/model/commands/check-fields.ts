/** Every field that anybody ever named, by the rules. */
import type { FieldPolicy } from '#src/contacts/policies.ts';
import type { KeyEvent } from './chronicle.ts';
import { type Column, columnsOf, feeds, policedField } from './commands.ts';
import type { Fate } from './fates.ts';
import { itemRule } from './item-rule.ts';
import type { Row } from './model.ts';
import { fieldsOf } from './picture.ts';
import { replay } from './replay.ts';
import { valueRule } from './value-rule.ts';

const allColumns: readonly Column[] = [...new Set(feeds.flatMap((feed) => columnsOf[feed]))];
const isOfItems = (column: string): boolean => column.startsWith('email') || column.startsWith('phone');
const valueColumns = allColumns.filter((column) => !isOfItems(column));

/** @param policy of the one field that may have another than `shared`. @returns one sentence for each field for which nothing that the rules allow leads to what was seen. */
export function fieldBreaches(
  events: readonly KeyEvent[],
  fateOf: (row: Row) => Fate,
  policy: FieldPolicy = 'shared',
): readonly string[] {
  const named = new Set(events.flatMap(fieldsNamed));
  const breaches: string[] = [];
  const judge = (breach: string | null): void => {
    if (breach !== null) breaches.push(breach);
  };
  for (const field of valueColumns) {
    if (!named.has(field)) continue;
    const of = field === policedField ? policy : 'shared';
    judge(replay(valueRule(field, field.startsWith('custom.'), of), events, { field, fateOf }));
  }
  for (const field of named) {
    const kind = field.startsWith('email.') ? 'email' : field.startsWith('phone.') ? 'phone' : null;
    if (kind !== null) judge(replay(itemRule(kind, field.slice(6)), events, { field, fateOf }));
  }
  return breaches;
}

function fieldsNamed(event: KeyEvent): readonly string[] {
  switch (event.kind) {
    case 'row':
      return Object.entries(event.row.cells).flatMap(([column, value]) => {
        if (!isOfItems(column)) return [column];
        if (value === '') return [];
        return [column === 'email' ? `email.${value.toLowerCase()}` : `phone.${value}`];
      });
    case 'edit':
      return fieldsOf(event.from, event.to);
    case 'undone':
      return fieldsOf(event.from ?? new Map(), event.to ?? new Map());
    case 'write':
      return fieldsOf(event.sent);
    default:
      return [];
  }
}
