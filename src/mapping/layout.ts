/**
 * The generic layout (`docs/contract.md`, "Input"): which column of a file goes to which *target*, that is, where in a
 * contact its values go, by the columns' own names: `externalId, firstName, lastName, company, role, source, sourceUrl,
 * email, email <label>, phone, phone <label>, custom.<key>`; other columns by what else these are called (`synonyms.ts`).
 * The same names serve flat JSON objects. They are compared without regard to case, spaces, `_` and dashes.
 *
 * A mapping names its columns itself (`bind-mapping.ts`).
 */
import type { ScalarName } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { listNames } from '#src/sources/row.ts';
import type { ContactColumn } from './contact-columns.ts';
import { customFieldKind } from './custom-cell.ts';
import { closestName, isIgnoredHeader, normaliseHeader, tidyHeader } from './header.ts';
import { anySettings, type Settings } from './mapping-settings.ts';
import { describeReading, readSynonyms, type SynonymMeaning } from './synonyms.ts';
import { type BoundColumn, type ColumnBinding, type ItemList, type Target, targetIdentity } from './target.ts';

/** The columns that the header row of a file in the generic layout must have. */
export const genericKeyColumns: readonly string[] = ['externalId'];

const scalarColumns: ReadonlyMap<string, ScalarName> = new Map([
  ['firstname', 'firstName'],
  ['lastname', 'lastName'],
  ['company', 'company'],
  ['role', 'role'],
  ['sourceurl', 'sourceUrl'],
]);

/** What may follow `email` or `phone` without being a label. */
const plainEndings: ReadonlySet<string> = new Set([
  ...['', 's', 'address', 'addresses', 'number', 'numbers'],
  ...['adresse', 'adressen', 'nr', 'nummer'],
]);
/**
 * Labels that are understood without a separator (`phonemobile`). Others need a space, `_`, a dash or a capital letter
 * before them: otherwise `emailed` would be an address with the label `ed`.
 */
const commonLabels: ReadonlySet<string> = new Set([
  'work',
  'home',
  'mobile',
  'cell',
  'other',
  'main',
  'office',
  'private',
  'business',
  'personal',
  'direct',
]);
const labelLengthMax = 75;

/** Where a column of this name goes; null for a name that the layout does not know. */
export function genericTarget(name: string, settings: Settings): Target | null {
  const tidy = tidyHeader(name);
  const normalised = normaliseHeader(tidy);
  if (normalised === 'externalid') return { kind: 'key', prefix: settings.keyPrefix };
  if (normalised === 'source') return { kind: 'source' };
  const scalar = scalarColumns.get(normalised);
  if (scalar !== undefined) return { kind: 'scalar', name: scalar, onBlank: settings.onBlank };
  const custom = /^custom\s*\.\s*(.+)$/isu.exec(tidy)?.[1];
  if (custom !== undefined) {
    const type = customFieldKind(custom, settings.customFields);
    return { kind: 'custom', key: custom, type, onBlank: settings.onBlank };
  }
  return itemsTarget(tidy, normalised, settings);
}

function itemsTarget(tidy: string, normalised: string, settings: Settings): Target | null {
  const match = /^(e[\s_\p{Pd}]*mail|phone)(.*)$/isu.exec(tidy);
  if (match === null) return null;
  const list: ItemList = normalised.startsWith('e') ? 'emails' : 'phones';
  const label = labelOf(match[2] ?? '', match[1] ?? '', list === 'emails' ? 'email' : 'phone');
  if (label === null) return null;
  const slot = normalised === 'phonenumbers' ? 'phones' : normalised;
  return {
    kind: 'items',
    list,
    slot,
    whole: slot === list,
    label,
    country: list === 'phones' ? settings.country : null,
    onBlank: settings.onBlank,
  };
}

/** The label in a header, in lower case, so that a header in another case changes no labels. */
function labelOf(ending: string, word: string, plain: string): string | null {
  const normalised = normaliseHeader(ending);
  if (plainEndings.has(normalised)) return plain;
  const capital = /^\p{Lu}/u.test(ending) && word !== word.toUpperCase();
  if (!/^[\s_\p{Pd}\p{Nd}]/u.test(ending) && !capital && !commonLabels.has(normalised)) return null;
  const label = ending
    .split(/[\s_\p{Pd}]+/u)
    .filter((part) => part !== '')
    .join(' ')
    .toLowerCase();
  return [...label].length <= labelLengthMax ? label : null;
}

/** The targets of the names of one file or one record: a synonym's meaning depends on the others. */
export interface GenericNames {
  /** For each name, in order. A whole name has two targets, a name without a meaning none. */
  readonly targets: readonly (readonly Target[])[];
  /** Names that are read by a synonym, as `Mobile → phone (mobile)`, by their positions. */
  readonly readings: ReadonlyMap<number, string>;
  /** Synonyms of one field, by their positions: nothing maps them. */
  readonly rivals: ReadonlyMap<number, ContactColumn>;
}

export function genericTargets(names: readonly string[], settings: Settings): GenericNames {
  const exact = names.map((name) => (isIgnoredHeader(name) ? null : genericTarget(name, settings)));
  const taken = new Set(exact.flatMap((target) => (target?.kind === 'scalar' ? [target.name] : [])));
  const open = names.map((name, index) => (exact[index] === null ? name : null));
  const { meanings, rivals } = readSynonyms(open, taken);
  const readings = names.flatMap((name, index) => {
    const meaning = meanings[index] ?? [];
    return meaning.length === 0 ? [] : [[index, describeReading(name, meaning)] as const];
  });
  const targets = names.map((name, index): readonly Target[] => {
    const own = exact[index] ?? null;
    return own === null ? (meanings[index] ?? []).map((one) => synonymTarget(name, one, settings)) : [own];
  });
  return { targets, readings: new Map(readings), rivals };
}

function synonymTarget(name: string, meaning: SynonymMeaning, { onBlank, country }: Settings): Target {
  if (meaning.kind === 'scalar') return { ...meaning, onBlank };
  const { list, label } = meaning;
  const ofList = list === 'phones' ? country : null;
  return { kind: 'items', list, slot: normaliseHeader(name), whole: false, label, country: ofList, onBlank };
}

export interface GenericBinding extends ColumnBinding, Pick<GenericNames, 'readings' | 'rivals'> {}

/** @throws PatchbayError `file`: `keyColumnMissing`, `columnTwice`. */
export function genericMapping(columns: readonly string[], settings: Settings): GenericBinding {
  const { targets, ...names } = genericTargets(columns, settings);
  const bound = columns.flatMap((field, index) => (targets[index] ?? []).map((target) => ({ index, field, target })));
  const unmapped = columns.flatMap((field, index) =>
    isIgnoredHeader(field) || (targets[index] ?? []).length > 0 ? [] : [index],
  );
  if (!bound.some(({ target }) => target.kind === 'key')) throw keyColumnMissing(columns);
  refuseTwice(bound);
  return { bound, unmapped, ...names };
}

/** Headers under which other systems keep their key. */
const likelyKeys = [
  'externalid',
  'extid',
  'id',
  'contactid',
  'recordid',
  'customerid',
  'personid',
  'userid',
  'key',
  'kundennummer',
];

function keyColumnMissing(columns: readonly string[]): PatchbayError {
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const similar = named.find((column) => {
    const normalised = normaliseHeader(column);
    return likelyKeys.includes(normalised) || closestName(normalised, ['externalid']) !== null;
  });
  const mapping = 'or name the key column in a mapping (--mapping)';
  return new PatchbayError('file', 'keyColumnMissing', `no column is called externalId; found: ${listNames(named)}`, {
    facts: { columnCount: named.length, similar: similar ?? null },
    hint:
      similar === undefined
        ? `Add a column externalId with an id for each person, ${mapping}.`
        : `"${tidyHeader(similar)}" looks like the key: rename it to externalId, ${mapping}.`,
  });
}

/** @throws PatchbayError `file`: `duplicateHeader` for a name that occurs twice, `columnTwice` for two names with one meaning. */
function refuseTwice(bound: readonly BoundColumn[]): void {
  const met = new Map<string, BoundColumn>();
  for (const column of bound) {
    const identity = targetIdentity(column.target);
    const earlier = met.get(identity);
    if (earlier !== undefined) throw columnTwice(earlier, column);
    met.set(identity, column);
  }
}

function columnTwice(earlier: BoundColumn, later: BoundColumn): PatchbayError {
  const [first, second] = [(earlier.index ?? 0) + 1, (later.index ?? 0) + 1];
  if (tidyHeader(earlier.field).toLowerCase() !== tidyHeader(later.field).toLowerCase()) {
    return new PatchbayError(
      'file',
      'columnTwice',
      `the columns "${earlier.field}" and "${later.field}" mean the same`,
      {
        facts: { first: earlier.field, second: later.field },
        hint: 'Rename or remove one of them.',
      },
    );
  }
  const message = `the header "${tidyHeader(later.field)}" is used by columns ${first} and ${second}`;
  return new PatchbayError('file', 'duplicateHeader', message, {
    facts: { column: tidyHeader(later.field), first, second },
    hint: `Rename one of them, or use a mapping (--mapping) that picks one by its position: { column: ${first} }.`,
  });
}

/** What a column of that name means by itself in the generic layout, in words that can be compared; null for nothing. */
export function genericMeaning(name: string): string | null {
  const targets = genericTargets([name], anySettings).targets[0] ?? [];
  const meanings = targets.map((target) =>
    target.kind === 'items' ? `${target.list} ${target.label}` : targetIdentity(target),
  );
  return meanings.length === 0 ? null : meanings.join(', ');
}
