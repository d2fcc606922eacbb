/**
 * What people wrote into the mapping that a proposal takes the place of. It stays as they wrote it where the file has the columns for it: the
 * settings of the whole file, and each field, address, number and custom field. What such an entry reads is proposed for nothing else. The
 * rest is named. Pure.
 */
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import { canonicalJson } from '#src/mapping/compile-mapping.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { columnUses, positionsOf } from '#src/mapping/show/explain-row.ts';
import { type ColumnRef, isObject, referencesIn, type ValueObject } from '#src/mapping/value-schema.ts';
import { ignoredBy } from '#src/sources/column-name.ts';
import type { FileFacts } from './column-facts.ts';
import { keyChange } from './kept-key.ts';
import type { ColumnName, Draft, DraftField, DraftItems, ProposedColumn } from './proposal.ts';

/** With its default values: what it says nothing of. */
const unsaid = mappingSchema.parse({ name: 'unsaid', key: { constant: '-' } });
const fieldNames: readonly DraftField['name'][] = [...scalarNames, 'source'];
const lists = ['emails', 'phones', 'customFields'] as const;
/** Of the whole file. Those that name no columns always fit. */
const wholeSettings = [
  ...(['title', 'optional', 'defaultCountry', 'onBlank', 'onInvalid', 'duplicateKeys', 'source', 'items'] as const),
  ...(['ignore', 'skipRows', 'keepRows', 'ignoreRejected'] as const),
];

/** The proposal with what is kept of the mapping. */
export function withKept(draft: Draft, before: Mapping, file: FileFacts): Draft {
  const fit = fitting(before, file);
  const isIgnored = ignoredBy(before);
  const withFilters = usesOf(fit, file);
  // A column that tells which rows are read may be proposed for something as well.
  const uses = usesOf({ ...fit, skipRows: undefined, keepRows: undefined }, file);
  const columns = draft.columns.map((one, index): ProposedColumn => {
    const words = withFilters[index] ?? [];
    const isTaken = uses[index]?.length !== 0 || one.target === null;
    if (words.length > 0 && isTaken) return keptColumn(one, words);
    return isIgnored(one.column) ? leftOut(one, 'ignored by the mapping which is there') : one;
  });
  /** Whether a column is left to the proposal. */
  const isOpen = (column: ColumnName): boolean => {
    const index = typeof column === 'number' ? column - 1 : draft.columns.findIndex((one) => one.column === column);
    return uses[index]?.length === 0 && !isIgnored(draft.columns[index]?.column ?? '');
  };
  const kept = withoutReplaced(fit, file, {
    fields: draft.fields.filter(({ sources }) => sources.some(({ column }) => isOpen(column))).map(({ name }) => name),
    customFields: draft.customFields.filter(({ column }) => isOpen(column)).map(({ key }) => key),
  });
  const items = (list: 'emails' | 'phones'): readonly DraftItems[] => [
    ...kept[list].map((value) => ({ column: '', label: '', optional: false, kept: value })),
    ...draft[list].filter(({ column }) => isOpen(column)),
  ];
  // A code is that of the proposal already, which may have found a column beside it.
  const hasOwnCountry = typeof kept.defaultCountry === 'object';
  return {
    ...draft,
    settings: wholeSettings.flatMap((name) => {
      const value = kept[name];
      const isProposed = name === 'defaultCountry' && !hasOwnCountry;
      return isProposed || areEqual(value, unsaid[name]) ? [] : [{ name, value }];
    }),
    defaultCountry: hasOwnCountry ? null : draft.defaultCountry,
    fields: fieldNames.flatMap((name): readonly DraftField[] => {
      const value = kept.fields[name];
      if (value !== undefined) return [{ name, sources: [], kept: inShort(value) }];
      const field = draft.fields.find((one) => one.name === name);
      const sources = field?.sources.filter(({ column }) => isOpen(column)) ?? [];
      return sources.length === 0 ? [] : [{ name, sources }];
    }),
    emails: items('emails'),
    phones: items('phones'),
    customFields: [
      ...kept.customFields.map((value) => ({ column: '', key: value.key, kept: value })),
      ...draft.customFields.filter(
        ({ column, key }) => isOpen(column) && !kept.customFields.some((one) => one.key === key),
      ),
    ],
    columns: columns.map((one, index) => withoutRival(one, uses[index] ?? [], kept)),
  };
}

/** Those parts of the mapping for which the file has the columns; its key is another matter (`kept-key.ts`). */
function fitting(before: Mapping, file: FileFacts): Mapping {
  const isInFile = (reference: ColumnRef): boolean => isThere(reference, file, before);
  const areThere = (values: readonly unknown[]): boolean => values.flatMap(columnsIn).every(isInFile);
  const fits = (value: NonNullable<Mapping['fields'][ScalarName]>): boolean => {
    if (typeof value !== 'object') return isInFile(value);
    const { firstOf, optional = before.optional } = value;
    const beside = Object.entries(value).flatMap(([name, one]) => (besideValue.has(name) ? [one] : []));
    if (optional === true) return true;
    const isRead = firstOf === undefined ? [value] : firstOf;
    const inFile = isRead.map((one) => referencesIn(one).every(({ reference }) => isInFile(reference)));
    return (firstOf === undefined ? inFile.every(Boolean) : inFile.some(Boolean)) && areThere(beside);
  };
  // Where the column may be lacking, the condition does not hold then; but a member that a record of JSON lacks is blank.
  const mayLack = (isBlank: boolean): boolean => (file.isJson ? !isBlank : before.optional === true);
  const skipRows = before.skipRows?.filter((one) => mayLack(one.isBlank === true) || areThere([one]));
  const rest = Object.fromEntries(
    wholeSettings.flatMap((name) => {
      const value = before[name];
      const isFit = name === 'ignore' || name === 'ignoreRejected' || areThere([value].flat());
      return isFit ? [[name, value]] : [];
    }),
  );
  return {
    ...unsaid,
    ...rest,
    skipRows: skipRows?.length === 0 ? undefined : skipRows,
    fields: Object.fromEntries(Object.entries(before.fields).filter(([, value]) => value !== undefined && fits(value))),
    ...Object.fromEntries(lists.map((list) => [list, before[list].filter((value) => fits(value))])),
  };
}

/**
 * Without the fields of which the file lacks every column, since they are optional, where the proposal has others for them.
 * @param proposed what the proposal fills from columns that no entry reads.
 */
function withoutReplaced(
  fit: Mapping,
  file: FileFacts,
  proposed: { readonly fields: readonly string[]; readonly customFields: readonly string[] },
): Mapping {
  const isAbsent = (value: NonNullable<Mapping['fields'][ScalarName]>): boolean => {
    const read = referencesIn(value);
    return read.length > 0 && !read.some(({ reference }) => isThere(reference, file, fit));
  };
  return {
    ...fit,
    fields: Object.fromEntries(
      Object.entries(fit.fields).filter(
        ([name, value]) => value === undefined || !proposed.fields.includes(name) || !isAbsent(value),
      ),
    ),
    customFields: fit.customFields.filter((one) => !proposed.customFields.includes(one.key) || !isAbsent(one)),
  };
}

/** Parts of an entry that name columns of their own. */
const besideValue: ReadonlySet<string> = new Set(['label', 'country', 'skip']);

/** Of a condition, a label, a country. */
function columnsIn(value: unknown): readonly ColumnRef[] {
  if (!isObject(value)) return [];
  const all = [value.column, ...(Array.isArray(value.others) ? value.others : [])];
  return all.filter((one): one is ColumnRef => typeof one === 'string' || typeof one === 'number');
}

function leftOut(column: ProposedColumn, reason: string): ProposedColumn {
  return isKey(column) ? { ...column, target: 'key' } : { ...column, target: null, confidence: null, reason };
}

function isKey({ target }: ProposedColumn): boolean {
  return /^key(?: and |$)/.test(target ?? '');
}

function keptColumn(column: ProposedColumn, uses: readonly string[]): ProposedColumn {
  if (isKey(column)) return { ...column, target: ['key', ...uses].join(' and ') };
  return { ...column, target: uses.join(' and '), confidence: 'certain', reason: 'as in the mapping which is there' };
}

/** Of a column that was proposed for what the mapping takes from elsewhere: a field, or the country of numbers. */
function withoutRival(column: ProposedColumn, uses: readonly string[], kept: Mapping): ProposedColumn {
  const { fields, defaultCountry } = kept;
  const targets = column.target?.split(/, | and /) ?? [];
  const hasCountry = typeof defaultCountry === 'object';
  const isElsewhere = (one: string) => Object.hasOwn(fields, one) || (hasCountry && one === 'country of phone numbers');
  const own = targets.filter((one) => !isElsewhere(one));
  if (uses.length > 0 || own.length === targets.length) return column;
  if (own.length > 0) return { ...column, target: own.join(' and ') };
  return leftOut(column, 'the mapping which is there takes another column for the same field');
}

function areEqual(one: unknown, other: unknown): boolean {
  return one === other || (one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other));
}

/** `{ column: Firma }` → `Firma`. */
function inShort(value: unknown): unknown {
  return isObject(value) && Object.keys(value).join() === 'column' ? value.column : value;
}

const namedMax = 10;

/** What it means that a mapping takes the place of another one: sentences. */
export function changesBetween(before: Mapping, now: Mapping): readonly string[] {
  return [keyChange(before, now), leftBehind(before, now)].filter((one) => one !== null);
}

/**
 * What the mapping that is there says, and the one in its place does not: a sentence, or null. Of the key: `keyChange`.
 */
function leftBehind(before: Mapping, now: Mapping): string | null {
  const settings = [...wholeSettings, 'sheet', 'encoding', 'delimiter', 'recognise', 'fixtures'] as const;
  const lost = [
    ...settings.flatMap((name) => {
      if (before[name] === undefined || areEqual(before[name], now[name])) return [];
      return name === 'skipRows' ? conditionsLost(before.skipRows ?? [], now.skipRows ?? []) : [name];
    }),
    ...fieldNames.flatMap((name) => {
      const value = before.fields[name];
      return value === undefined || areEqual(value, now.fields[name]) ? [] : [`fields.${name}`];
    }),
    ...lists.flatMap((list) =>
      before[list].flatMap((one) =>
        now[list].some((other) => areEqual(one, other)) ? [] : [`${list} (${columnsInWords(one)})`],
      ),
    ),
  ];
  if (lost.length === 0) return null;
  const more = lost.length > namedMax ? ` and ${lost.length - namedMax} more` : '';
  return `what the mapping which is there says of these does not stay: ${lost.slice(0, namedMax).join(', ')}${more}`;
}

/** Any of them is enough to leave a row out: in another order they say the same. */
function conditionsLost(
  before: NonNullable<Mapping['skipRows']>,
  now: NonNullable<Mapping['skipRows']>,
): readonly string[] {
  const lost = before.filter((one) => !now.some((other) => areEqual(one, other)));
  return lost.map(({ column }) => (column === undefined ? 'skipRows' : `skipRows (${columnsInWords({ column })})`));
}

function columnsInWords(value: ValueObject): string {
  return referencesIn(value)
    .map(({ reference }) => (typeof reference === 'number' ? `column ${reference}` : reference))
    .join(', ');
}

/** What the mapping makes of each column, by position. */
function usesOf(mapping: Mapping, file: FileFacts): readonly (readonly string[])[] {
  const found = headersOf(file, JSON.stringify(mapping)).map((header) => columnUses(mapping, header));
  return file.columns.map((_, index) => [...new Set(found.flatMap((uses) => uses[index] ?? []))]);
}

/** Whether the file has the column. Which one is at a position is known of one without a name alone. */
function isThere(reference: ColumnRef, file: FileFacts, mapping: Mapping): boolean {
  return headersOf(file, String(reference)).some((header) =>
    positionsOf(reference, header, mapping).some(
      (index) => typeof reference !== 'number' || file.columns[index]?.isNamed === false,
    ),
  );
}

/**
 * The names of the columns. In JSON a list is one column, while a mapping may name its elements (`mails[]`, `mails[0]`, `phones[1].nr`): so also
 * the names of all elements, of the first, and of those that the text names. Where a list is, any of its elements may be.
 */
function headersOf({ columns, isJson }: FileFacts, text: string): readonly (readonly string[])[] {
  const names = columns.map(({ name }) => name);
  if (!isJson) return [names];
  const firsts = columns.map(({ name, firstPath }) => firstPath ?? name);
  const elements = new Set(['[]', '[0]', ...(text.match(/\[\d+\]/g) ?? [])]);
  return [names, ...[...elements].map((element) => firsts.map((path) => path.replaceAll('[0]', element)))];
}
