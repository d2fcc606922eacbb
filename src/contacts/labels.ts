/**
 * Whose the label of an e-mail or phone is, and whose an item is where one value stands twice on the service. A label is Patchbay's to
 * change while it is the one that file and app last agreed on. That is the label that the service returned last, where a file says it;
 * where those two differ, since people gave the item another one, or the file says another one by now, *agreed* has it under the item's
 * name. So a label that people gave stays theirs, however often it has been read since (`docs/rules.md`, "Three pictures, one plan").
 */
import type { Contact, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import {
  type Agreement,
  agreedValue,
  agreeFor,
  agreeForAll,
  type Base,
  type PlanInput,
  withoutValues,
} from './base.ts';
import {
  alikeValue,
  type DesiredContact,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  type Slot,
  sameText,
} from './desired.ts';
import { itemOf, itemsOf, listOf, wantedItems } from './items.ts';
import type { Change } from './outcome.ts';

type Remembered = Pick<PlanInput, 'base' | 'feed'>;
type Label = string | null;
/** What a plan writes. */
interface Writes {
  readonly reasons: readonly Change[];
}
interface Settling extends Remembered {
  readonly ours: Pick<DesiredContact, 'emails' | 'phones' | 'undo'>;
  readonly plan: Writes;
}
interface Named {
  readonly kind: ItemKind;
  readonly identity: string;
}

/** Whether the label is Patchbay's to change, where the item has it on the service. */
export function isLabelOurs({ base, feed }: Remembered, { kind, identity }: Named, name: Label): boolean {
  const agreed = agreedValue(base.agreed, feed, itemFieldName(kind, identity));
  if (agreed !== undefined) return sameText(textOf(agreed), name);
  const seen = itemsNamed(kind, base.seen, identity);
  if (seen.length > 0 && !seen.some((one) => sameText(one.name, name))) return false;
  return isSaid({ kind, identity }, slotsOf(kind, base), name);
}

/**
 * Of values that stand several times on the service: the items that people added, which stay when the file drops the value. Known by their ids:
 * those that the service had not returned before, or had with a label that is not Patchbay's. Where a service gives items other ids, none is known.
 */
export function peoplesItems(input: Remembered, kind: ItemKind, contact: Contact): ReadonlySet<string> {
  const identities = new Set(itemsOf(kind, contact).map(({ value }) => itemIdentity(kind, value ?? '')));
  return new Set([...identities].flatMap((identity) => peoplesOf(input, kind, itemsNamed(kind, contact, identity))));
}

function peoplesOf(input: Remembered, kind: ItemKind, items: readonly ContactItem[]): readonly string[] {
  const identity = itemIdentity(kind, items[0]?.value ?? '');
  const seen = itemsNamed(kind, input.base.seen, identity);
  const labelled = seen.filter((one) => isLabelOurs(input, { kind, identity }, one.name));
  const idsOf = (of: readonly ContactItem[]) => new Set(of.flatMap(({ id }) => id ?? []));
  const [known, ours] = [idsOf(seen), idsOf(seen.length > 1 && labelled.length > 0 ? labelled : seen)];
  const isOursThere = items.some(({ id }) => id !== null && ours.has(id));
  return [...idsOf(items)].filter((id) => !ours.has(id) && (known.has(id) || isOursThere));
}

/**
 * What is agreed about labels once a plan is settled: of the items that Patchbay owns.
 * @param after what feeds say from then on, this one and those that moved.
 */
export function agreeLabels(
  agreed: readonly Agreement[],
  input: Settling & { readonly reply: Contact },
  after: Pick<Base, 'said' | 'others' | 'owned'>,
): readonly Agreement[] {
  const moved = new Set(after.others.map(({ feed }) => feed));
  const others = [...after.others, ...input.base.others.filter(({ feed }) => !moved.has(feed))];
  const isThere = (field: FieldName): boolean => {
    const item = itemOf(field);
    return item === null || after.owned[listOf[item.kind]].includes(item.identity);
  };
  let next = withoutValues(agreed, (field) => !isThere(field));
  for (const kind of ['email', 'phone'] as const) {
    for (const identity of after.owned[listOf[kind]]) {
      const items = itemsNamed(kind, input.reply, identity);
      next = agreeLabel(next, input, { kind, identity }, items, (name) =>
        isSaid({ kind, identity }, slotsOf(kind, { said: after.said, others }), name),
      );
    }
  }
  return next;
}

/** @param items those of that name on the service. */
function agreeLabel(
  agreed: readonly Agreement[],
  input: Settling,
  named: Named,
  items: readonly ContactItem[],
  isSaidAfter: (name: Label) => boolean,
): readonly Agreement[] {
  const { base, feed, ours, plan } = input;
  const { kind, identity } = named;
  const field = itemFieldName(kind, identity);
  const forAll = (name: Label) => agreeForAll(agreed, [{ field, value: name }]);
  const change = plan.reasons.find((one) => one.field === field && one.to !== null);
  const [first] = items;
  if (first === undefined) return agreed;
  if (change !== undefined) {
    const undone = ours.undo?.changes.find((one) => one.field === field && one.isLabel);
    // An undo gave the item the label back that people had given it.
    if (undone?.agreedWith !== undefined) return forAll(textOf(change.from));
    // An older label that it is put back with may be people's.
    if (ours.undo !== undefined && change.why === 'added') return agreed;
    const rest = withoutValues(agreed, (one) => one === field);
    return isSaidAfter(first.name) ? rest : agreeForAll(rest, [{ field, value: first.name }]);
  }
  const isKnown = agreedValue(base.agreed, feed, field) !== undefined;
  const own = items.find((item) => isLabelOurs(input, named, item.name));
  if (own !== undefined) return isKnown || isSaidAfter(own.name) ? agreed : forAll(own.name);
  const before = isKnown
    ? undefined
    : itemsNamed(kind, base.seen, identity).find((one) => isSaid(named, slotsOf(kind, base), one.name));
  // Where nothing is agreed on, and the file says it by now, what is seen is enough.
  if (!isKnown && before === undefined) return agreed;
  const kept = before === undefined ? agreed : forAll(before.name);
  const wanted = wantedItems(kind, ours[listOf[kind]]).get(identity);
  const isEqual = wanted !== undefined && items.some(({ name }) => sameText(name, wanted.label));
  return isEqual ? agreeFor(kept, feed, [{ field, value: wanted.label }]) : kept;
}

/** What feeds say of the list, this one also in columns that its mapping no longer names. */
function slotsOf(kind: ItemKind, { said, others }: Pick<Base, 'said' | 'others'>): readonly Slot[] {
  return [...(said?.[listOf[kind]] ?? []), ...others.flatMap((one) => one.said[listOf[kind]])];
}

/** Whether a column labels the item so, as a service may store it. */
function isSaid({ kind, identity }: Named, slots: readonly Slot[], name: Label): boolean {
  return slots.some(({ items }) =>
    items.some(({ label, value }) => alikeValue(null, label, name) && itemIdentity(kind, value) === identity),
  );
}

function itemsNamed(kind: ItemKind, contact: Contact | null, identity: string): readonly ContactItem[] {
  if (contact === null) return [];
  return itemsOf(kind, contact).filter(({ value }) => value !== null && itemIdentity(kind, value) === identity);
}

export function textOf(value: CustomFieldValue): Label {
  return typeof value === 'string' ? value : null;
}
