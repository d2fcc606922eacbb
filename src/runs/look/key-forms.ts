/**
 * Keys that are another form of keys that the workspace knows (`docs/rules.md`, "One person under two keys"): the same people
 * would be made a second time.
 *
 * - A Salesforce id with 15 characters and the same id with 18: the last three are computed from the case of the others, so
 *   that the two are one record, whatever the rows say.
 * - A key with the prefix of a mapping, or without it (`hubspot-251`, `251`), keys that differ in case only, and numbers that differ in
 *   the zeros in front, which a spreadsheet takes away (`00251`, `251`), or that have the decimals and separators of one (`1,001.00`,
 *   `1001`), ids in another spelling (`id-spellings.ts`), and those of which a spreadsheet has made a date (`2026-12-01`, `12-1`): two systems may have the same numbers, and case may matter. So these count only where the contact shares a phone number, an e-mail address or first and last name with the row;
 *   where the file has a row with the known key, too, its name alone, since people of one company share a number.
 * - A key that is made of a phone number as it is spelt (`number-spellings.ts`), where the number is known in another spelling, for a
 *   contact of the same name.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DesiredContact, itemIdentity } from '#src/contacts/desired.ts';
import { unreachable } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type NewKey, type RunEvent, type StagedRecord } from '#src/ledger/staging.ts';
import { foldCase } from '#src/ledger/zero-led.ts';
import { textsBeforeDay } from '#src/runs/fix/damaged-date.ts';
import type { Contact } from '#src/wire/contact.ts';
import { otherIdSpellings, plainNumbers } from './id-spellings.ts';
import { type ShownRow, shownRow } from './new-keys.ts';
import { isCalledAlike, looksDialled, mayBeDigits, otherSpellings } from './number-spellings.ts';

const prefixesMax = 20;
/** Forms that the ledger is asked for at once: some 20 ms. */
const formsAtOnceMax = 2_000;
/** Known keys that these are compared with. */
const alikeAtOnceMax = 10_000;
/** Lengths of known numbers with zeros in front. */
const lengthsMax = 20;

/**
 * Compares new keys, page by page, with those that the ledger knows: of files, and of rows that are corrected or tried again, since what they
 * were rejected for says nothing of their keys.
 */
export async function compareKeys({ runs, contacts }: Pick<Ledger, 'runs' | 'contacts'>, run: RunRecord) {
  const counts = new Map<KeyForm, number>();
  const positions = new Set<number>();
  const events: RunEvent[] = [];
  const prefix = run.mapping?.keyPrefix ?? '';
  const isOfRows = run.kind === 'file' || isOfLetters(run);
  const isOfDigits = mayBeDigits(run.mapping);
  const prefixes = isOfRows ? await runs.keyPrefixes(prefixesMax) : [];
  const compare = (row: StagedRecord, alike: readonly KnownKey[], spelt: readonly KnownKey[]): void => {
    const found = sameUnderOtherKey(row, alike, prefix, prefixes) ?? sameNumberSpeltOtherwise(row, spelt);
    if (found === null) return;
    counts.set(found.form, (counts.get(found.form) ?? 0) + 1);
    positions.add(row.position);
    if (events.length < eventsPerRunMax) events.push(keyEvent(shownRow(row), found.known));
  };
  let forms: KnownForms | null = null;
  let inFile: Uint8Array | null = null;
  const add = async (page: readonly NewKey[]): Promise<void> => {
    if (!isOfRows) return;
    forms ??= { prefix, lengths: await lengthsBehind(contacts, ['', prefix, ...prefixes]) };
    const open: FormsOfKey[] = [];
    let count = 0;
    const spellings = await spellingsIn(page);
    for (const { position, key } of page) {
      const wanted = { position, forms: formsOf(key, forms), spellings: spellings.get(position) ?? [] };
      if (count > 0 && count + wanted.forms.length > formsAtOnceMax) {
        await addSome(open.splice(0));
        count = 0;
        await nextTurn();
      }
      open.push(wanted);
      count += wanted.forms.length;
    }
    if (open.length > 0) await addSome(open);
  };
  /** Keys with the number of the row in another spelling, by its position. */
  const spellingsIn = async (page: readonly NewKey[]): Promise<ReadonlyMap<number, readonly string[]>> => {
    const dialled = isOfDigits ? page.filter(({ key }) => looksDialled(withoutPrefix(key, prefix))) : [];
    if (dialled.length === 0) return new Map();
    const rows = await runs.stagedAt(
      run.id,
      dialled.map(({ position }) => position),
    );
    return new Map(
      rows.map(({ position, key, desired }) => [
        position,
        otherSpellings(withoutPrefix(key, prefix), desired).map((body) => foldCase(`${prefix}${body}`)),
      ]),
    );
  };
  const addSome = async (wanted: readonly FormsOfKey[]): Promise<void> => {
    const asked = new Set(wanted.flatMap(({ forms, spellings }) => [...forms, ...spellings]));
    const there = await contacts.alikeKeys([...asked], alikeAtOnceMax);
    if (there.length === 0) return;
    inFile ??= await runs.keysOfRun(run.id);
    const bits = inFile;
    const known = there.map(({ number, ...one }) => ({ ...one, isInFile: number !== null && hasBit(bits, number) }));
    const byFolded = Map.groupBy(known, ({ key }) => foldCase(key));
    const knownIn = (those: readonly string[]) => those.flatMap((one) => byFolded.get(one) ?? []);
    const alike = new Map(
      wanted.map(({ position, forms, spellings }) => [position, { forms: knownIn(forms), spelt: knownIn(spellings) }]),
    );
    const met = [...alike].flatMap(([position, { forms, spelt }]) =>
      forms.length + spelt.length > 0 ? [position] : [],
    );
    for (const row of await runs.stagedAt(run.id, met)) {
      const { forms: known, spelt } = alike.get(row.position) ?? { forms: [], spelt: [] };
      compare(row, known, spelt);
    }
  };
  return {
    add,
    /** Positions of the rows that were found. */
    found: (): ReadonlySet<number> => positions,
    counts: (): readonly KeyFormCount[] => [...counts].map(([form, count]) => ({ form, count })),
    events: (): readonly RunEvent[] => events,
  };
}

/** Whether the rows of a run are those of dead letters: a fix-file, or a retry. */
export function isOfLetters({ kind }: Pick<RunRecord, 'kind'>): boolean {
  return kind === 'fixFile' || kind === 'redrive';
}

function keyEvent({ line, key, name }: ShownRow, known: string): RunEvent {
  const message = 'the ledger knows this person under another form of the key';
  return { kind: 'match', line, key, code: 'matchKey', field: null, message, contact: known, file: name };
}

export type KeyForm =
  | 'salesforce15'
  | 'salesforce18'
  | 'prefix'
  | 'case'
  | 'zeros'
  | 'number'
  | 'date'
  | 'idSpelling'
  | 'spelling'
  /** No form of the key, but of what it is made of (`derived-keys.ts`). */
  | 'person';

/** How many new keys are another form of keys that are known. */
export interface KeyFormCount {
  readonly form: KeyForm;
  readonly count: number;
}

interface KnownKey {
  readonly key: string;
  /** The contact as the service last returned it. */
  readonly seen: Contact | null;
  /** Whether the file has a row with this very key, too. */
  readonly isInFile: boolean;
}

/** A new key: in which forms the workspace may know it. */
interface FormsOfKey {
  readonly position: number;
  readonly forms: readonly string[];
  /** With its number in another spelling, where it is made of one. */
  readonly spellings: readonly string[];
}

/** What keys of the ledger look like. */
interface KnownForms {
  /** Of the mapping at hand; empty without one. */
  readonly prefix: string;
  /** How long known numbers with zeros in front are, in characters behind their prefix: by prefix, of this and other mappings and the empty one. */
  readonly lengths: ReadonlyMap<string, readonly number[]>;
}

async function lengthsBehind(
  contacts: Ledger['contacts'],
  prefixes: readonly string[],
): Promise<KnownForms['lengths']> {
  const lengths = new Map<string, readonly number[]>();
  for (const prefix of new Set(prefixes)) lengths.set(prefix, await contacts.zeroLedLengths(prefix, lengthsMax));
  return lengths;
}

/** Keys with a contact that are another form of one that a person has typed: with a prefix or without, in another case, with other zeros. */
export async function otherFormsOf(
  { runs, contacts }: Pick<Ledger, 'runs' | 'contacts'>,
  key: string,
): Promise<readonly string[]> {
  const prefixes = ['', ...(await runs.keyPrefixes(prefixesMax))];
  const lengths = await lengthsBehind(contacts, prefixes);
  const forms = new Set(prefixes.flatMap((prefix) => formsOf(key, { prefix, lengths })));
  const alike = await contacts.alikeKeys([...forms], alikeAtOnceMax);
  return alike.flatMap((one) => (one.key === key ? [] : [one.key])).toSorted();
}

/** In which forms the workspace may know the key; ASCII letters in lower case. */
export function formsOf(key: string, { prefix, lengths }: KnownForms): readonly string[] {
  const bare = withoutPrefix(key, prefix);
  const plain = plainNumbers(bare);
  const others = otherSalesforceId(bare) ?? [...plain, ...otherIdSpellings(bare)];
  const numbers = plain.length === 0 ? [bare] : plain;
  const forms = [...lengths].flatMap(([one, ofOne]) =>
    [bare, ...others, ...numbers.flatMap((number) => withOtherZeros(number, ofOne))].map((body) =>
      foldCase(`${one}${body}`),
    ),
  );
  const dates = [...new Set(['', prefix])].flatMap((one) =>
    textsBeforeDay(bare).map((text) => `${foldCase(one)}${text}`),
  );
  return [...new Set([...forms, ...dates])];
}

/** As which of the known keys the row's contact is there; null where none of them is the same person. */
export function sameUnderOtherKey(
  { key, desired }: { readonly key: string; readonly desired: DesiredContact },
  known: readonly KnownKey[],
  prefix: string,
  prefixes: readonly string[],
): { readonly form: KeyForm; readonly known: string } | null {
  const bodyOf = (text: string, own: readonly string[]) => own.map((one) => withoutPrefix(text, one));
  const bare = withoutPrefix(key, prefix);
  const other = otherSalesforceId(bare);
  const formOf = (there: string): KeyForm => {
    if (foldCase(there) === foldCase(key)) return 'case';
    const bodies = bodyOf(there, ['', prefix, ...prefixes]);
    if (bodies.some((body) => foldCase(body) === foldCase(bare))) return 'prefix';
    if (bodies.some((body) => textsBeforeDay(bare).includes(foldCase(body)))) return 'date';
    if (otherIdSpellings(bare).length > 0) return 'idSpelling';
    return plainNumbers(bare).length === 0 ? 'zeros' : 'number';
  };
  for (const one of known) {
    if (one.key === key) continue;
    if (other !== null && bodyOf(one.key, ['', prefix, ...prefixes]).includes(other[0]))
      return { form: bare.length === 15 ? 'salesforce15' : 'salesforce18', known: one.key };
  }
  for (const one of known) {
    if (one.key === key || one.seen === null) continue;
    // Two rows of one file that share a number are of two people who share it, unless they are called alike.
    if (!(one.isInFile ? isCalledAlike(desired, one.seen) : isSamePerson(desired, one.seen))) continue;
    return { form: formOf(one.key), known: one.key };
  }
  return null;
}

function sameNumberSpeltOtherwise(
  { key, desired }: Pick<StagedRecord, 'key' | 'desired'>,
  known: readonly KnownKey[],
): { readonly form: KeyForm; readonly known: string } | null {
  const found = known.find((one) => one.key !== key && one.seen !== null && isCalledAlike(desired, one.seen));
  return found === undefined ? null : { form: 'spelling', known: found.key };
}

function withoutPrefix(key: string, prefix: string): string {
  return prefix !== '' && key.length > prefix.length && key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

/** A number as a spreadsheet leaves it, and as long as known ones that begin with zeros; nothing for anything else. */
function withOtherZeros(body: string, lengths: readonly number[]): readonly string[] {
  const number = /^0*([1-9]\d*)$/.exec(body)?.[1];
  if (number === undefined) return [];
  const all = [number, ...lengths.map((length) => number.padStart(length, '0'))];
  return all.filter((one) => one !== body);
}

const salesforceLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** The same record's id with 18 characters for one with 15, and the other way round; null for anything else. */
function otherSalesforceId(id: string): readonly [string] | null {
  if (!/^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/.test(id)) return null;
  const short = id.slice(0, 15);
  // A number alone is no id of Salesforce, which begins with the kind of its object: `003`, `00Q`.
  if (/^\d+$/.test(short)) return null;
  const long = `${short}${checksumOf(short)}`;
  if (id.length === 15) return [long];
  return id === long ? [short] : null;
}

/** Three characters, each for five: one bit for each capital, the first the lowest. */
function checksumOf(short: string): string {
  return [0, 5, 10]
    .map((start) => {
      const bits = [...short.slice(start, start + 5)].map((letter) => Number(/[A-Z]/.test(letter)));
      return salesforceLetters[bits.reduce((sum, bit, place) => sum + bit * 2 ** place, 0)] ?? '';
    })
    .join('');
}

function isSamePerson({ scalars, emails, phones }: DesiredContact, { defaultFields }: Contact): boolean {
  const shares = (
    kind: 'email' | 'phone',
    slots: DesiredContact['emails'],
    items: readonly { value: string | null }[],
  ) => {
    const there = new Set(items.flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
    return slots.some((slot) => slot.items.some(({ value }) => there.has(itemIdentity(kind, value))));
  };
  if (shares('email', emails, defaultFields.emails) || shares('phone', phones, defaultFields.phoneNumbers)) return true;
  const fold = (name: string | null | undefined) => name?.normalize('NFC').trim().toLowerCase() || null;
  const [first, last] = [fold(scalars.firstName), fold(scalars.lastName)];
  return (
    first !== null && last !== null && first === fold(defaultFields.firstName) && last === fold(defaultFields.lastName)
  );
}

const keepTheKey =
  'To keep the contact of a person, write what the key was made of first again and export the file anew; where the export can have an id (in a vCard, a line UID:), the earlier key, without the prefix, as the id does so, too.';

/** What to do about keys of each form, in sentences. */
export const formAdvice: Readonly<Record<KeyForm, string>> = {
  salesforce15: 'Take the key from the column with the 18-character ids.',
  salesforce18: 'Take the key from the column with the 15-character ids.',
  prefix: 'Give the mapping the keyPrefix that these contacts were imported with.',
  zeros:
    'A spreadsheet takes the zeros in front of numbers away: take the export as it was before it was opened there.',
  number:
    'A spreadsheet or database has written the numbers with decimals or separators: give their column the format of text or of whole numbers there and save or export the file again, or take the export as it was before.',
  idSpelling:
    'Have the export write these ids as before: with or without dashes and braces, and without a word around them, or do that with a transform of the key in the mapping.',
  date: 'A spreadsheet takes keys such as 12-1 for dates: give their column the format of text there and write these keys anew, or take the export as it was before.',
  spelling:
    'The key of these people is their phone number, as it is spelt: spell the numbers in the address book as they were before, and export it again.',
  person: `The keys of these people are made of their e-mail addresses and numbers, and these, or their order, have changed, or they have an id now. ${keepTheKey} An approval makes a second contact of each: the earlier one is to be deleted in the app then.`,
  case: 'Write the keys as they were written before, for example with a transform of the key in the mapping.',
};

/** What stops the run, for people. @param base the number of new keys. */
export function formSentence({ form, count }: KeyFormCount, base: number): string {
  const keys = `${count} of the ${counted(base, 'new key')} ${count === 1 ? 'is' : 'are'}`;
  const twice = 'the same people would be created twice';
  switch (form) {
    case 'salesforce15':
      return `${keys} the 15-character form of ids that this workspace knows with 18 characters: ${twice}`;
    case 'salesforce18':
      return `${keys} the 18-character form of ids that this workspace knows with 15 characters: ${twice}`;
    case 'prefix':
      return `${keys} known with another prefix, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'case':
      return `${keys} known in other upper and lower case, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'zeros':
      return `${keys} known with more or fewer zeros in front, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'number':
      return `${keys} known as plain numbers, without decimals and separators, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'idSpelling':
      return `${keys} known as the same ${count === 1 ? 'id' : 'ids'} with other dashes or braces, or without a word around ${count === 1 ? 'it' : 'them'}, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'date':
      return `${keys} known as written before a spreadsheet took ${count === 1 ? 'it for a date' : 'them for dates'}, for contacts with the same name, phone number or e-mail address: ${twice}`;
    case 'spelling':
      return `${keys} made of a phone number that is known in another spelling, for contacts with the same name: ${twice}`;
    case 'person':
      return `${keys} of ${count === 1 ? 'a person' : 'people'} whom this workspace knows under another key, with the same name and the same e-mail address or phone number, and whom no row of the file has under that: ${twice}`;
    default:
      return unreachable(form);
  }
}
