/**
 * Compares the rows of a file with what the ledger remembers of their feed. Pure.
 *
 * A row whose hash the feed's memory knows is unchanged, and is not even mapped (`feed-memory.ts`). Any other row is mapped, and is
 * unchanged where its fingerprint is the settled one. `readRow` gives what the ledger has to be asked for; `compareRow` then gives the
 * verdict. Rows with the same key are dealt with afterwards, by `slice.ts`.
 */
import type { Said } from '#src/contacts/base.ts';
import {
  type ContactPart,
  customFieldName,
  type DesiredContact,
  type FieldName,
  fingerprint,
  hasContent,
  partOf,
  type Slot,
  sameCustomValue,
  sameText,
  scalarNames,
  type WantedSlot,
} from '#src/contacts/desired.ts';
import { type MissingRule, withoutTag } from '#src/contacts/missing.ts';
import { contactEmptyProblem, type Problem } from '#src/contacts/outcome.ts';
import { mayClear, mayWrite, type Policies, policyOf } from '#src/contacts/policies.ts';
import { unreachable } from '#src/errors.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { IgnoresRow } from '#src/mapping/conditions.ts';
import type { MappedRow } from '#src/mapping/row.ts';
import { type HashWords, hashText } from '#src/sources/record-hash.ts';
import { withSkipHint } from '#src/sources/remark.ts';
import type { Row } from '#src/sources/row.ts';
import { type HeldRules, isToBeDecided } from './held-again.ts';
import { keyOfUnread } from './seen-keys.ts';

/** A row on its way into staging: of a file, or of a dead letter that is tried again. */
export type StageItem = {
  readonly row: Row;
  /** The dead letter that the row belongs to: a redrive's, or the one that a row of a fix-file names in `_id`. */
  readonly letterId?: string;
  /** What is said of it beside what its mapping says. */
  readonly warnings?: readonly Problem[];
  /** Its feed has settled its key since: it is skipped, whatever it says, or where it would be rejected. */
  readonly superseded?: 'always' | 'ifRejected';
} & (
  | {
      readonly kind: 'row';
      readonly sequence: number;
      /** Tells the problems of it in the words of its file, where those differ from what was read. */
      readonly tell?: (problems: readonly Problem[]) => readonly Problem[];
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
  /** Keys whose rows are applied although they say nothing new: their contacts are gone, and are made again. */
  readonly toBeMade?: ReadonlySet<string>;
}

interface ReadFrom extends Pick<StageItem, 'superseded'> {
  readonly row: Row;
  readonly letterId: string | null;
}

/** A row as far as it is known without asking for its key. */
export type ReadRow = ReadFrom &
  (
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
        /** Where it was compared with what its feed said as it was read; null: the feed does not know the key. */
        readonly standing?: Standing | null;
        readonly keeps?: { readonly rowHash: string; readonly fingerprint: string };
        /** Absent where it stands for a whole row. */
        readonly part?: ContactPart;
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
  /** What the feed's files said last, of rows that have no standing yet. */
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
            /** Of the contact, which it is about; absent where it stands for a whole row. */
            readonly part?: ContactPart;
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
        /** A newer row of its feed has settled its key: it is skipped. Null of a letter without a key that is closed. */
        | { readonly kind: 'superseded'; readonly key: string | null; readonly row: Row }
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
      return readAs(item, rowHash, { kind: 'desired', desired: item.desired, warnings: item.warnings ?? [] });
    case 'row': {
      const mapped = mapping.mapRow(item.row);
      const { warnings: own = [], tell } = item;
      const warnings = [...own, ...mapped.warnings];
      const isTold = mapped.kind === 'dead' && tell !== undefined;
      return readAs(item, rowHash, { ...mapped, ...(isTold ? { problems: tell(mapped.problems) } : {}), warnings });
    }
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
  const { row, sequence, superseded } = item;
  const letterId = item.letterId ?? null;
  const found = { key: desired.key, desired, fingerprint: fingerprint(desired), hasContent: hasContent(desired) };
  const keeps = item.kind === 'desired' && item.keeps !== undefined ? { keeps: item.keeps } : {};
  const part = item.kind === 'desired' ? partOf(desired) : null;
  const ofPart = part === null ? {} : { part };
  const since = superseded === undefined ? {} : { superseded };
  return { kind: 'mapped', row, letterId, rowHash, sequence, ...found, ...keeps, ...ofPart, ...since, warnings };
}

function rejected(
  { row, letterId, superseded }: StageItem,
  { key, problems, warnings }: Pick<Extract<MappedRow, { kind: 'dead' }>, 'key' | 'problems' | 'warnings'>,
): ReadRow {
  const since = superseded === undefined ? {} : { superseded };
  return { kind: 'rejected', row, letterId: letterId ?? null, key, problems, ...since, warnings };
}

/** Whether it was compared as it was read: the ledger need not be asked for its key. */
export function hasStanding(read: ReadRow): boolean {
  return read.kind === 'mapped' && read.standing !== undefined;
}

/** Each once. */
export function keysOf(rows: readonly ReadRow[]): readonly string[] {
  return [...new Set(rows.flatMap(({ key }) => key ?? []))];
}

/** By key: what is known of all rows, those that have a standing, and those that the ledger was asked for. */
export function toldOf(rows: readonly ReadRow[], said: KeyMemory['said']): Map<string, Told> {
  const told = new Map<string, Told>(said);
  for (const row of rows) if (row.kind === 'mapped' && row.standing != null) told.set(row.key, row.standing);
  return told;
}

/** Whether the row holds nothing but a key that its feed does not know. */
export function isBare(read: ReadRow, said: KeyMemory['said']): boolean {
  // What is in no file makes no contact from a row.
  if (read.kind !== 'mapped' || read.hasContent || read.row.line === 0) return false;
  return read.standing === undefined ? !said.has(read.key) : read.standing === null;
}

export function compareRow(read: ReadRow, memory: KeyMemory, rules: CompareRules): Verdict {
  const verdict = judgeRow(read, memory, rules);
  const { superseded, row, letterId, key } = read;
  if (superseded === 'always' || (superseded === 'ifRejected' && verdict.kind === 'rejected'))
    return { kind: 'superseded', line: row.line, row, letterId, key, isKnown: false, warnings: [] };
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
  const { key, rowHash, sequence } = read;
  // For a contact that exists such a row is fine: it keeps, or clears.
  if (isBare(read, said) && !bound.has(key)) {
    return {
      kind: 'rejected',
      line,
      row,
      letterId,
      key,
      isKnown: false,
      problems: [withSkipHint(contactEmptyProblem(key, line), row)],
      warnings,
    };
  }
  const { standing, desired } = standingIn(said, read, rules);
  const common = { line, row, letterId, key, isKnown: standing !== null, warnings };
  // A part may look like the row that was settled last, and says something else.
  const { part } = read;
  if (standing?.isSettled === true && part === undefined && rules.toBeMade?.has(key) !== true) {
    const { heldCount } = standing;
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
  return {
    kind: 'changed',
    ...common,
    record,
    ...(part === undefined ? {} : { part }),
    isUpdate: standing?.isUpdate ?? false,
    clears: standing?.clears ?? 0,
  };
}

/** Null where the feed does not know the key. */
function standingIn(
  said: KeyMemory['said'],
  read: Extract<ReadRow, { kind: 'mapped' }>,
  rules: CompareRules,
): { readonly standing: Standing | null; readonly desired: DesiredContact | string } {
  const { key, desired, fingerprint, row, standing } = read;
  if (standing !== undefined) return { standing, desired };
  const before = said.get(key);
  if (before === undefined) return { standing: null, desired };
  const compared = {
    ...{ key, fingerprint, isMissing: row.line === 0 },
    // Our own JSON of a desired contact.
    desired: () => (typeof desired === 'string' ? (JSON.parse(desired) as DesiredContact) : desired),
  };
  const found = standingOf(compared, before, { ...rules, policies: rules.mapping.policies });
  return { standing: found.standing, desired: found.instead ?? desired };
}

// How a row stands to what its feed said before: here, or on the thread that maps it (`mapping-thread.ts`).

/** Plain data, which a thread can be given. */
export interface StandingRules extends HeldRules {
  readonly policies: Policies;
  /** What becomes of people whom the file lacks: who is back, loses the tag. */
  readonly missingRule?: MissingRule;
}

/** What of the record of a key is needed after its row was compared. */
export type Told = Pick<SaidRecord, 'number' | 'fingerprint' | 'heldCount'>;

export interface Standing extends Told {
  /** It says what was settled last, and nothing of it waits for a decision that this run takes. */
  readonly isSettled: boolean;
  /** Whether the guards count it as an update: what is held, or was given up, is no new change. */
  readonly isUpdate: boolean;
  /** How many values it takes away. */
  readonly clears: number;
}

/** A mapped row, as far as it is compared. */
export interface ComparedRow {
  readonly key: string;
  readonly fingerprint: string;
  /** It is not of the file, which lacks the person. */
  readonly isMissing: boolean;
  /** Asked for only where the fingerprint does not tell enough. */
  readonly desired: () => DesiredContact;
}

/** @returns `instead`: the contact that is wanted where the file has a tagged person back; else null. */
export function standingOf(
  row: ComparedRow,
  before: SaidRecord,
  rules: StandingRules,
): { readonly standing: Standing; readonly instead: DesiredContact | null } {
  const { policies, missingRule = { kind: 'report' } } = rules;
  const told = { number: before.number, fingerprint: before.fingerprint, heldCount: before.heldCount };
  if (before.fingerprint === row.fingerprint && !isToBeDecided(row.key, before, rules, policies))
    return { standing: { ...told, isSettled: true, isUpdate: false, clears: 0 }, instead: null };
  const said = row.desired();
  const ours = row.isMissing ? said : withoutTag(said, missingRule, before.said, before.fingerprint === null);
  const isUpdate = isChange(before, ours, row.fingerprint, policies);
  const clears = isUpdate ? countClears(before.said, ours, policies) : 0;
  return { standing: { ...told, isSettled: false, isUpdate, clears }, instead: ours === said ? null : ours };
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
    const own = before.find((one) => one.slot === slot)?.items;
    const had = own ?? before.flatMap((one) => one.items);
    // Beside a value that could not be read, what is not named is not gone; nor is it where a column has another name, or is new: what
    // other columns said is there.
    if (partial === true || own === undefined)
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
