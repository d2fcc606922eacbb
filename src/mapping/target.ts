/** Where in a contact a value goes, with all that reading it needs. */
import type { CountryCode } from 'libphonenumber-js/max';
import type { ScalarName } from '#src/contacts/desired.ts';
import type { Condition } from './condition-schema.ts';
import type { CustomFieldKind } from './custom-cell.ts';
import type { BlankRule } from './entry-schema.ts';
import type { CellRef, Expression } from './expression.ts';
import type { NamePart } from './synonyms.ts';
import type { Transform } from './transforms.ts';

/** The columns of a file and their targets. */
export interface ColumnBinding {
  readonly bound: readonly BoundColumn[];
  /** Columns that nothing maps, by their positions from 0. */
  readonly unmapped: readonly number[];
}

export type ItemList = 'emails' | 'phones';

export interface ItemsTarget {
  readonly kind: 'items';
  readonly list: ItemList;
  /** See `Slot` of `contacts/desired.ts`: the normalised header, or the list's name for a JSON array. */
  readonly slot: string;
  /** A JSON array under this name is the whole list (`Slot.whole`). */
  readonly whole?: boolean;
  readonly label: string;
  /** Phones only: the country of numbers without a country code. */
  readonly country: CountryCode | null;
  readonly onBlank: BlankRule;
}

export interface ScalarTarget {
  readonly kind: 'scalar';
  readonly name: ScalarName;
  /** The value is a whole name, of which this part is taken. */
  readonly part?: NamePart;
  readonly onBlank: BlankRule;
}

export interface CustomTarget {
  readonly kind: 'custom';
  readonly key: string;
  readonly type: CustomFieldKind;
  readonly onBlank: BlankRule;
}

export interface SourceTarget {
  readonly kind: 'source';
}

export interface KeyTarget {
  readonly kind: 'key';
  readonly prefix: string;
  /** A key that is too long becomes a hash. */
  readonly hashLong?: boolean;
}

export type Target = KeyTarget | ScalarTarget | SourceTarget | ItemsTarget | CustomTarget;

/** A column with its target. */
export interface BoundColumn {
  /** Position in the file, from 0; null in JSON, where members have none. */
  readonly index: number | null;
  /** The column as the file names it (JSON with a mapping: as the mapping does). */
  readonly field: string;
  readonly target: Target;
  /** The file may lack it. */
  readonly optional?: boolean;
  /** A value that cannot be read is left out, instead of rejecting its row. */
  readonly dropsInvalid?: boolean;
  /** How the value is made, where it is not just the cell. */
  readonly made?: Made;
}

/** A value that is made of cells. Plain data, as all of a bound column: it is part of the version of the mapping. */
export interface Made {
  readonly value: Expression;
  /** All columns that it reads, the label's and the country's among them. */
  readonly reads: readonly CellRef[];
  /** The value is several texts: what stands between them, and what is done with each. */
  readonly split?: { readonly separator: string; readonly transform: readonly Transform[] };
  readonly label?: {
    readonly cell: CellRef;
    readonly transform: readonly Transform[];
  };
  /** The country of phone numbers where its cell is blank is the target's. */
  readonly country?: CellRef;
  readonly skip?: { readonly cell: CellRef | null; readonly condition: Condition };
}

/** The columns that a bound value reads. */
export function readsOf({ index, field, made }: BoundColumn): readonly CellRef[] {
  return made === undefined ? [{ index, field }] : made.reads;
}

/** Whether the column puts something into a contact, other than its key and the label of its source. */
export function holdsContent({ kind }: Target): boolean {
  return kind !== 'key' && kind !== 'source';
}

/** Two columns with the same identity would write the same field. */
export function targetIdentity(target: Target): string {
  if (target.kind === 'key' || target.kind === 'source') return target.kind;
  if (target.kind === 'scalar') return `scalar ${target.name}`;
  return target.kind === 'items' ? `${target.list} ${target.slot}` : `custom ${target.key}`;
}
