/**
 * Many nights as a little world: two feeds and the people of the app edit one contact in turn; each round of a feed is
 * planned, carried out by the model, verified and settled.
 *
 * An oracle judges each round. It remembers in its own way what the files said, what people left behind and which
 * phones a sync added; it looks at no base.
 */
import { expect } from 'vitest';
import { type Base, emptyBase, type PlanInput, type Said } from '#src/contacts/base.ts';
import {
  alikeValue,
  type DesiredContact,
  itemIdentity,
  type Slot,
  sameCustomValue,
  scalarNames,
  scalarOf,
} from '#src/contacts/desired.ts';
import { planContact } from '#src/contacts/plan.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import { verifyReply } from '#src/contacts/reply.ts';
import { settle } from '#src/contacts/settle.ts';
import type { Contact, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import { feeds, fieldTypes } from './arbitraries.ts';
import { contact } from './build.ts';
import { modelCreate, modelPatchReply, modelUpdate, type PatchMode } from './service-model.ts';

export type Feed = (typeof feeds)[number];

/** A scalar or custom field as the oracle sees it. */
interface WatchedField {
  readonly name: string;
  readonly read: (stored: Contact) => CustomFieldValue;
  readonly cell: (file: DesiredContact) => CustomFieldValue | undefined;
  readonly same: (left: CustomFieldValue, right: CustomFieldValue) => boolean;
}

const watched: readonly WatchedField[] = [
  ...scalarNames.map((name) => ({
    name,
    read: (stored: Contact) => scalarOf(stored, name),
    cell: (file: DesiredContact) => file.scalars[name],
    same: (left: CustomFieldValue, right: CustomFieldValue) => left === right,
  })),
  ...[...fieldTypes].map(([key, type]) => ({
    name: `custom.${key}`,
    read: (stored: Contact) => stored.customFields.find((field) => field.key === key)?.value ?? null,
    cell: (file: DesiredContact) => file.customFields.find((field) => field.key === key)?.value,
    same: (left: CustomFieldValue, right: CustomFieldValue) => sameCustomValue(type, left, right),
  })),
];

const identities = (items: readonly { readonly value: string | null }[]) =>
  new Set(items.map((item) => itemIdentity('phone', item.value ?? '')));
const phonesOf = (stored: Contact) => identities(stored.defaultFields.phoneNumbers);

export class World {
  /** Null until somebody makes the contact. */
  stored: Contact | null;
  /** What Patchbay remembers. */
  readonly #said = new Map<Feed, Said>();
  #shared: Omit<Base, 'said' | 'others'> = emptyBase;
  #sequence = 0;
  /** What the oracle remembers: the cells of each feed, its phone columns, what was stored after the last round. */
  readonly #cells = new Map<string, CustomFieldValue>();
  readonly #columns = new Map<string, Slot>();
  readonly #added = new Set<string>();
  readonly #agreed = new Map<string, CustomFieldValue>();
  /** Of each feed and number: the label that a sync gave it last, or that this feed's file was found to have. */
  readonly #labels = new Map<string, string | null>();
  /** Numbers that people have added once more. */
  readonly #several = new Set<string>();

  constructor(stored: Contact | null) {
    this.stored = stored;
  }

  /** Somebody edits the contact in the app. */
  peopleEdit(edit: (stored: Contact) => Contact): void {
    if (this.stored === null) return;
    this.stored = edit(this.stored);
  }

  /** One feed's file is imported. */
  round(feed: Feed, mode: PatchMode, file: DesiredContact): void {
    const before = this.stored;
    const others = [...this.#said]
      .filter(([other]) => other !== feed)
      .map(([other, said]) => ({ feed: other, said, owns: true, exists: true }));
    const base: Base = { ...this.#shared, others, said: this.#said.get(feed) ?? null };
    this.#sequence += 1;
    const pictures: PlanInput = {
      feed,
      sequence: this.#sequence,
      sourceLabel: feed,
      base,
      theirs: before,
      ours: file,
      itemRemoval: 'owned',
      policies: usualPolicies,
      isLinked: false,
      restores: false,
      adopt: false,
      yieldsItems: false,
      slotNames: null,
    };
    const plan = planContact(pictures);
    const after = carryOut(plan, before, mode);
    const reply = plan.kind === 'patch' ? modelPatchReply(after) : after;
    if (plan.expected !== null) expect(verifyReply(plan.expected, reply).matches).toBe(true);
    const { said, others: moved, ...shared } = settle({ ...pictures, plan, reply });
    this.#said.set(feed, said);
    for (const other of moved) this.#said.set(other.feed === 'crm' ? 'crm' : 'shop', other.said);
    this.#shared = shared;
    this.stored = after;
    this.#judgeFields(feed, file, before ?? contact(), after);
    this.#judgePhones(feed, file, before ?? contact(), after);
    this.#judgeLabels(feed, file, before ?? contact(), after);
  }

  /** A sync changes a field only if its file newly says so, and if people have not changed what file and app agreed on. */
  #judgeFields(feed: Feed, file: DesiredContact, before: Contact, after: Contact): void {
    for (const { name, read, cell, same } of watched) {
      const now = cell(file);
      const cellName = `${feed} ${name}`;
      const then = this.#cells.get(cellName);
      if (now !== undefined) this.#cells.set(cellName, now);
      if (same(read(before), read(after))) continue;
      expect(now, `${name} changed although the file does not name it`).toBeDefined();
      const isNew = then === undefined || !same(then, now ?? null);
      expect(isNew, `${name} changed although its cell is the old one`).toBe(true);
      // What file and app never had in common is filled where it is empty, whoever emptied it.
      const agreed = this.#agreed.get(cellName) ?? null;
      expect(same(agreed, read(before)), `${name} changed although people had changed it`).toBe(true);
    }
    for (const { name, read, cell, same } of watched) {
      const now = cell(file);
      if (now === undefined) continue;
      // What never agreed agrees where it differs in case or spaces only.
      const isFirst = !this.#agreed.has(`${feed} ${name}`);
      if (!same(now, read(after)) && !(isFirst && alikeValue(null, now, read(after)))) continue;
      // Found equal, it is agreed with this feed; written, with all.
      const isEqual = same(read(before), read(after));
      for (const each of isEqual ? [feed] : feeds) this.#agreed.set(`${each} ${name}`, read(after));
    }
  }

  /** A sync adds only what its file newly says, and removes only what a sync added and no file says any more. */
  #judgePhones(feed: Feed, file: DesiredContact, before: Contact, after: Contact): void {
    const own = () =>
      [...this.#columns].filter(([name]) => name.startsWith(`${feed} `)).flatMap(([, { items }]) => items);
    const saidBefore = identities(own());
    for (const { slot, items, partial } of file.phones) {
      const column = `${feed} ${slot}`;
      // Beside a value that could not be read, what the column said before is still said.
      const still = partial === true ? (this.#columns.get(column)?.items ?? []) : [];
      this.#columns.set(column, { slot, items: [...items, ...still] });
    }
    const saidNow = identities(own());
    const was = phonesOf(before);
    // Only a round can notice that a phone is gone; until then one that was put back by hand is the same item.
    for (const value of this.#added) if (!was.has(value)) this.#added.delete(value);
    const is = phonesOf(after);
    for (const value of [...is].filter((one) => !was.has(one))) {
      expect(saidBefore.has(value), `${value} was put back`).toBe(false);
      expect(saidNow.has(value), `${value} was added and nobody said it`).toBe(true);
      this.#added.add(value);
    }
    for (const value of [...was].filter((one) => !is.has(one))) {
      expect(this.#added.has(value), `${value} was not ours to remove`).toBe(true);
      expect(saidBefore.has(value), `${value} was not this feed's to remove`).toBe(true);
      const said = identities([...this.#columns.values()].flatMap(({ items }) => items));
      expect(said.has(value), `${value} was removed and a file still says it`).toBe(false);
      this.#added.delete(value);
    }
    // What is kept keeps its id. Of a number that people added once more, the sync's own may leave, and any that has its label.
    const named = (value: string) =>
      before.defaultFields.phoneNumbers.filter((item) => itemIdentity('phone', item.value ?? '') === value);
    const idsAfter = new Set(after.defaultFields.phoneNumbers.map((item: ContactItem) => item.id));
    for (const value of is) {
      const items = named(value);
      if (items.length > 0) expect(items.filter(({ id }) => idsAfter.has(id))).not.toEqual([]);
      if (items.length === 1) expect(idsAfter.has(items[0]?.id ?? null)).toBe(true);
    }
  }

  /** A sync changes a label only if a sync gave it, and only to what the file names. Numbers that stand there twice are left out. */
  #judgeLabels(feed: Feed, file: DesiredContact, before: Contact, after: Contact): void {
    const was = this.#labelsOf(before);
    for (const [identity, name] of this.#labelsOf(after)) {
      const then = was.get(identity);
      const wanted = file.phones
        .flatMap(({ items }) => items)
        .find(({ value }) => itemIdentity('phone', value) === identity)?.label;
      if (then !== undefined && then !== name) {
        expect(name, `${identity} has a label that the file does not name`).toBe(wanted);
        const given = this.#labels.get(`${feed} ${identity}`);
        expect(then, `the label of ${identity} changed although people had changed it`).toBe(given);
      }
      if (then !== name) for (const each of feeds) this.#labels.set(`${each} ${identity}`, name);
      else if (name === wanted) this.#labels.set(`${feed} ${identity}`, name);
    }
  }

  #labelsOf({ defaultFields }: Contact): ReadonlyMap<string, string | null> {
    const labels = new Map<string, string | null>();
    for (const { name, value } of defaultFields.phoneNumbers) {
      const identity = itemIdentity('phone', value ?? '');
      if (labels.has(identity)) this.#several.add(identity);
      labels.set(identity, name);
    }
    return new Map([...labels].filter(([identity]) => !this.#several.has(identity)));
  }
}

function carryOut(plan: ReturnType<typeof planContact>, before: Contact | null, mode: PatchMode): Contact {
  if (plan.kind === 'create') return modelCreate(plan.body, 'c1', fieldTypes);
  if (before === null) throw new Error(`a contact that is not there needs a create, not a ${plan.kind}`);
  return plan.kind === 'patch' ? modelUpdate(before, plan.body, mode, fieldTypes) : before;
}
