/** What people do in the app: they edit what is there, and save the whole contact. */
import { unreachable } from '#src/errors.ts';
import type { Contact, UpdateCustomField, UpdateItem } from '#src/wire/contact.ts';
import type { Command, Edit, Key } from './commands.ts';
import { keyModel, type Model } from './model.ts';
import type { World } from './world.ts';

export async function edit(world: World, model: Model, command: Extract<Command, { do: 'edit' }>): Promise<void> {
  const { key, during } = command;
  // Whether a deletion is known to the ledger can be told only while nobody is at work.
  const isLater = during !== null && command.edit.what !== 'delete' && command.edit.what !== 'make';
  const now = (): Promise<void> => editNow(world, model, key, command.edit);
  model.isRaced ||= isLater;
  if (isLater) world.interrupt(during.worker, during.effect, now);
  else await now();
}

/** A key without a contact is passed over, or with one that is to be made. */
async function editNow(world: World, model: Model, key: Key, what: Edit): Promise<void> {
  const { chronicle } = world;
  const typed = [
    what.what === 'add' || what.what === 'retype' ? what.value : '',
    what.what === 'make' ? what.phone : '',
  ];
  for (const value of typed) if (value !== '') model.addedByHand.add(`${key} ${value.toLowerCase()}`);
  const found = async (): Promise<Contact | undefined> =>
    (await world.contacts()).find((contact) => contact.externalId === key);
  const contact = await found();
  if (what.what === 'make') {
    if (contact === undefined && world.isAtRest() && !model.keys.has(key)) await make(world, model, key, what);
    return;
  }
  if (contact === undefined) return;
  if (what.what === 'delete') return remove(world, model, key, contact.id);
  await chronicle.edited(key, async () => {
    // As it is when nobody else writes it.
    const current = await found();
    const changed = current === undefined ? null : changedBy(what, current);
    if (changed !== null) await world.byHand('PATCH', `/${contact.id}`, changed);
  });
}

/** It is no second create of ours, so nothing of an earlier one counts any more. */
async function make(world: World, model: Model, key: Key, what: Extract<Edit, { what: 'make' }>): Promise<void> {
  const { firstName, role, phone } = what;
  keyModel(model, key);
  const phoneNumbers = phone === '' ? [] : [{ name: 'by hand', value: phone }];
  const defaultFields = { firstName, ...(role === '' ? {} : { role }), phoneNumbers };
  await world.chronicle.edited(key, () => world.byHand('POST', '', { externalId: key, defaultFields }));
  world.creates.madeByHand(key);
}

async function remove(world: World, model: Model, key: Key, contactId: string): Promise<void> {
  const known = keyModel(model, key);
  const isBound = (await world.ledger.contacts.get([key])).get(key)?.contactId === contactId;
  await world.byHand('DELETE', `/${contactId}`);
  world.creates.deleted(key);
  known.deleted = isBound && known.deleted === 'no' ? 'known' : 'unknown';
}

type Saved = Exclude<Edit, { what: 'delete' } | { what: 'make' }>;

/** The body that the app sends; null where there is nothing to change. It is complete, whatever the service makes of it. */
function changedBy(what: Saved, { defaultFields, customFields }: Contact): unknown {
  const { emails, phoneNumbers, ...scalars } = defaultFields;
  const kept = (items: Contact['defaultFields']['emails']): (UpdateItem & { value: string | null })[] =>
    items.map(({ id, name, value }) => ({ ...(id === null ? {} : { id }), name: name ?? '', value }));
  const lists = { emails: kept(emails), phoneNumbers: kept(phoneNumbers) };
  const custom = customFields.map(
    ({ id, key, value }): UpdateCustomField => ({ ...(id === null ? {} : { id }), key, value }),
  );
  const body = { defaultFields: { ...scalars, ...lists }, customFields: custom };
  if (what.what === 'set') {
    const { field, value } = what;
    if (!field.startsWith('custom.'))
      return { ...body, defaultFields: { ...body.defaultFields, [field]: value === '' ? null : value } };
    const key = field.slice('custom.'.length);
    const wanted = value === '' ? null : field === 'custom.seats' ? Number(value) : value;
    const old = custom.find((one) => one.key === key);
    if (old === undefined && wanted === null) return null;
    const rest = custom.filter((one) => one !== old);
    return { ...body, customFields: [...rest, { ...old, key, value: wanted }] };
  }
  const items = lists[what.list];
  const isThere = (value: string): boolean => items.some((item) => item.value?.toLowerCase() === value.toLowerCase());
  const withItems = (changed: readonly UpdateItem[]): unknown => ({
    ...body,
    defaultFields: { ...body.defaultFields, [what.list]: changed },
  });
  switch (what.what) {
    case 'add':
      return isThere(what.value) ? null : withItems([...items, { name: 'by hand', value: what.value }]);
    case 'remove': {
      const item = items[what.pick % Math.max(1, items.length)];
      return item === undefined ? null : withItems(items.map((one) => (one === item ? { ...one, value: null } : one)));
    }
    case 'retype': {
      const item = items[what.pick % Math.max(1, items.length)];
      if (item === undefined || isThere(what.value)) return null;
      return withItems(items.map((one) => (one === item ? { ...one, value: what.value } : one)));
    }
    default:
      return unreachable(what);
  }
}
