/**
 * Undoing what a run wrote to a contact (`docs/plans.md`, "Undo"), value by value, as the journal has it:
 *
 *   theirs as before the run                                      nothing is left to undo
 *   theirs as the run left it, and another feed's file names it   held, with that feed
 *   theirs as the run left it                                     the value before is written back
 *   anything else: it changed since                               held, with both values
 *
 * An e-mail or phone that the run added is removed, one that it removed is put back, a label is what it was. A contact that the run
 * made is deleted only on demand, and only if all that it holds is what the run left and no other feed's file names it.
 *
 * Said never moves: the file that the run applied says nothing new the next night, and is not applied again. Agreed moves to what was
 * written back for those who had agreed on it before the run. What people had put there is theirs again, as if they had typed it in
 * after the run: a file that says something else is held. Likewise an item that is put back is Patchbay's own only if it was; then it
 * belongs to the feeds whose files name it, and no file that does not name it removes it. What is taken back is no drift.
 *
 * A contact that an undo deleted is made again, with what it held, by the undo of that. A value that the run took over from people without a
 * write is theirs again.
 *
 * Invariant: nothing is written over a value that the run did not leave, nor over one that another feed's file would have written.
 */
import type { Contact, ContactItem, CustomFieldValue, UpdateItem } from '#src/wire/contact.ts';
import {
  agreeAgain,
  type Base,
  emptySaid,
  type FieldValue,
  fieldValueOf,
  isExactly,
  nobodyOwns,
  type OtherSaid,
  type Ownership,
  type PlanInput,
  type Said,
  saidValue,
  stamp,
  withoutHeldAgain,
  withTakenBack,
} from './base.ts';
import {
  alikeValue,
  customFieldName,
  customValueOrNull,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  type OwnedValue,
  sameCustomValue,
  sameText,
  scalarNames,
  scalarOf,
  type UndoChange,
  type UndoOrder,
} from './desired.ts';
import { itemOf, itemsOf, listOf, wantedItems } from './items.ts';
import { agreeLabels, textOf } from './labels.ts';
import { customKeyOf, type FieldVerdict } from './merge.ts';
import { type Change, fieldChange, type HeldField } from './outcome.ts';
import { type DeletePlan, type IdlePlan, inContactOrder, type PatchPlan, patchOf, type Written } from './plan.ts';
import type { FieldRuling } from './policies.ts';
import { isHeldBy, nextOwnership, type Settled, type SettleInput, withIds } from './settle.ts';

/** What an item's change comes to. */
interface UndoneItems {
  readonly sent: readonly UpdateItem[];
  readonly changes: readonly Change[];
  readonly held: readonly HeldField[];
}

export function planUndo(input: PlanInput, order: UndoOrder, theirs: Contact): PatchPlan | DeletePlan | IdlePlan {
  if (order.deletes) return planDelete(input, order, theirs);
  if (order.makes === true) return leftThere;
  const isOther = theirs.id !== order.contactId;
  const verdicts = order.changes
    .filter(({ field }) => itemOf(field) === null)
    .map((change) => judgeUndo(input, change, customValueOrNull(fieldValueOf(theirs, change.field)), isOther));
  const emails = undoItems('email', input, order, theirs, isOther);
  const phones = undoItems('phone', input, order, theirs, isOther);
  const writes = verdicts.filter(({ decision }) => decision === 'write');
  const changes = writes.map((one) => fieldChange(one.field, one.theirs, one.ours));
  const reasons = inContactOrder(changes, emails.changes, phones.changes);
  const heldFields = verdicts.filter(({ decision }) => decision === 'hold').map((one) => heldOf(input, one));
  const held = [...heldFields, ...emails.held, ...phones.held];
  const wasOurs = (field: FieldName): boolean =>
    order.changes.find((one) => one.field === field && one.before !== null && !one.isLabel)?.agreedWith === undefined;
  const putBack = (kind: ItemKind, { changes: of }: UndoneItems) =>
    of.filter(({ why, field }) => why === 'added' && wasOurs(field)).map(({ to }) => itemIdentity(kind, String(to)));
  const undone = {
    reasons,
    verdicts,
    held,
    passed: [],
    notes: [],
    clears: reasons.filter(({ why }) => why === 'cleared').length,
    removals: reasons.filter(({ why }) => why === 'removed').length,
    written: {
      emails: putBack('email', emails),
      phones: putBack('phone', phones),
      customFields: writes.flatMap(({ field, ours: value }) => {
        const key = customKeyOf(field);
        return key === null || value === null || !wasOurs(field) ? [] : [{ key, value }];
      }),
      disowned: nobodyOwns,
      unwritten: [],
    },
  };
  const facts = {
    ...undone,
    written: withOwners(undone.written, isOther ? [] : (order.unwritten ?? []), { theirs, owned: input.base.owned }),
  };
  if (reasons.length === 0) return { ...facts, kind: held.length === 0 ? 'noop' : 'hold', body: null, expected: null };
  return { ...facts, kind: 'patch', ...patchOf(theirs, input.ours.key, verdicts, emails.sent, phones.sent) };
}

/**
 * With the owners from before the run of values that it took over, or gave back, without a write. Of those that the contact still holds, and
 * whose owner is still the one that the run has left: what changed its owner since is not the run's to change.
 */
function withOwners(
  written: Written,
  left: readonly OwnedValue[],
  { theirs, owned }: { readonly theirs: Contact; readonly owned: Ownership },
): Written {
  const isAsLeft = (one: OwnedValue): boolean => isIn(owned, one) === one.isOurs;
  const unwritten = left
    .filter(isHeldBy(theirs))
    .filter(isAsLeft)
    .map((one) => ({ ...one, isOurs: !one.isOurs }));
  const ownership = (isOurs: boolean): Ownership => {
    const moved = unwritten.filter((one) => one.isOurs === isOurs);
    const items = (kind: ItemKind) =>
      moved.flatMap(({ field }) => (itemOf(field)?.kind === kind ? (itemOf(field)?.identity ?? []) : []));
    const customFields = moved.flatMap(({ field, value }) => {
      const key = customKeyOf(field);
      return key === null ? [] : [{ key, value }];
    });
    return { emails: items('email'), phones: items('phone'), customFields };
  };
  const [ours, peoples] = [ownership(true), ownership(false)];
  return {
    emails: [...written.emails, ...ours.emails],
    phones: [...written.phones, ...ours.phones],
    customFields: [...written.customFields, ...ours.customFields],
    disowned: peoples,
    unwritten,
  };
}

function isIn({ emails, phones, customFields }: Ownership, { field, value }: OwnedValue): boolean {
  const item = itemOf(field);
  if (item !== null) return (item.kind === 'email' ? emails : phones).includes(item.identity);
  const key = customKeyOf(field);
  return customFields.some((one) => one.key === key && isExactly(one.value, value));
}

function judgeUndo(
  { base }: PlanInput,
  { field, left, before }: UndoChange,
  theirs: CustomFieldValue,
  isOther: boolean,
): FieldVerdict {
  const ruling = (): FieldRuling => {
    if (isExactly(theirs, before)) return { decision: 'equal', why: 'equal' };
    if (!isExactly(theirs, left) || isOther) return { decision: 'hold', why: 'changedSince' };
    return feedNaming(base, field, theirs, before) === undefined
      ? { decision: 'write', why: 'asRunLeftIt' }
      : { decision: 'hold', why: 'otherFeedNames' };
  };
  const { decision, why } = ruling();
  return { field, decision, why, ours: before, theirs, said: left, fileChanged: decision === 'write' };
}

function heldOf({ base }: PlanInput, { field, why, said, theirs, ours }: FieldVerdict): HeldField {
  const namedBy = why === 'otherFeedNames' ? feedNaming(base, field, theirs, ours) : undefined;
  return { field, said, theirs, ours, ...(namedBy === undefined ? {} : { namedBy }) };
}

/**
 * The other feed whose file names a scalar's or custom field's value: it says the value, and its change of the field is the one that was
 * settled last, after the run's. The entry of a custom field that would be cleared stays while any feed that owns its items names it.
 */
function feedNaming(
  { others, stamps }: Base,
  field: FieldName,
  theirs: CustomFieldValue,
  before: CustomFieldValue,
): string | undefined {
  const isCleared = customKeyOf(field) !== null && before === null;
  return others.find(({ feed, said, exists, owns }) => {
    const says = saidValue(said, field);
    if (says === undefined || !exists) return false;
    if (isCleared && owns && sameCustomValue(null, says, theirs)) return true;
    const isLast = stamps.some((one) => one.feed === feed && one.fields.includes(field));
    return isLast && alikeValue(null, says, theirs);
  })?.feed;
}

/** The other feed whose file names an e-mail or phone, and to which it belongs, too. */
function feedNamingItem(kind: ItemKind, others: readonly OtherSaid[], identity: string): string | undefined {
  return others.find(({ owns, said }) => owns && wantedItems(kind, said[listOf[kind]]).has(identity))?.feed;
}

/** The complete list for the body, in the service's order, then what is put back. */
function undoItems(
  kind: ItemKind,
  { base }: PlanInput,
  order: UndoOrder,
  contact: Contact,
  isOther: boolean,
): UndoneItems {
  const sent: UpdateItem[] = [];
  const changes: Change[] = [];
  const held: HeldField[] = [];
  const ofKind = order.changes.filter(({ field }) => itemOf(field)?.kind === kind);
  const waiting = new Map(ofKind.map((change) => [`${change.field} ${change.isLabel ?? false}`, change]));
  const takeChange = (field: FieldName, isLabel: boolean): UndoChange | undefined => {
    const name = `${field} ${isLabel}`;
    const change = waiting.get(name);
    waiting.delete(name);
    return change;
  };
  for (const item of itemsOf(kind, contact)) {
    if (item.value === null) continue;
    const identity = itemIdentity(kind, item.value);
    const field = itemFieldName(kind, identity);
    const kept = { ...(item.id === null ? {} : { id: item.id }), name: item.name ?? '', value: item.value };
    const presence = takeChange(field, false);
    const label = takeChange(field, true);
    if (presence !== undefined && presence.before === null) {
      // Identities are alike in other spellings: one that people corrected is theirs.
      const isSpelledAsLeft = isExactly(item.value, presence.left);
      const isAsLeft = !isOther && item.id !== null && isSpelledAsLeft && isLabelAsLeft(kind, base, order, item);
      const namedBy = isAsLeft ? feedNamingItem(kind, base.others, identity) : undefined;
      if (isAsLeft && item.id !== null && namedBy === undefined) {
        sent.push({ id: item.id, name: kept.name, value: null });
        changes.push({ field, from: item.value, to: null, why: 'removed', label: item.name });
        continue;
      }
      const stays = { field, said: presence.left, theirs: item.value, ours: null };
      held.push(namedBy === undefined ? stays : { ...stays, namedBy });
    } else if (label !== undefined && !sameText(item.name, textOf(label.before))) {
      if (sameText(item.name, textOf(label.left)) && !isOther) {
        sent.push({ ...kept, name: textOf(label.before) ?? '' });
        changes.push({ field, from: item.name, to: label.before, why: 'relabelled' });
        continue;
      }
      held.push({ field, said: label.left, theirs: item.name, ours: label.before });
    }
    sent.push(kept);
  }
  for (const { field, left, before, isLabel, label } of waiting.values()) {
    // Its item is gone: people removed it, and there is nothing to take back.
    if (before === null || isLabel) continue;
    if (isOther) {
      held.push({ field, said: left, theirs: null, ours: before });
      continue;
    }
    sent.push({ name: label ?? kind, value: String(before) });
    changes.push({ field, from: null, to: before, why: 'added' });
  }
  return { sent, changes, held };
}

/**
 * The label that the run left an item with that it added: the later one, if it relabelled it. Undefined where the journal is of an older
 * version.
 */
export function labelLeft(changes: readonly UndoChange[], field: FieldName): string | null | undefined {
  const ofItem = changes.filter((one) => one.field === field);
  const later = ofItem.find(({ isLabel }) => isLabel);
  return later === undefined ? ofItem.at(0)?.label : textOf(later.left);
}

/** An older journal does not have the label: then it is the run's if the file names it. */
function isLabelAsLeft(
  kind: ItemKind,
  { said }: Base,
  { changes }: UndoOrder,
  { name, value }: Pick<ContactItem, 'name' | 'value'>,
): boolean {
  const identity = itemIdentity(kind, value ?? '');
  const left = labelLeft(changes, itemFieldName(kind, identity));
  if (left !== undefined) return sameText(left, name);
  const items = (said ?? emptySaid)[listOf[kind]].flatMap((slot) => slot.items);
  return items.some((one) => itemIdentity(kind, one.value) === identity && sameText(one.label, name));
}

/**
 * A contact that the run made: deleted if it holds what the run left, labels and source included, and nothing else, and no other feed's
 * file names it.
 */
function planDelete({ base }: PlanInput, order: UndoOrder, theirs: Contact): DeletePlan | IdlePlan {
  const { contactId, changes, source } = order;
  const left = new Map(changes.filter(({ isLabel }) => !isLabel).map((change) => [change.field, change.left]));
  const held: HeldField[] = [];
  const reasons: Change[] = [];
  for (const { field, value, label } of contentsOf(theirs)) {
    const was = left.get(field) ?? null;
    left.delete(field);
    const item = itemOf(field);
    const isAsLeft =
      item === null
        ? isExactly(value, was) && isInOrder(value, was)
        : isExactly(value, was) && isLabelAsLeft(item.kind, base, order, { name: label, value: textOf(value) });
    if (!isAsLeft) held.push({ field, said: was, theirs: value, ours: null });
    const change = { field, from: value, to: null };
    reasons.push(item === null ? { ...change, why: 'cleared' } : { ...change, why: 'removed', label });
  }
  for (const [field, was] of left) {
    if (was !== null) held.push({ field, said: was, theirs: null, ours: null });
  }
  if (source !== undefined && !sameText(source, theirs.source))
    held.push({ field: 'source', said: source, theirs: theirs.source, ours: null });
  const nothing = { verdicts: [], passed: [], notes: [], clears: 0, removals: 0, written: nothingWritten };
  const namedBy = base.others.find(({ exists, said }) => exists && saysAnything(said));
  if (held.length === 0 && namedBy !== undefined) {
    const all = reasons.map(({ field, from }) => ({ field, said: from, theirs: from, ours: null }));
    const itsOwn = all.filter(({ field }) => saysField(namedBy.said, field));
    held.push(...(itsOwn.length === 0 ? all : itsOwn).map((one) => ({ ...one, namedBy: namedBy.feed })));
  }
  if (held.length > 0 || theirs.id !== contactId)
    return { ...nothing, reasons: [], held, kind: 'hold', body: null, expected: null };
  return { ...nothing, reasons, held: [], kind: 'delete', body: null, expected: null };
}

/** Choices in another order were edited since: no reason to hold them, but one not to delete their contact. */
function isInOrder(value: CustomFieldValue, was: CustomFieldValue): boolean {
  return !Array.isArray(value) || JSON.stringify(value) === JSON.stringify(was);
}

const saysAnything = ({ scalars, emails, phones, customFields, held }: Said): boolean =>
  Object.keys(scalars).length + emails.length + phones.length + customFields.length + held.length > 0;

function saysField(said: Said, field: FieldName): boolean {
  const item = itemOf(field);
  if (item === null) return saidValue(said, field) !== undefined || said.held.includes(field);
  return wantedItems(item.kind, said[listOf[item.kind]]).has(item.identity);
}

const nothingWritten: Written = { ...nobodyOwns, disowned: nobodyOwns, unwritten: [] };

/** The contact that was to be made again is there: others made it, and it is theirs. */
const leftThere: IdlePlan = {
  ...{ kind: 'noop', body: null, expected: null, reasons: [], held: [], verdicts: [], passed: [], notes: [] },
  ...{ clears: 0, removals: 0, written: nothingWritten },
};

interface HeldContents {
  readonly field: FieldName;
  readonly value: CustomFieldValue;
  readonly label: string | null;
}

/** All values of a contact, each field and item by its name. */
function contentsOf(contact: Contact): readonly HeldContents[] {
  const items = (kind: ItemKind) =>
    itemsOf(kind, contact).flatMap(({ name, value }) =>
      value === null ? [] : [{ field: itemFieldName(kind, itemIdentity(kind, value)), value, label: name }],
    );
  const fields = [
    ...scalarNames.map((name) => ({ field: name, value: scalarOf(contact, name) as CustomFieldValue })),
    ...contact.customFields.map(({ key, value }) => ({ field: customFieldName(key), value: customValueOrNull(value) })),
  ];
  return [
    ...fields.flatMap(({ field, value }) => (value === null ? [] : [{ field, value, label: null }])),
    ...items('email'),
    ...items('phone'),
  ];
}

/** What is remembered once the plan of an undo is carried out. */
export function settleUndo(input: SettleInput): Settled {
  const { base, plan, reply, theirs, feed, sequence, ours } = input;
  const changes = ours.undo?.changes.filter(({ isLabel }) => !isLabel) ?? [];
  const fields = plan.verdicts.filter(({ decision }) => decision === 'write').map(({ field }) => field);
  const agreed = fields.reduce((before, field) => {
    const whose = changes.find((one) => one.field === field)?.agreedWith;
    return agreeAgain(before, whose, { field, value: fieldValueOf(reply, field) });
  }, base.agreed);
  const said = base.said ?? emptySaid;
  const owned = nextOwnership(base.owned, plan.written, reply);
  const all = agreeLabels(agreed, input, { said, others: [], owned });
  return {
    said,
    others: [],
    agreed: withTakenBack(withoutHeldAgain(all, isHeldBy(reply)), takenBack(input)),
    stamps: stamp(base.stamps, { feed, sequence }, fields),
    seen: { ...reply, customFields: withIds(reply, theirs) },
    owned,
  };
}

/** What the run left and the contact no longer holds, since the undo, or people before it, made it what it was. */
function takenBack({ ours: { undo }, reply }: SettleInput): readonly FieldValue[] {
  if (undo === undefined || undo.deletes || undo.contactId !== reply.id) return [];
  const isHeld = isHeldBy(reply);
  return undo.changes.flatMap(({ field, left, before, isLabel }) => {
    if (isLabel) return [];
    const isItem = itemOf(field) !== null;
    const isBack = isItem ? !isHeld({ field, value: left }) : isExactly(fieldValueOf(reply, field), before);
    return isBack && !(isItem && left === null) ? [{ field, value: left }] : [];
  });
}
