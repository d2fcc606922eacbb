/**
 * What is remembered of one contact at rest, as one dense text (`docs/rules.md`, "Three pictures, one plan"); and a write, for the journal.
 *
 * Most of a memory says the same several times: what the file said is what the service holds and what both agreed on. So each
 * text is written once, and named by its place from then on; members are known by their order; ids and instants take fewer
 * characters than they show.
 *
 *     '1' shape ␟ text ␟ text …      the shape says, a character at a time, what comes next: a new text, an earlier one, a count…
 *     '2' shape ␟ text …              a write, which was the list of its changes alone in the form '1'
 *     '0' JSON                        what has texts that the forms above cannot hold
 *
 * A part with members that are not known here is one text of JSON within the first form, so that nothing is lost of a contact
 * that a newer service returned. A member that is undefined is absent.
 *
 * Invariant: the form is never changed, nor its list of words: another form has another first character.
 */
import {
  type Agreement,
  agreementsOf,
  type FieldStamp,
  nobodyOwns,
  type OwnedCustomField,
  type Ownership,
  type Said,
} from '#src/contacts/base.ts';
import {
  type DesiredItem,
  type DesiredScalars,
  type FieldName,
  type Slot,
  scalarNames,
} from '#src/contacts/desired.ts';
import type { JournalChange, JournalEntry } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Contact, ContactCustomField, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import type { FeedSaid } from './contacts.ts';

/** The part of the base that belongs to the key, and what each feed said of it. */
export interface ContactMemory {
  /** Null before the service answered for the key. */
  readonly seen: Contact | null;
  readonly owned: Ownership;
  /** Null in a ledger that is older than agreements (`agreementsIn`). */
  readonly agreed: readonly Agreement[] | null;
  readonly stamps: readonly FieldStamp[];
  readonly saids: readonly FeedSaid[];
}

export const emptyMemory: ContactMemory = { seen: null, owned: nobodyOwns, agreed: null, stamps: [], saids: [] };

/** An older ledger has no agreements: it vouches for what a file said and the service held. */
export function agreementsIn({ agreed, seen, saids }: ContactMemory): readonly Agreement[] {
  return agreed ?? (seen === null ? [] : agreementsOf(seen, saids));
}

/** @returns a text without NUL and lone surrogates, which any database keeps as it is. */
export function packMemory(memory: ContactMemory): string {
  const { seen, owned, agreed, stamps, saids } = memory;
  return packed(memoryForm, { seen, owned, agreed, stamps, saids });
}

/** @throws PatchbayError `bug` `memoryForm`: it is not such a text. */
export function unpackMemory(text: string): ContactMemory {
  return unpacked(memoryForm, text);
}

/** What the feeds said: the rest of the memory is passed over, which takes a part of the time. @throws as `unpackMemory`. */
export function unpackSaids(text: string): readonly FeedSaid[] {
  if (text.startsWith('0')) return unpackMemory(text).saids;
  const input = inputOf(text);
  // They are the last part; the others are written before them, in their order.
  const { saids: last, ...before } = memoryParts;
  for (const form of Object.values(before)) form.skip(input);
  return last.take(input);
}

/** What the journal has of a write beside its place. */
export type PackedWrite = Pick<JournalEntry, 'changes' | 'source'>;

/** @returns a text as `packMemory` does. */
export function packWrite({ changes, source }: PackedWrite): string {
  return packed(writeForm, source === undefined ? { changes } : { changes, source }, '2');
}

/** @throws as `unpackMemory`. */
export function unpackWrite(text: string): PackedWrite {
  if (text.startsWith('2')) return unpacked(writeForm, text, '2');
  const write = unpacked<PackedWrite | readonly JournalChange[]>(oldChangesForm, text);
  return 'changes' in write ? write : { changes: write };
}

function packed<Whole>(form: Form<Whole>, whole: Whole, mark = '1'): string {
  const out: Output = { shape: [], texts: [''], places: new Map(), isOdd: false };
  form.put(out, whole);
  out.texts[0] = `${mark}${textOfShape(out.shape)}`;
  const text = out.texts.join(separator);
  if (!out.isOdd && text.isWellFormed() && !text.includes('\u0000')) return text;
  return `0${JSON.stringify(whole)}`;
}

function unpacked<Whole>(form: Form<Whole>, text: string, mark = '1'): Whole {
  // What the ledger wrote itself is trusted.
  if (text.startsWith('0')) return JSON.parse(text.slice(1)) as Whole;
  return form.take(inputOf(text, mark));
}

/** @throws as `unpackMemory`. */
function inputOf(text: string, mark = '1'): Input {
  if (!text.startsWith(mark)) throw new PatchbayError('bug', 'memoryForm', 'a packed text of an unknown form');
  const texts = text.split(separator);
  return { shape: texts[0] ?? '', at: 1, texts, next: 1, known: [], codes: [] };
}

const separator = '\u001f';

/** Characters of a shape, as distances from `firstCode`. From `earlier` on they name a text by its place. */
const firstCode = 33;
const code = {
  ...{
    absent: 0,
    null: 1,
    text: 2,
    hex: 3,
    uuid: 4,
    instant: 5,
    figure: 6,
    true: 7,
    false: 8,
    choices: 9,
    earlier: 10,
  },
  /** A count, or a place, that does not fit into one character stands among the texts. */
  large: 93,
} as const;

/** Words that many memories hold: the first places. */
const words = [
  ...['email', 'phone', 'emails', 'phones', 'mobile', 'work', 'home', 'main', 'office', 'other', 'fax', 'private'],
  ...['email work', 'email home', 'phone mobile', 'phone work', 'phone home', 'phone main', 'phone office'],
  ...['string', 'number', 'boolean', 'date', 'url', 'address', 'multi-select', 'patchbay'],
];
const wordPlaces: ReadonlyMap<string, number> = new Map(words.map((word, place) => [word, place]));

/** One call takes as many arguments as the stack holds. */
const codesAtOnce = 4_096;

function textOfShape(codes: readonly number[]): string {
  if (codes.length <= codesAtOnce) return String.fromCharCode(...codes);
  return textOfShape(codes.slice(0, codesAtOnce)) + textOfShape(codes.slice(codesAtOnce));
}

interface Output {
  /** Character codes. */
  readonly shape: number[];
  /** The first is kept free for the shape. */
  readonly texts: string[];
  /** Of the texts beyond the words. */
  readonly places: Map<string, number>;
  /** A text cannot stand between separators. */
  isOdd: boolean;
}

interface Input {
  readonly shape: string;
  at: number;
  readonly texts: readonly string[];
  next: number;
  /** The texts beyond the words, by place. */
  readonly known: string[];
  /** Their codes, as far as they are still as short as they are kept. */
  readonly codes: number[];
}

function put(out: Output, next: number): void {
  out.shape.push(firstCode + next);
}

function take(input: Input): number {
  const next = input.shape.charCodeAt(input.at) - firstCode;
  input.at += 1;
  return next;
}

function takeText(input: Input): string {
  const text = input.texts[input.next];
  input.next += 1;
  // More is asked for than there is.
  if (text === undefined) throw new PatchbayError('bug', 'memoryForm', 'a memory that was cut');
  return text;
}

/** @param offset where counts begin among the codes. */
function putCount(out: Output, count: number, offset = 0): void {
  const isSmall = count >= 0 && count < code.large - offset && Number.isInteger(count);
  put(out, isSmall ? offset + count : code.large);
  if (!isSmall) out.texts.push(String(count));
}

function countOf(input: Input, next: number, offset = 0): number {
  return next === code.large ? Number(takeText(input)) : next - offset;
}

function putText(out: Output, text: string): void {
  const place = wordPlaces.get(text) ?? out.places.get(text);
  if (place !== undefined) {
    putCount(out, place, code.earlier);
    return;
  }
  out.places.set(text, words.length + out.places.size);
  const short = shortened(text);
  put(out, short.code);
  out.isOdd ||= text.includes(separator);
  out.texts.push(short.text);
}

const hex = /^(?:[0-9a-f]{2}){6,32}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function shortened(text: string): { readonly code: number; readonly text: string } {
  if (text.length === 24 && instant.test(text)) {
    const atMs = Date.parse(text);
    if (atMs >= 0 && new Date(atMs).toISOString() === text) return { code: code.instant, text: atMs.toString(36) };
  }
  const bytes = (digits: string) => Buffer.from(digits, 'hex').toString('base64url');
  if (text.length === 36 && uuid.test(text)) return { code: code.uuid, text: bytes(text.replaceAll('-', '')) };
  if (text.length >= 12 && hex.test(text)) return { code: code.hex, text: bytes(text) };
  return { code: code.text, text };
}

/** As a memory at rest holds the text, where it has no words that are known by their places. */
export function shortText(text: string): string {
  return shortened(text).text;
}

function lengthened(next: number, text: string): string {
  if (next === code.text) return text;
  if (next === code.instant) return new Date(Number.parseInt(text, 36)).toISOString();
  const digits = Buffer.from(text, 'base64url').toString('hex');
  return next === code.hex ? digits : digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function putValue(out: Output, value: CustomFieldValue | undefined): void {
  if (typeof value === 'string') putText(out, value);
  else if (value === undefined) put(out, code.absent);
  else if (value === null) put(out, code.null);
  else if (typeof value === 'boolean') put(out, value ? code.true : code.false);
  else if (typeof value === 'number') {
    put(out, code.figure);
    out.texts.push(Object.is(value, -0) ? '-0' : String(value));
  } else {
    put(out, code.choices);
    putCount(out, value.length);
    for (const choice of value) putText(out, choice);
  }
}

function takeValue(input: Input): CustomFieldValue | undefined {
  const next = take(input);
  if (next >= code.earlier) {
    const place = countOf(input, next, code.earlier);
    return words[place] ?? knownText(input, place - words.length);
  }
  switch (next) {
    case code.absent:
      return undefined;
    case code.null:
      return null;
    case code.true:
    case code.false:
      return next === code.true;
    case code.figure:
      return Number(takeText(input));
    case code.choices:
      return list(text).take(input) as string[];
    default: {
      const long = lengthened(next, takeText(input));
      input.known.push(long);
      input.codes.push(code.text);
      return long;
    }
  }
}

/** A text that was passed over is lengthened when it is asked for. */
function knownText({ known, codes }: Input, index: number): string | undefined {
  const short = known[index];
  const next = codes[index] ?? code.text;
  if (short === undefined || next === code.text) return short;
  const long = lengthened(next, short);
  [known[index], codes[index]] = [long, code.text];
  return long;
}

function skipValue(input: Input): void {
  const next = take(input);
  if (next >= code.earlier) countOf(input, next, code.earlier);
  else if (next === code.figure) takeText(input);
  else if (next === code.choices) list(text).skip(input);
  else if (next === code.text || next === code.hex || next === code.uuid || next === code.instant) {
    input.known.push(takeText(input));
    input.codes.push(next);
  }
}

/** How values of one type are written and read. `put` is given what fits. */
interface Form<Value> {
  fits(value: unknown): boolean;
  put(out: Output, value: Value): void;
  take(input: Input): Value;
  /** Goes behind the value. */
  skip(input: Input): void;
}

/** A form of values: whatever fits is read as what it was. */
function valueForm<Value extends CustomFieldValue | undefined>(fits: (value: unknown) => boolean): Form<Value> {
  return { fits, put: putValue, take: (input) => takeValue(input) as Value, skip: skipValue };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';
const text = valueForm<string>(isText);
const textOrNull = valueForm<string | null>(isTextOrNull);
const textIfAny = valueForm<string | null | undefined>((value) => value === undefined || isTextOrNull(value));
const trueIfAny = valueForm<true | undefined>((value) => value === undefined || value === true);
const customValue = valueForm<CustomFieldValue>((value) => {
  if (typeof value === 'number') return Number.isFinite(value);
  return isTextOrNull(value) || typeof value === 'boolean' || (Array.isArray(value) && value.every(isText));
});

const count: Form<number> = {
  fits: (value) => typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0),
  put: (out, value) => putCount(out, value),
  take: (input) => countOf(input, take(input)),
  skip: (input) => void countOf(input, take(input)),
};

/** A scalar by its place, any other by the place of its prefix and a text. */
const prefixes = ['custom.', 'email.', 'phone.', ''] as const;
const scalarPlaces: readonly string[] = scalarNames;
const field: Form<FieldName> = {
  fits: isText,
  put: (out, name) => {
    const scalar = scalarPlaces.indexOf(name);
    put(out, scalar >= 0 ? scalar : scalarNames.length + prefixes.findIndex((one) => name.startsWith(one)));
    if (scalar < 0) putText(out, name.slice(prefixes.find((one) => name.startsWith(one))?.length));
  },
  take: (input) => {
    const next = take(input);
    return scalarNames[next] ?? (`${prefixes[next - scalarNames.length] ?? ''}${text.take(input)}` as FieldName);
  },
  skip: (input) => {
    if (take(input) >= scalarNames.length) skipValue(input);
  },
};

function list<Item>(item: Form<Item>): Form<readonly Item[]> {
  return {
    fits: (value) => Array.isArray(value) && value.every(item.fits),
    put: (out, items) => {
      putCount(out, items.length);
      for (const one of items) item.put(out, one);
    },
    take: (input) => {
      const length = countOf(input, take(input));
      const items: Item[] = [];
      // Ends after as many items as were written.
      while (items.length < length) items.push(item.take(input));
      return items;
    },
    skip: (input) => {
      // Ends after as many items as were written.
      for (let left = countOf(input, take(input)); left > 0; left--) item.skip(input);
    },
  };
}

/** An object with these members, in this order, and no others. */
function record<Whole extends object>(members: { readonly [Name in keyof Whole]-?: Form<Whole[Name]> }): Form<Whole> {
  const entries = Object.entries(members) as [keyof Whole & string, Form<unknown>][];
  return {
    fits: (value) => {
      if (typeof value !== 'object' || value === null) return false;
      let there = 0;
      for (const [name, form] of entries) {
        const member = (value as { readonly [name: string]: unknown })[name];
        if (!form.fits(member)) return false;
        if (member !== undefined) there += 1;
      }
      // Counted one by one: a list of the names would be made for each of many small objects.
      for (const name in value) if (Object.hasOwn(value, name)) there -= 1;
      return there === 0;
    },
    put: (out, whole) => {
      for (const [name, form] of entries) form.put(out, whole[name]);
    },
    take: (input) => {
      const whole: { [name: string]: unknown } = {};
      for (const [name, form] of entries) {
        const member = form.take(input);
        if (member !== undefined) whole[name] = member;
      }
      return whole as Whole;
    },
    skip: (input) => {
      for (const [, form] of entries) form.skip(input);
    },
  };
}

/** As it is, or as JSON where it does not fit. */
function part<Whole>(form: Form<Whole>): Form<Whole> {
  return {
    fits: () => true,
    put: (out, whole) => {
      const fits = form.fits(whole);
      put(out, fits ? code.true : code.false);
      if (fits) form.put(out, whole);
      else out.texts.push(JSON.stringify(whole));
    },
    take: (input) => (take(input) === code.true ? form.take(input) : (JSON.parse(takeText(input)) as Whole)),
    skip: (input) => {
      if (take(input) === code.true) form.skip(input);
      else takeText(input);
    },
  };
}

const items = list(record<ContactItem>({ id: textOrNull, name: textOrNull, value: textOrNull }));
const contact = record<Omit<Contact, 'missing'>>({
  ...{ id: text, externalId: textOrNull, source: textOrNull, sourceUrl: textOrNull },
  defaultFields: record<Contact['defaultFields']>({
    ...{ firstName: textOrNull, lastName: textOrNull, company: textOrNull, role: textOrNull },
    // The lists of a contact are never changed in place.
    ...{ emails: items as Form<ContactItem[]>, phoneNumbers: items as Form<ContactItem[]> },
  }),
  customFields: list(
    record<ContactCustomField>({ id: textOrNull, key: text, name: textOrNull, type: textOrNull, value: customValue }),
  ) as Form<ContactCustomField[]>,
  ...{ createdAt: textOrNull, updatedAt: textOrNull, createdByUserId: textOrNull },
});
const entries = list(record<OwnedCustomField>({ key: text, value: customValue }));
const slots = list(
  record<Slot>({ slot: text, items: list(record<DesiredItem>({ label: text, value: text })), whole: trueIfAny }),
);
const said = record<Said>({
  scalars: record<DesiredScalars>({
    ...{ firstName: textIfAny, lastName: textIfAny, company: textIfAny, role: textIfAny, sourceUrl: textIfAny },
  }),
  ...{ emails: slots, phones: slots, customFields: entries, held: list(field) },
});
const memoryParts: { readonly [Name in keyof ContactMemory]: Form<ContactMemory[Name]> } = {
  seen: part(contact as Form<Contact | null>),
  owned: part(record<Ownership>({ emails: list(text), phones: list(text), customFields: entries })),
  // With what an undo took back, which few contacts have, they are kept as JSON.
  agreed: part(
    list(
      record<Omit<Agreement, 'isTakenBack'>>({ feed: textOrNull, values: list(record({ field, value: customValue })) }),
    ),
  ),
  stamps: part(list(record<FieldStamp>({ feed: text, sequence: count, fields: list(field) }))),
  saids: list(record<FeedSaid>({ feed: text, said: part(said) })),
};
const memoryForm = record<ContactMemory>(memoryParts);
/** In the order of their codes: new ones at the end. */
const whys = ['added', 'changed', 'cleared', 'removed', 'relabelled', 'landed', 'adopted', 'givenBack'] as const;
const why: Form<JournalChange['why']> = {
  fits: isText,
  put: (out, one) => putCount(out, whys.indexOf(one)),
  take: (input) => whys[countOf(input, take(input))] ?? 'changed',
  skip: count.skip,
};
const changeMembers = { field, from: customValue, to: customValue, why };
/** Of a ledger that is older than labels of what creates added. */
const oldChangesForm: Form<readonly JournalChange[]> = part(
  list(record<Omit<JournalChange, 'label' | 'agreedWith'>>(changeMembers)),
);
const writeForm = record<PackedWrite>({
  // Changes over a value that not every feed had agreed on are few: they are kept as JSON.
  changes: part(list(record<Omit<JournalChange, 'agreedWith'>>({ ...changeMembers, label: textIfAny }))),
  source: textIfAny,
});
