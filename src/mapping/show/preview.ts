/**
 * What rows would become, without a run: the first contacts of a file with the reasons why rows would be rejected, and the
 * fixtures of a mapping, checked. Both show contacts in one form. Pure.
 */

import { areCalledOtherwise, hasKeyOfValue } from '#src/contacts/called.ts';
import { type DesiredContact, type DesiredItem, fingerprint, hasContent } from '#src/contacts/desired.ts';
import { contactEmptyProblem, distinctProblems, duplicateKeyProblem, type Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import type { Fixture, Mapping } from '#src/mapping/mapping-schema.ts';
import { keyOfMapped, type MappedRow } from '#src/mapping/row.ts';
import { withSkipHint } from '#src/sources/remark.ts';
import { type JsonValue, type Row, recordOf, type ShownPlace, type SourceItem } from '#src/sources/row.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';

export interface Preview {
  /** The first of the rows, at most three. */
  readonly contacts: readonly PreviewRow[];
  /** How many rows were tried. */
  readonly rows: number;
  /** How many of them would be rejected. */
  readonly rejected: number;
  /** Why, by code: the first with its line, and how many rows have it. */
  readonly problems: readonly CountedProblem[];
  readonly warnings: readonly CountedProblem[];
}

interface PreviewRow extends ShownPlace {
  /** Null for a row that would be rejected. */
  readonly contact: ContactView | null;
  readonly problems: readonly Problem[];
}

export interface CountedProblem {
  readonly count: number;
  readonly first: Problem;
  /** Of the first, where several records share its line. */
  readonly record?: number;
}

const contactsMax = 3;

/**
 * @param items the rows that are not left out. What an import rejects is rejected here: rows that cannot be read, those that hold
 *   nothing but a key, and among these rows those with one key that differ.
 */
export function previewRows(compiled: CompiledMapping, items: readonly SourceItem[]): Preview {
  const contacts: PreviewRow[] = [];
  const problems = new Map<string, CountedProblem>();
  const warnings = new Map<string, CountedProblem>();
  let rejected = 0;
  for (const { mapped, ...place } of withoutDuplicates(
    items.map((item) => tried(compiled, item)),
    compiled,
  )) {
    const own = mapped.kind === 'dead' ? mapped.problems : [];
    if (mapped.kind === 'dead') rejected += 1;
    count(problems, own, place);
    count(warnings, mapped.warnings, place);
    const contact = mapped.kind === 'desired' ? viewContact(mapped.desired) : null;
    if (contacts.length < contactsMax) contacts.push({ ...place, contact, problems: distinctProblems(own) });
  }
  return { contacts, rows: items.length, rejected, problems: [...problems.values()], warnings: [...warnings.values()] };
}

interface TriedRow extends ShownPlace {
  readonly mapped: MappedRow;
}

function tried(compiled: CompiledMapping, item: SourceItem): TriedRow {
  const { line } = item.row;
  const place = { line, ...recordOf(item.row) };
  if (item.type === 'row') return { ...place, mapped: rejectBare(compiled.mapRow(item.row), item.row) };
  return { ...place, mapped: { kind: 'dead', key: null, problems: [item.problem], warnings: [] } };
}

/** A row that holds nothing but a key. Whether there is a contact with it, only an import knows. */
export function rejectBare(mapped: MappedRow, row: Row): MappedRow {
  if (mapped.kind === 'dead' || hasContent(mapped.desired)) return mapped;
  const { key } = mapped.desired;
  const message = 'the row holds nothing but its key; it is rejected unless there is a contact with this key';
  const problem = withSkipHint({ ...contactEmptyProblem(key, row.line), message }, row);
  return { kind: 'dead', key, problems: [problem], warnings: mapped.warnings };
}

/** As `docs/rules.md` has it ("Workspace, feed, key"): rows that say the same are one, and of rows that differ none stands. */
function withoutDuplicates(rows: readonly TriedRow[], { duplicateKeys }: CompiledMapping): readonly TriedRow[] {
  if (duplicateKeys !== 'dead') return rows;
  const ended = [...rows];
  const arePeople = (index: number, other: number): boolean => {
    const [one, two] = [rows[index]?.mapped, rows[other]?.mapped];
    if (one?.kind !== 'desired' || two?.kind !== 'desired') return false;
    return hasKeyOfValue(one.desired) && areCalledOtherwise(one.desired, two.desired);
  };
  const end = (index: number, key: string, other: number): void => {
    const { mapped, ...place } = ended[index] as TriedRow;
    if (mapped.kind === 'dead') return;
    const problems = [duplicateKeyProblem(key, place.line, rows[other]?.line ?? 0, arePeople(index, other))];
    ended[index] = { ...place, mapped: { kind: 'dead', key, problems, warnings: mapped.warnings } };
  };
  const firsts = new Map<string, { readonly index: number; readonly line: number; readonly print: string | null }>();
  for (const [index, { line, mapped }] of rows.entries()) {
    const key = keyOfMapped(mapped);
    if (key === null) continue;
    const print = mapped.kind === 'desired' ? fingerprint(mapped.desired) : null;
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, { index, line, print });
      continue;
    }
    if (first.print !== null && first.print === print) continue;
    end(first.index, key, index);
    end(index, key, first.index);
    firsts.set(key, { ...first, print: null });
  }
  return ended;
}

/** A row counts once for each code. */
function count(counts: Map<string, CountedProblem>, found: readonly Problem[], { record }: ShownPlace): void {
  for (const [code, first] of new Map(found.toReversed().map((one) => [one.code, one]))) {
    const known = counts.get(code);
    counts.set(
      code,
      known === undefined
        ? { count: 1, first, ...(record === undefined ? {} : { record }) }
        : { ...known, count: known.count + 1 },
    );
  }
}

// A desired contact as people read it, and as the fixtures of a mapping write it: `{ externalId, firstName, emails: [{ name,
// value }], … }`. Items of all columns are one list; what the row does not say is absent.

export interface ContactView {
  readonly externalId: string;
  readonly firstName?: string | null;
  readonly lastName?: string | null;
  readonly company?: string | null;
  readonly role?: string | null;
  readonly sourceUrl?: string | null;
  readonly source?: string;
  readonly emails?: readonly ItemView[];
  readonly phones?: readonly ItemView[];
  readonly customFields?: { readonly [key: string]: CustomFieldValue };
}

interface ItemView {
  readonly name: string;
  readonly value: string;
}

export function viewContact({ key, scalars, source, emails, phones, customFields }: DesiredContact): ContactView {
  const items = (slots: readonly { readonly items: readonly DesiredItem[] }[]): readonly ItemView[] =>
    slots.flatMap((slot) => slot.items.map(({ label, value }) => ({ name: label, value })));
  return {
    externalId: key,
    ...scalars,
    ...(source === null ? {} : { source }),
    ...(emails.length === 0 ? {} : { emails: items(emails) }),
    ...(phones.length === 0 ? {} : { phones: items(phones) }),
    ...(customFields.length === 0
      ? {}
      : { customFields: Object.fromEntries(customFields.map(({ key: name, value }) => [name, value])) }),
  };
}

/** Runs the fixtures of a mapping: does each row still become what the mapping says it becomes? Pure. */
export interface FixtureResult {
  /** From 1. */
  readonly number: number;
  readonly ok: boolean;
  /** `phones: expected […], found […]`; none where it passes. */
  readonly differences: readonly Difference[];
}

interface Difference {
  /** A member of the contact, `problems`, `warnings` or `skipped`. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export function runFixtures(mapping: Mapping): readonly FixtureResult[] {
  return (mapping.fixtures ?? []).map((fixture, index) => {
    const differences = differencesOf(mapping, fixture);
    return { number: index + 1, ok: differences.length === 0, differences };
  });
}

/** What a row becomes. */
type Outcome =
  | { readonly kind: 'contact'; readonly contact: ContactView; readonly warnings: readonly string[] }
  | { readonly kind: 'problems'; readonly codes: readonly string[]; readonly warnings: readonly string[] }
  | { readonly kind: 'skipped'; readonly warnings: readonly string[] };

function differencesOf(mapping: Mapping, fixture: Fixture): readonly Difference[] {
  const found = outcomeOf(mapping, fixture.row);
  const warnings =
    fixture.warnings === undefined || sameCodes(fixture.warnings, found.warnings)
      ? []
      : [{ what: 'warnings', expected: listed(fixture.warnings), found: listed(found.warnings) }];
  return [...expectationOf(fixture, found), ...warnings];
}

function expectationOf(fixture: Fixture, found: Outcome): readonly Difference[] {
  const got = inWords(found);
  if (fixture.skipped === true)
    return found.kind === 'skipped' ? [] : [{ what: 'row', expected: 'skipped', found: got }];
  if (fixture.problems !== undefined) {
    if (found.kind === 'problems' && sameCodes(fixture.problems, found.codes)) return [];
    return [{ what: 'problems', expected: listed(fixture.problems), found: got }];
  }
  if (found.kind !== 'contact') return [{ what: 'row', expected: 'a contact', found: got }];
  return compareContacts(fixture.contact ?? { externalId: '' }, found.contact);
}

function inWords(found: Outcome): string {
  if (found.kind === 'skipped') return 'skipped';
  return found.kind === 'contact' ? `the contact ${text(found.contact)}` : `the problems ${listed(found.codes)}`;
}

/** A row of cells where the mapping reads tables, else a record. Columns that the fixture leaves out are not in its file. */
function outcomeOf(mapping: Mapping, cells: Fixture['row']): Outcome {
  const row = rowOf(mapping, cells);
  const columns = row.kind === 'cells' ? row.columns : null;
  const context = { sourceLabel: null, customFields: null, defaultCountry: null, onBlank: null };
  try {
    if (createRowFilter({ ...mapping, optional: true }, columns).skips({ type: 'row', row })) {
      return { kind: 'skipped', warnings: [] };
    }
    const mapped = compileMapping({ ...mapping, optional: true }, { columns }, context).mapRow(row);
    const warnings = mapped.warnings.map(({ code }) => code);
    return mapped.kind === 'desired'
      ? { kind: 'contact', contact: viewContact(mapped.desired), warnings }
      : { kind: 'problems', codes: mapped.problems.map(({ code }) => code), warnings };
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return { kind: 'problems', codes: [error.code], warnings: [] };
  }
}

function rowOf({ recognise = [] }: Mapping, cells: Fixture['row']): Row {
  const place = { line: 2, record: 1 };
  const values = Object.values(cells);
  const isOfRecords = recognise.some(
    ({ members, format }) => members !== undefined || format === 'json' || format === 'ndjson' || format === 'vcf',
  );
  const isTable = !isOfRecords && values.every((one) => typeof one === 'string');
  if (isTable) return { kind: 'cells', columns: Object.keys(cells), cells: values as string[], ...place };
  return {
    kind: 'object',
    object: Object.assign(Object.create(null), cells as { [name: string]: JsonValue }),
    ...place,
  };
}

const members = [
  'externalId',
  'firstName',
  'lastName',
  'company',
  'role',
  'sourceUrl',
  'emails',
  'phones',
  'customFields',
] as const;

/** What the fixture does not name must not be there, apart from the source label. */
function compareContacts(expected: NonNullable<Fixture['contact']>, found: ContactView): readonly Difference[] {
  const names = expected.source === undefined ? members : ([...members, 'source'] as const);
  return names.flatMap((name): readonly Difference[] => {
    const [wanted, got] = [asWritten(expected[name]), asWritten(withoutUnnamed(found[name], expected[name]))];
    return wanted === got ? [] : [{ what: name, expected: wanted, found: asWritten(found[name]) }];
  });
}

/** An item of the fixture without a label says nothing about the label. */
function withoutUnnamed(found: unknown, expected: unknown): unknown {
  if (!Array.isArray(found) || !Array.isArray(expected)) return found;
  return found.map((item: { readonly name: string; readonly value: string }, index) =>
    (expected[index] as { readonly name?: string } | undefined)?.name === undefined ? { value: item.value } : item,
  );
}

/** Empty lists are nothing; the order of members makes no difference. */
function asWritten(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'nothing';
  return text(value);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

function sameCodes(left: readonly string[], right: readonly string[]): boolean {
  return text([...left].toSorted()) === text([...right].toSorted());
}

function listed(codes: readonly string[]): string {
  return codes.length === 0 ? 'none' : codes.join(', ');
}
