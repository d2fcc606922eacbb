/**
 * Keys that are made of e-mail addresses and phone numbers where a row has no id (`firstOf` of the key), as those of address books: another
 * number that comes first, or a first e-mail address, makes another key. So new keys of such mappings are compared with what the ledger knows
 * (`docs/rules.md`, "One person under two keys"): with keys that any e-mail address or number of the row makes, and with the people of the feed
 * whom the file lacks. It is the same person where the names are the same, too, and no row of the file has the known key.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasKeyOfValue, isKeyOf } from '#src/contacts/called.ts';
import type { DesiredContact, FieldName } from '#src/contacts/desired.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type NewKey, type RunEvent, type StagedRecord } from '#src/ledger/staging.ts';
import { foldCase } from '#src/ledger/zero-led.ts';
import { contactColumnOf } from '#src/mapping/contact-columns.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { Value } from '#src/mapping/value-schema.ts';
import type { Contact } from '#src/wire/contact.ts';
import { isOfLetters } from './key-forms.ts';
import { nameOf, valuesOfContact, valuesOfRow } from './match-contacts.ts';
import { shownRow } from './new-keys.ts';
import { type Called, calledAs, isCalledAlike, spellingsOf } from './number-spellings.ts';

/** Keys that the ledger is asked for at once. */
const keysAtOnceMax = 2_000;
/** Known keys that these are compared with. */
const knownAtOnceMax = 10_000;
/** People whom a file lacks, beyond which they are not looked through: a list of a few people among those of other lists. */
const lackedPeopleMax = 20_000;
const numbersPerPage = 2_000;
const contactsPerPage = 500;

/** Whether some keys of the mapping may be made of e-mail addresses or phone numbers, and others of something else. */
export function mayBeDerived(mapping: Pick<Mapping, 'key'> | null): boolean {
  const key = mapping?.key;
  return typeof key === 'object' && key.firstOf !== undefined && key.firstOf.some(isOfContactData);
}

function isIdFirst(mapping: Pick<Mapping, 'key'> | null): boolean {
  const key = mapping?.key;
  const first = typeof key === 'object' ? key.firstOf?.[0] : undefined;
  return first !== undefined && !isOfContactData(first);
}

function isOfContactData(value: Value): boolean {
  if (typeof value !== 'object') return isContactColumn(value);
  const { transform = [], column, firstOf = [] } = value;
  if (transform.includes('emailAddress') || transform.includes('digits')) return true;
  return (column !== undefined && isContactColumn(column)) || firstOf.some(isOfContactData);
}

function isContactColumn(column: string | number): boolean {
  const kind = typeof column === 'number' ? undefined : contactColumnOf(column)?.kind;
  return kind === 'email' || kind === 'phone';
}

/** The keys that the e-mail addresses and numbers of a contact make, in lower case. @param prefix of its mapping. */
export function keysMadeOf({ emails, phones }: Pick<DesiredContact, 'emails' | 'phones'>, prefix: string): string[] {
  const values = (slots: DesiredContact['emails']) => slots.flatMap(({ items }) => items.map(({ value }) => value));
  const bodies = [...values(emails), ...values(phones).flatMap(spellingsOf)];
  return [...new Set(bodies.map((body) => foldCase(`${prefix}${body.toLowerCase()}`)))];
}

/** A contact that the ledger knows, as far as it is compared. */
interface KnownPerson {
  readonly key: string;
  readonly called: Called;
  readonly values: readonly FieldName[];
}

/** Compares new keys, page by page: of files, and of rows that are corrected or tried again. @param isFull whether the file holds all people of its feed. */
export async function comparePeople(
  { runs, contacts }: Pick<Ledger, 'runs' | 'contacts'>,
  run: RunRecord,
  isFull: boolean,
) {
  let [count, derivedCount, rowCount] = [0, 0, 0];
  const events: RunEvent[] = [];
  const isCompared = (run.kind === 'file' || isOfLetters(run)) && mayBeDerived(run.mapping);
  const prefix = run.mapping?.keyPrefix ?? '';
  let knowsAnyone: boolean | null = null;
  let inFile: Uint8Array | null = null;
  let lacked: ReadonlyMap<string, KnownPerson> | null = null;

  /** @param others positions of rows of which it is known already. */
  const add = async (page: readonly NewKey[], others: ReadonlySet<number>): Promise<void> => {
    const open = isCompared ? page.filter(({ position }) => !others.has(position)) : [];
    if (open.length === 0) return;
    const rows = await runs.stagedAt(
      run.id,
      open.map(({ position }) => position),
    );
    // Before the first contact there is none to compare with.
    knowsAnyone ??= (await contacts.sampleBound(1)).length > 0;
    for (const row of rows) if (hasKeyOfValue(row.desired)) derivedCount += 1;
    rowCount += rows.length;
    if (!knowsAnyone) return;
    inFile ??= await runs.keysOfRun(run.id);
    const ofKeys = await knownByKeys(rows, inFile);
    // A few rows of a file say nothing of whom the others are about.
    lacked ??= isOfLetters(run) ? new Map() : await lackedPeople(inFile);
    for (const row of rows) {
      const values = valuesOfRow(row.desired);
      const known = ofKeys.get(row.position) ?? [];
      const called = calledAs(row.desired.scalars);
      const found =
        known.find((one) => one.key !== row.key && isCalledAlike(row.desired, one.called)) ??
        values.map((value) => lacked?.get(`${value} ${called}`)).find((one) => one !== undefined);
      if (found === undefined) continue;
      // Two ids are believed, unless the file is to hold all people: then the ids of all of them may have changed.
      if (!isFull && !hasKeyOfValue(row.desired) && !isMadeOfOwn(found)) continue;
      count += 1;
      const field = values.find((value) => found.values.includes(value)) ?? null;
      if (events.length < eventsPerRunMax) events.push(personEvent(row, found, field));
    }
  };

  /** Contacts whose keys are made of a value of the row, by its position; none that a row of the file has. */
  const knownByKeys = async (
    rows: readonly StagedRecord[],
    bits: Uint8Array,
  ): Promise<ReadonlyMap<number, readonly KnownPerson[]>> => {
    const wanted = rows.map(({ position, desired }) => ({ position, keys: keysMadeOf(desired, prefix) }));
    const asked = [...new Set(wanted.flatMap(({ keys }) => keys))];
    const byKey = new Map<string, KnownPerson[]>();
    for (let first = 0; first < asked.length; first += keysAtOnceMax) {
      const some = await contacts.alikeKeys(asked.slice(first, first + keysAtOnceMax), knownAtOnceMax);
      for (const { key, number, seen } of some) {
        if (seen === null || (number !== null && hasBit(bits, number))) continue;
        const folded = foldCase(key);
        byKey.set(folded, [...(byKey.get(folded) ?? []), personOf(key, seen)]);
      }
      await nextTurn();
    }
    return new Map(wanted.map(({ position, keys }) => [position, keys.flatMap((key) => byKey.get(key) ?? [])]));
  };

  /** People of the feed whose keys no row of the file has, by each value and the name; none where there are too many. */
  const lackedPeople = async (bits: Uint8Array): Promise<ReadonlyMap<string, KnownPerson>> => {
    const numbers: number[] = [];
    let after = 0;
    // Ends with the first short page: numbers only grow.
    for (;;) {
      const page = await runs.knownPage(run.feed, after, numbersPerPage);
      for (const number of page.numbers) if (!hasBit(bits, number)) numbers.push(number);
      if (numbers.length > lackedPeopleMax) return new Map();
      if (page.numbers.length < numbersPerPage) break;
      after = page.numbers[page.numbers.length - 1] ?? after;
      await nextTurn();
    }
    const byValue = new Map<string, KnownPerson>();
    for (let first = 0; first < numbers.length; first += contactsPerPage) {
      const keys = await runs.keysAt(numbers.slice(first, first + contactsPerPage));
      for (const [key, { seen, contactId }] of await contacts.get([...keys.values()])) {
        if (seen === null || contactId === null) continue;
        const person = personOf(key, seen);
        const called = calledAs(person.called.defaultFields);
        if (called !== null) for (const value of person.values) byValue.set(`${value} ${called}`, person);
      }
      await nextTurn();
    }
    return byValue;
  };

  /** How many of the keys are made so, where the mapping has an id first. */
  const notes = (): readonly string[] => {
    if (derivedCount === 0 || !isIdFirst(run.mapping)) return [];
    const isOne = derivedCount === 1;
    const keys = `${derivedCount} of the ${counted(rowCount, 'new key')} ${isOne ? 'is' : 'are'} made of an e-mail address or phone number`;
    const why = `since ${isOne ? 'its row has' : 'their rows have'} no id`;
    return [`${keys}, ${why}: a person for whom the first of these changes gets another key`];
  };

  return { add, notes, count: () => count, events: (): readonly RunEvent[] => events };
}

/** Whether the key of a known contact is made of one of its e-mail addresses or numbers. */
function isMadeOfOwn({ key, values }: KnownPerson): boolean {
  const of = (kind: 'email' | 'phone') =>
    values.flatMap((field) => (field.startsWith(`${kind}.`) ? [field.slice(kind.length + 1)] : []));
  return isKeyOf(key, of('email'), of('phone'));
}

/** No more of the contact than is compared is kept. */
function personOf(key: string, seen: Contact): KnownPerson {
  const { firstName, lastName, company } = seen.defaultFields;
  return { key, called: { defaultFields: { firstName, lastName, company } }, values: valuesOfContact(seen) };
}

function personEvent(row: StagedRecord, { key: contact, called }: KnownPerson, field: FieldName | null): RunEvent {
  const { line, key, name } = shownRow(row);
  const message = 'the ledger knows this person under another key';
  const names = { contact, file: name, app: nameOf(called.defaultFields) };
  return { kind: 'match', line, key, code: 'matchKey', field, message, ...names };
}
