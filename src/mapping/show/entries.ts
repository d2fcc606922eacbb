/**
 * The entries of a mapping: each says what one part of a contact is made of. In words, and as a mapping of its own with this
 * entry alone, which shows what it does without a second implementation.
 */
import { scalarNames } from '#src/contacts/desired.ts';
import { columnMatcher, isPattern } from '../column-pattern.ts';
import { isIgnoredHeader, normaliseHeader } from '../header.ts';
import { genericTargets } from '../layout.ts';
import type { Mapping } from '../mapping-schema.ts';
import { anySettings } from '../mapping-settings.ts';
import type { Target } from '../target.ts';
import type { Transform } from '../transforms.ts';
import { type ColumnRef, referencesIn, type Value } from '../value-schema.ts';

export interface MappingEntry {
  /** Where its value goes: `key`, `firstName`, `phone (mobile)`, `custom.tier`. */
  readonly target: string;
  /** The columns that it reads, as the mapping names them. */
  readonly columns: readonly ColumnRef[];
  /** The mapping with this entry and the key alone. */
  readonly alone: Mapping;
  /** The steps of its value that follow one another, in words; and the mapping with all steps up to each. */
  readonly steps: readonly { readonly step: string; readonly until: Mapping }[];
}

/** In the order in which they are documented, the key first. */
export function entriesOf(mapping: Mapping): readonly MappingEntry[] {
  const { fields, emails, phones, customFields } = mapping;
  const bare: Mapping = { ...mapping, fields: {}, emails: [], phones: [], customFields: [], optional: true };
  const entry = <Entry extends Value>(target: string, value: Entry, put: (value: Entry) => Mapping): MappingEntry => ({
    target,
    columns: referencesIn(value).map(({ reference }) => reference),
    alone: put(value),
    steps: stepsOf(value).map(({ step, until }) => ({ step, until: put(until as Entry) })),
  });
  return [
    entry('key', mapping.key as Value, (key) => ({ ...bare, key: key as Mapping['key'] })),
    ...scalarNames.flatMap((name) => {
      const field = fields[name];
      return field === undefined ? [] : [entry(name, field, (value) => ({ ...bare, fields: { [name]: value } }))];
    }),
    ...(fields.source === undefined
      ? []
      : [entry('source', fields.source, (source) => ({ ...bare, fields: { source } }))]),
    ...emails.map((one) => entry(itemInWords('email', one.label), one, (value) => ({ ...bare, emails: [value] }))),
    ...phones.map((one) => entry(itemInWords('phone', one.label), one, (value) => ({ ...bare, phones: [value] }))),
    ...customFields.map((one) => entry(`custom.${one.key}`, one, (value) => ({ ...bare, customFields: [value] }))),
  ];
}

function itemInWords(plain: string, label: unknown): string {
  if (typeof label === 'string') return label === plain ? plain : `${plain} (${label})`;
  return plain;
}

/** Part and transforms, one after the other: each with the value up to and including it. */
function stepsOf(value: Value): readonly { readonly step: string; readonly until: Value }[] {
  if (typeof value !== 'object') return [];
  const { part, transform = [] } = value;
  const parts = part === undefined ? [] : [{ step: `part ${part}`, until: { ...value, transform: undefined } }];
  const transforms = transform.map((one, index) => ({
    step: transformInWords(one),
    until: { ...value, transform: transform.slice(0, index + 1) },
  }));
  return [...parts, ...transforms];
}

function transformInWords(transform: Transform): string {
  return typeof transform === 'string' ? transform : JSON.stringify(transform);
}

/** The positions of the columns of a table that a mapping's column means; for a pattern, several. */
export function positionsOf(column: ColumnRef, header: readonly string[]): readonly number[] {
  if (typeof column === 'number') return column <= header.length ? [column - 1] : [];
  const where = (test: (name: string) => boolean) => header.flatMap((name, index) => (test(name) ? [index] : []));
  if (isPattern(column)) {
    const match = columnMatcher(column);
    return where((name) => match(name) !== null);
  }
  const exact = where((name) => name.trim() === column);
  return exact.length > 0 ? exact : where((name) => normaliseHeader(name) === normaliseHeader(column));
}

/** What becomes of each column of a file, by position: `phone (mobile)`; several for a column that is read several times. */
export function columnUses(mapping: Mapping | null, header: readonly string[]): readonly (readonly string[])[] {
  const uses: string[][] = header.map(() => []);
  if (mapping === null) {
    genericTargets(header, anySettings).targets.forEach((targets, index) => {
      if (!isIgnoredHeader(header[index] ?? '')) uses[index]?.push(...targets.map(targetInWords));
    });
    return uses;
  }
  for (const { target, columns } of [...entriesOf(mapping), ...sideColumns(mapping)]) {
    for (const column of columns) {
      for (const index of positionsOf(column, header))
        if (uses[index]?.includes(target) === false) uses[index]?.push(target);
    }
  }
  return uses;
}

/** Columns that say something about another one: the label of an item, the country of a number. */
function sideColumns({ emails, phones, defaultCountry }: Mapping): readonly Pick<MappingEntry, 'target' | 'columns'>[] {
  const columnOf = (choice: unknown): readonly ColumnRef[] =>
    typeof choice === 'object' && choice !== null && 'column' in choice ? [choice.column as ColumnRef] : [];
  return [
    ...[...emails, ...phones].map(({ label }) => ({ target: 'label', columns: columnOf(label) })),
    ...[defaultCountry, ...phones.map(({ country }) => country)].map((choice) => ({
      target: 'country of phone numbers',
      columns: columnOf(choice),
    })),
  ];
}

export function targetInWords(target: Target): string {
  switch (target.kind) {
    case 'scalar':
      return target.name;
    case 'items':
      return itemInWords(target.list === 'emails' ? 'email' : 'phone', target.label);
    case 'custom':
      return `custom.${target.key}`;
    default:
      return target.kind;
  }
}
