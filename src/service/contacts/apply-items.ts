/**
 * What a PATCH makes of a list of e-mail addresses or phone numbers (2.2, 4.3). Pure.
 *
 * An item with an id changes that item; with the value null it removes it. An item without an id is added.
 */
import { badRequest, type RequestProblem } from '../http/refusal.ts';
import { fieldLimits } from './field-schemas.ts';
import type { StoredItem } from './stored-contact.ts';
import type { UpdateItem } from './update-body.ts';
import type { UpdateFacts } from './update-facts.ts';

/** `path` names the list in problems. Throws `Refusal` 400 with every problem of the list. */
export function applyItems(
  path: string,
  stored: readonly StoredItem[],
  given: readonly UpdateItem[] | undefined,
  { mode, newItemId }: Pick<UpdateFacts, 'mode' | 'newItemId'>,
): readonly StoredItem[] {
  // 4.3, omitted list: not shown; see `applyUpdate`. An explicit empty list: not shown either; it lists no item, so
  // that merge changes nothing and replace keeps nothing.
  if (given === undefined) return mode === 'merge' ? stored : [];
  refuseProblems(path, stored, given);
  const byId = new Map(given.flatMap((item) => (item.id === undefined ? [] : [[item.id, item] as const])));
  const kept = stored.flatMap((item): StoredItem[] => {
    const change = byId.get(item.id);
    if (change === undefined) return mode === 'merge' ? [item] : [];
    return change.value === null ? [] : [{ id: item.id, name: change.name, value: change.value }];
  });
  // 4.3, order of the items afterwards: not shown. Those that were there keep theirs, new ones follow.
  const added = given.flatMap(({ id, name, value }): StoredItem[] =>
    id === undefined && value !== null ? [{ id: newItemId(), name, value }] : [],
  );
  const items = [...kept, ...added];
  if (items.length > fieldLimits.itemsPerListMax) {
    throw badRequest([{ path, message: `would hold more than ${fieldLimits.itemsPerListMax} items`, type: 'array' }]);
  }
  return items;
}

function refuseProblems(path: string, stored: readonly StoredItem[], given: readonly UpdateItem[]): void {
  const known = new Set(stored.map((item) => item.id));
  const named = new Set<string>();
  const problems = given.flatMap(({ id, value }, index): RequestProblem[] => {
    // 4.3, null without an id: not shown. Refused: it says what to do, but not to which item.
    const problem = (message: string): RequestProblem[] => [{ path: `${path}.${index}.id`, message, type: 'string' }];
    if (id === undefined) return value === null ? problem('is needed to remove an item') : [];
    // 4.3, an unknown id: not shown. Refused, since the writer's picture of the contact is out of date.
    if (!known.has(id)) return problem('no item of this contact has this id');
    // 4.3, an id twice: not shown. Refused, since one of the two changes would be lost.
    if (named.has(id)) return problem('stands in the list twice');
    named.add(id);
    return [];
  });
  if (problems.length > 0) throw badRequest(problems);
}
