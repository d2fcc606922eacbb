/**
 * The proposal of a mapping, as a value: what each column becomes, how sure that is, and why; and its text, a draft with a
 * comment on every line that a person should check.
 */
import type { ScalarName } from '#src/contacts/desired.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';

/**
 * - *certain*: name and values agree.
 * - *likely*: the name says it and the values do not contradict, or the values alone say it.
 * - *guess*: to be checked by a person.
 */
export type Confidence = 'certain' | 'likely' | 'guess';

export interface ProposedColumn {
  /** As the file names it: a header, a path, or `column 4`. */
  readonly column: string;
  /** In words: `phone (mobile)`, `firstName and lastName`; null for a column that is left out. */
  readonly target: string | null;
  /** A value of the file; null where it is blank in all rows that were looked at. */
  readonly example: string | null;
  /** Null for a column that is left out. */
  readonly confidence: Confidence | null;
  /** Why it goes there, or why it is left out: half a sentence. */
  readonly reason: string;
}

/** How a mapping names a column: by header or path, else by position. */
export type ColumnName = string | number;

export interface DraftField {
  readonly name: ScalarName | 'source';
  /** Several: the first that is not blank. */
  readonly sources: readonly FieldSource[];
  /** As the mapping which is there has it: in place of the sources. */
  readonly kept?: unknown;
}

interface FieldSource {
  readonly column: ColumnName;
  /** Of a whole name: which parts of it. */
  readonly transform: readonly ('givenNames' | 'familyName' | 'companyOfName' | 'withoutCompany')[];
}

export interface DraftItems {
  readonly column: ColumnName;
  /** A text, or the column that holds it, with the one where it is blank. */
  readonly label: string | { readonly column: string; readonly default: string };
  /** JSON: whether elements of the list may lack it. */
  readonly optional: boolean;
  /** As the mapping which is there has it: in place of the rest. */
  readonly kept?: unknown;
}

/**
 * The key: that of a mapping which is there (*kept*); or a column, perhaps in lower case, or with a hash in place of long values; or derived from what identifies a person else; or none, for want of both. The first column
 * of a table then stands where a person is to name one; null in JSON, whose members have no position.
 */
export type DraftKey =
  | { readonly kind: 'none'; readonly column: 1 | null }
  | { readonly kind: 'column'; readonly column: ColumnName; readonly lowerCase: boolean; readonly hashLong: boolean }
  | { readonly kind: 'kept'; readonly value: Mapping['key'] }
  | { readonly kind: 'derived'; readonly email: ColumnName | null; readonly template: string | null };

/** About the file itself, where a person said it; the rest is detected. */
export interface DraftReading {
  readonly sheet?: string | undefined;
  readonly encoding?: string | undefined;
  /** One character, or `tab`. */
  readonly delimiter?: string | undefined;
}

export interface Draft {
  readonly name: string;
  readonly key: DraftKey;
  readonly keyPrefix: string | null;
  readonly defaultCountry: string | { readonly column: ColumnName; readonly default: string | null } | null;
  readonly reading: DraftReading;
  readonly fields: readonly DraftField[];
  readonly emails: readonly DraftItems[];
  readonly phones: readonly DraftItems[];
  readonly customFields: readonly { readonly column: ColumnName; readonly key: string; readonly kept?: unknown }[];
  /** Of the whole file, as the mapping which is there has them. */
  readonly settings: readonly { readonly name: string; readonly value: unknown }[];
  /** Every column of the file, in its order. */
  readonly columns: readonly ProposedColumn[];
  /** What a person should know before the first import: sentences. */
  readonly remarks: readonly string[];
}

// The text of a draft. It holds no value of the file, only names of columns: mappings are kept and shared.

interface DraftTextOptions {
  /** The file that the draft was made from, for the first line. */
  readonly file: string;
  readonly rows: number;
}

/** Null where nothing could stand for the key: a mapping without one cannot be used. */
export function draftText(draft: Draft, { file, rows }: DraftTextOptions): string | null {
  if (draft.key.kind === 'none' && draft.key.column === null) return null;
  const { keyPrefix, defaultCountry, reading, settings, fields, emails, phones, customFields, columns, remarks } =
    draft;
  const note = (column: ColumnName): string => commentOn(columns, column);
  const noteOn: NoteOn = ({ kept }, column) => (kept === undefined ? note(column) : keptNote);
  const lines = [
    `# Proposed by patchbay map from ${rows === 1 ? '1 row' : `${rows} rows`} of ${oneLine(file)}. Each key is described in config/mappings/generic.yaml.`,
    ...remarks.map((remark) => `# Note: ${oneLine(remark)}.`),
    `name: ${scalar(draft.name)}`,
    ...readingLines(reading),
    ...keyLines(draft.key, note),
    ...(keyPrefix === null
      ? []
      : [`keyPrefix: ${JSON.stringify(keyPrefix)}  # id 7 of this system becomes ${keyPrefix}7`]),
    ...settings.map(({ name, value }) => `${name}: ${JSON.stringify(value)}${keptNote}`),
    ...(settings.some(({ name }) => name === 'defaultCountry') ? [] : countryLines(defaultCountry, phones.length > 0)),
    ...section(
      'fields',
      fields.map((field) => `  ${field.name}: ${fieldValue(field)}${noteOn(field, field.sources[0]?.column ?? '')}`),
    ),
    ...section(
      'emails',
      emails.map((one) => itemLine(one, noteOn)),
    ),
    ...section(
      'phones',
      phones.map((one) => itemLine(one, noteOn)),
    ),
    ...section(
      'customFields',
      customFields.map((one) => {
        const value = one.kept ?? null;
        const text =
          value === null ? `{ column: ${scalar(one.column)}, key: ${scalar(one.key)} }` : JSON.stringify(value);
        return `  - ${text}${noteOn(one, one.column)}`;
      }),
    ),
    ...leftOutLines(columns),
  ];
  return `${lines.join('\n')}\n`;
}

const keptNote = '  # as in the mapping that was there';
type NoteOn = (entry: { readonly kept?: unknown }, column: ColumnName) => string;

/** As the lines of a mapping: `encoding: shift_jis`. */
export function readingLines(reading: DraftReading): readonly string[] {
  return (['sheet', 'encoding', 'delimiter'] as const).flatMap((name) => {
    const said = reading[name];
    return said === undefined ? [] : [`${name}: ${scalar(said === '\t' ? 'tab' : said)}`];
  });
}

function keyLines(key: DraftKey, note: (column: ColumnName) => string): readonly string[] {
  if (key.kind === 'none') return [`key: ${key.column}  # guess: no column is fit to be the key`];
  if (key.kind === 'kept') {
    const { value } = key;
    const text = typeof value === 'object' ? JSON.stringify(value) : scalar(value);
    return [`key: ${text}${keptNote}`];
  }
  if (key.kind === 'column') {
    const settings = [
      ...(key.lowerCase ? ['transform: [emailAddress, lowerCase]'] : []),
      ...(key.hashLong ? ['hashLong: true'] : []),
    ];
    const column = scalar(key.column);
    const value = settings.length === 0 ? column : `{ ${[`column: ${column}`, ...settings].join(', ')} }`;
    return [`key: ${value}${note(key.column)}`];
  }
  return [
    'key:  # guess: derived, since no column is fit to be the key',
    '  firstOf:',
    ...(key.email === null ? [] : [`    - { column: ${scalar(key.email)}, transform: [emailAddress, lowerCase] }`]),
    ...(key.template === null ? [] : [`    - { template: ${JSON.stringify(key.template)}, transform: [lowerCase] }`]),
    '  hashLong: true',
  ];
}

function countryLines(country: Draft['defaultCountry'], hasPhones: boolean): readonly string[] {
  if (country === null) return hasPhones ? ['# defaultCountry: DE  # of phone numbers without a country code'] : [];
  if (typeof country === 'string') return [`defaultCountry: ${country}`];
  const fallback = country.default === null ? '' : `, default: ${country.default}`;
  return [`defaultCountry: { column: ${scalar(country.column)}${fallback} }`];
}

function itemLine(one: DraftItems, noteOn: NoteOn): string {
  if (one.kept !== undefined) return `  - ${JSON.stringify(one.kept)}${noteOn(one, '')}`;
  const optional = one.optional ? ', optional: true' : '';
  return `  - { column: ${scalar(one.column)}, label: ${labelOf(one)}${optional} }${noteOn(one, one.column)}`;
}

function labelOf({ label }: DraftItems): string {
  if (typeof label === 'string') return scalar(label);
  return `{ column: ${scalar(label.column)}, default: ${scalar(label.default)} }`;
}

function fieldValue({ sources, kept }: DraftField): string {
  if (kept !== undefined) return typeof kept === 'string' ? scalar(kept) : JSON.stringify(kept);
  const values = sources.map(({ column, transform }) =>
    transform.length === 0 ? scalar(column) : `{ column: ${scalar(column)}, transform: [${transform.join(', ')}] }`,
  );
  return values.length === 1 ? (values[0] ?? '') : `{ firstOf: [${values.join(', ')}] }`;
}

function section(name: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${name}:`, ...lines];
}

/** Contact data that is left out by choice must not stop the file: it is listed under `ignore` once a person agrees. */
function leftOutLines(columns: readonly ProposedColumn[]): readonly string[] {
  const left = columns.filter(({ target }) => target === null);
  if (left.length === 0) return [];
  return [
    '# Left out. A custom field of the workspace can take such a column: customFields: [{ column: …, key: … }].',
    ...left.map(({ column, reason }) => `#   ${oneLine(column)}: ${oneLine(reason)}`),
  ];
}

function commentOn(columns: readonly ProposedColumn[], column: ColumnName): string {
  const found = typeof column === 'number' ? columns[column - 1] : columns.find((one) => one.column === column);
  return found?.confidence == null ? '' : `  # ${found.confidence}: ${oneLine(found.reason)}`;
}

/** A text that YAML could take for something else is put in quotes. A number is a position. */
function scalar(value: ColumnName): string {
  if (typeof value === 'number') return String(value);
  const isPlain = /^\p{L}[\p{L}\p{M}\p{Nd}_./-]*(?: [\p{L}\p{M}\p{Nd}_./-]+)*$/u.test(value);
  const isWord = /^(?:true|false|yes|no|on|off|null|y|n)$/i.test(value);
  return isPlain && !isWord ? value : JSON.stringify(value);
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\ufeff]+/gu, ' ').trim();
}
