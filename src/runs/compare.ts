/**
 * Compares the rows of a file with what the ledger remembers of their feed. Pure.
 *
 * A row whose hash the feed's memory knows is unchanged, and is not even mapped (`feed-memory.ts`). Any other row is mapped, and is
 * unchanged where its fingerprint is the settled one. `readRow` gives what the ledger has to be asked for; `compareRow` then gives the
 * verdict. Rows with the same key are dealt with afterwards, by `slice.ts`.
 */
import type { Said } from '#src/contacts/base.ts';
import {
  customFieldName,
  type DesiredContact,
  type FieldName,
  fingerprint,
  hasContent,
  type Slot,
  sameCustomValue,
  sameText,
  scalarNames,
  type WantedSlot,
} from '#src/contacts/desired.ts';
import { type MissingRule, withoutTag } from '#src/contacts/missing.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import { mayClear, mayWrite, type Policies, policyOf } from '#src/contacts/policies.ts';
import { unreachable } from '#src/errors.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { IgnoresRow } from '#src/mapping/ignored-rows.ts';
import type { MappedRow } from '#src/mapping/row.ts';
import { type HashWords, hashText } from '#src/sources/record-hash.ts';
import type { Row } from '#src/sources/row.ts';
import { type HeldRules, isToBeDecided } from './held-again.ts';
import { keyOfUnread } from './seen-keys.ts';

/** A row on its way into staging: of a file, or of a dead letter that is tried again. */
export type StageItem = {
  readonly row: Row;
  /** The dead letter that the row belongs to: a redrive's, or the one that a row of a fix-file names in `_id`. */
  readonly letterId?: string;
} & (
  | {
      readonly kind: 'row';
      readonly sequence: number;
      /** The text of its record, where that tells all that the row is. */
      readonly text?: string;
      /** Of that text, where reading has hashed it. */
      readonly hash?: HashWords;
    }
  /** The row cannot be read; or it is of a known key, and is rejected whatever it says. */
  | { readonly kind: 'broken'; readonly problem: Problem; readonly key?: string }
  /** Mapped in an earlier run, and staged as it was mapped then. */
  | {
      readonly kind: 'desired';
      readonly desired: DesiredContact;
      readonly sequence: number;
      /** It is a part of a row that was settled, which stays known by these. */
      readonly keeps?: { readonly rowHash: string; readonly fingerprint: string };
    }
);

/** How the rows of one run are compared. */
export interface CompareRules extends HeldRules {
  readonly mapping: Pick<CompiledMapping, 'version' | 'mapRow' | 'cells' | 'policies'>;
  /** What becomes of people whom the file lacks: who is back, loses the tag. */
  readonly missingRule?: MissingRule;
  /** Which rejected rows are skipped instead; by default none. */
  readonly isIgnored?: IgnoresRow;
}

/** A row as far as it is known without asking for its key. */
export type ReadRow = { readonly row: Row; readonly letterId: string | null } & (
  | {
      readonly kind: 'mapped';
      readonly rowHash: string;
      /** Of the run whose file said it. */
      readonly sequence: number;
      readonly key: string;
      /** Or its JSON, where it was mapped on a thread of its own. */
      readonly desired: DesiredContact | string;
      readonly fingerprint: string;
      /** Whether a contact made from it would hold anything but its key. */
      readonly hasContent: boolean;
      readonly keeps?: { readonly rowHash: string; readonly fingerprint: string };
      readonly warnings: readonly Problem[];
    }
  | {
      readonly kind: 'rejected';
      readonly key: string | null;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    }
);

/** What the ledger knows about the keys of some rows. */
export interface KeyMemory {
  /** What the feed's files said last. */
  readonly said: ReadonlyMap<string, SaidRecord>;
  /** Those of the keys for which `isBare` holds that have a contact, from whichever feed. */
  readonly bound: ReadonlySet<string>;
}

interface RowVerdict {
  readonly line: number;
  /** Null where the record was known by its text: its cells were not read. */
  readonly row: Row | null;
  readonly letterId: string | null;
  /** Whether the feed knows the key. */
  readonly isKnown: boolean;
  readonly warnings: readonly Problem[];
}

/** A row that the run was not asked for (`selection.ts`). */
export interface LeftVerdict extends RowVerdict {
  readonly kind: 'left';
  readonly key: string | null;
}

/** What a row says, compared with the memory; other rows with its key are not looked at. */
export type Verdict =
  | LeftVerdict
  | (RowVerdict &
      (
        | {
            readonly kind: 'unchanged';
            readonly key: string;
            /** Of the run whose file said it. */
            readonly sequence: number;
            readonly fingerprint: string;
            /** Fields that wait for a person. */
            readonly heldCount: number;
            /** The row's new hash, where only its fingerprint told that it is unchanged: it makes the next look cheap. */
            readonly newRowHash: string | null;
          }
        | {
            readonly kind: 'changed';
            readonly key: string;
            readonly row: Row;
            readonly record: NewStagedRecord;
            /** Whether the guards count it as an update: what is held, or was given up, is no new change. */
            readonly isUpdate: boolean;
            /** How many values it takes away. */
            readonly clears: number;
          }
        | {
            readonly kind: 'rejected';
            readonly key: string | null;
            readonly row: Row;
            readonly problems: readonly Problem[];
          }
        /** It would be rejected, and is skipped: it stands for no key. */
        | { readonly kind: 'ignored'; readonly key: null; readonly row: Row; readonly problems: readonly Problem[] }
      ));

/** What the rows of one reading are hashed with. */
export interface RowSeeds {
  /** Of the texts of records. */
  readonly text: HashWords;
  /** Of rows whose text does not tell all that they are, or that have none. */
  readonly content: HashWords;
}

/** Writes the hash of a row, as read, into `into`. */
export function hashRow(item: StageItem, seeds: RowSeeds, into: HashWords): void {
  const { row } = item;
  if (item.kind === 'row' && item.hash !== undefined) Object.assign(into, item.hash);
  else if (item.kind === 'row' && item.text !== undefined) hashText(item.text, seeds.text, into);
  else hashText(JSON.stringify(row.kind === 'cells' ? [row.columns, row.cells] : row.object), seeds.content, into);
}

export function readRow(item: StageItem, rowHash: string, { mapping }: CompareRules): ReadRow {
  switch (item.kind) {
    case 'broken':
      return rejected(item, {
        key: item.key ?? keyOfUnread(item.row, item.problem, mapping),
        problems: [item.problem],
        warnings: [],
      });
    case 'desired':
      return readAs(item, rowHash, { kind: 'desired', desired: item.desired, warnings: [] });
    case 'row':
      return readAs(item, rowHash, mapping.mapRow(item.row));
    default:
      return unreachable(item);
  }
}

/** A row that was mapped. */
export function readAs(
  item: Exclude<StageItem, { readonly kind: 'broken' }>,
  rowHash: string,
  mapped: MappedRow,
): ReadRow {
  if (mapped.kind === 'dead') return rejected(item, mapped);
  const { desired, warnings } = mapped;
  const { row, sequence } = item;
  const letterId = item.letterId ?? null;
  const found = { key: desired.key, desired, fingerprint: fingerprint(desired), hasContent: hasContent(desired) };
  const keeps = item.kind === 'desired' && item.keeps !== undefined ? { keeps: item.keeps } : {};
  return { kind: 'mapped', row, letterId, rowHash, sequence, ...found, ...keeps, warnings };
}

function rejected(
  { row, letterId }: StageItem,
  { key, problems, warnings }: Pick<Extract<MappedRow, { kind: 'dead' }>, 'key' | 'problems' | 'warnings'>,
): ReadRow {
  return { kind: 'rejected', row, letterId: letterId ?? null, key, problems, warnings };
}

/** Whether the row holds nothing but a key that its feed does not know. */
export function isBare(read: ReadRow, said: KeyMemory['said']): boolean {
  return read.kind === 'mapped' && !said.has(read.key) && !read.hasContent;
}

export function compareRow(read: ReadRow, memory: KeyMemory, rules: CompareRules): Verdict {
  const verdict = judgeRow(read, memory, rules);
  if (verdict.kind !== 'rejected' || rules.isIgnored?.(verdict.problems) !== true) return verdict;
  return { ...verdict, kind: 'ignored', key: null, isKnown: false };
}

function judgeRow(read: ReadRow, { said, bound }: KeyMemory, rules: CompareRules): Verdict {
  const { mapping } = rules;
  const { row, letterId, warnings } = read;
  const { line } = row;
  if (read.kind === 'rejected') {
    const { key, problems } = read;
    return { kind: 'rejected', line, row, letterId, key, isKnown: key !== null && said.has(key), problems, warnings };
  }
  const { key, desired, rowHash, sequence } = read;
  // For a contact that exists such a row is fine: it keeps, or clears.
  if (isBare(read, said) && !bound.has(key)) {
    return { kind: 'rejected', line, row, letterId, key, isKnown: false, problems: [contactEmpty(line)], warnings };
  }
  const before = said.get(key) ?? null;
  const common = { line, row, letterId, key, isKnown: before !== null, warnings };
  const isSaid = before !== null && before.fingerprint === read.fingerprint;
  if (isSaid && !isToBeDecided(key, before, rules, mapping.policies)) {
    const { heldCount } = before;
    return { kind: 'unchanged', ...common, sequence, fingerprint: read.fingerprint, heldCount, newRowHash: rowHash };
  }
  const record: NewStagedRecord = {
    line,
    sequence,
    key,
    rowHash,
    fingerprint: read.fingerprint,
    ...read.keeps,
    mappingVersion: mapping.version,
    desired,
    row,
    ...(letterId === null ? {} : { letterId }),
  };
  if (before === null) return { kind: 'changed', ...common, record, isUpdate: false, clears: 0 };
  // Our own JSON of a desired contact.
  const asSaid = typeof desired === 'string' ? (JSON.parse(desired) as DesiredContact) : desired;
  const isMissing = read.row.line === 0;
  const ours = isMissing ? asSaid : withoutTag(asSaid, rules.missingRule ?? { kind: 'report' }, before.said);
  const isUpdate = isChange(before, ours, read.fingerprint, mapping.policies);
  const clears = isUpdate ? countClears(before.said, ours, mapping.policies) : 0;
  return {
    kind: 'changed',
    ...common,
    record: { ...record, desired: ours === asSaid ? desired : ours },
    isUpdate,
    clears,
  };
}

function contactEmpty(line: number): Problem {
  const message = 'the row holds nothing but its key, and no contact has this key yet';
  const hint = 'Fill in a name, a phone number or another mapped column, or remove the row.';
  return { code: 'contactEmpty', line, field: null, value: null, message, hint };
}

/**
 * Whether the row wants something else than its file had settled. What waits for a person, or for a row that was given
 * up, is no new change (`docs/rules.md`, "Guards"); nor is what the field's policy does not write.
 */
export function isChange(
  { said, triedFingerprint }: SaidRecord,
  ours: DesiredContact,
  print: string,
  policies: Policies,
): boolean {
  if (print === triedFingerprint) return false;
  const isHeld = (field: FieldName) => {
    const policy = policyOf(policies, field);
    return !mayWrite(policy) || (policy === 'shared' && said.held.includes(field));
  };
  const scalar = scalarNames.some((name) => {
    const value = ours.scalars[name];
    return value !== undefined && !isHeld(name) && !sameText(value, said.scalars[name] ?? null);
  });
  const customField = ours.customFields.some(({ key, value }) => {
    const before = said.customFields.find((one) => one.key === key)?.value ?? null;
    return !isHeld(customFieldName(key)) && !sameCustomValue(null, value, before);
  });
  return scalar || customField || hasNews(said.emails, ours.emails) || hasNews(said.phones, ours.phones);
}

function hasNews(before: readonly Slot[], now: readonly WantedSlot[]): boolean {
  return now.some(({ slot, items, partial }) => {
    const had = before.find((one) => one.slot === slot)?.items ?? [];
    // Beside a value that could not be read, what is not named is not gone.
    if (partial === true)
      return items.some((item) => !had.some(({ label, value }) => item.label === label && item.value === value));
    return (
      items.length !== had.length ||
      items.some(({ label, value }, index) => label !== had[index]?.label || value !== had[index]?.value)
    );
  });
}

/** Values that its file said before and now wants gone. A replaced value is no removal. */
export function countClears(said: Said, ours: DesiredContact, policies: Policies): number {
  const isCleared = (field: FieldName) => mayClear(policyOf(policies, field));
  const scalars = scalarNames.filter(
    (name) => ours.scalars[name] === null && (said.scalars[name] ?? null) !== null && isCleared(name),
  );
  const customFields = ours.customFields.filter(
    ({ key, value }) =>
      value === null &&
      isCleared(customFieldName(key)) &&
      said.customFields.some((before) => before.key === key && before.value !== null),
  );
  const gone = (list: 'emails' | 'phones') => (policies[list] === 'none' ? 0 : countGone(said[list], ours[list]));
  return scalars.length + customFields.length + gone('emails') + gone('phones');
}

function countGone(before: readonly Slot[], now: readonly WantedSlot[]): number {
  return now.reduce((gone, slot) => {
    if (slot.partial === true) return gone;
    const had = before.find((one) => one.slot === slot.slot)?.items.length ?? 0;
    return gone + Math.max(0, had - slot.items.length);
  }, 0);
}
