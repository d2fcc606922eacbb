/**
 * Targets: where in a contact the value of one column goes, with all that reading it needs; and the settings that targets
 * are made with, from the mapping, the command line and the workspace. Plain data.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import type { ScalarName } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';
import type { CustomFieldKind } from './custom-cell.ts';
import { tidyHeader } from './header.ts';
import type { BlankRule, Mapping } from './mapping-schema.ts';
import { checkCountry, readCountry } from './phone-cell.ts';
import { checkSourceLabel } from './text-cells.ts';

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
  readonly onBlank: BlankRule;
}

export interface CustomTarget {
  readonly kind: 'custom';
  readonly key: string;
  readonly type: CustomFieldKind;
  readonly onBlank: BlankRule;
}

interface SourceTarget {
  readonly kind: 'source';
}

interface KeyTarget {
  readonly kind: 'key';
  readonly prefix: string;
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

/** @throws PatchbayError `file`: `duplicateHeader` for a name that occurs twice, `columnTwice` for two names with one meaning. */
export function refuseTwice(bound: readonly BoundColumn[]): void {
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

/** What is known outside the mapping. */
export interface MappingContext {
  /** The feed's source label. A `source` column wins over the mapping's, the mapping's over this one. */
  readonly sourceLabel: string | null;
  /** Null: unknown; values are then sent as text, and `;` does not separate choices. */
  readonly customFields: readonly CustomFieldDefinition[] | null;
  /** `--default-country`: wins over the mapping's; a column's own country wins over both. */
  readonly defaultCountry: string | null;
  /** `--on-blank`: wins over the mapping's; a column's own rule wins over both. */
  readonly onBlank: BlankRule | null;
  /** Columns that the file may lack although the mapping names them, since a guard watches them. None by default. */
  readonly mayLack?: readonly string[];
}

export interface Settings {
  readonly keyPrefix: string;
  readonly sourceLabel: string | null;
  readonly country: CountryCode | null;
  readonly onBlank: BlankRule;
  readonly customFields: readonly CustomFieldDefinition[] | null;
  readonly mayLack: readonly string[];
}

/** @throws PatchbayError `usage`: `countryUnknown`, `sourceRefused`. */
export function resolveSettings(mapping: Mapping | null, context: MappingContext): Settings {
  const label = mapping?.source ?? context.sourceLabel;
  return {
    keyPrefix: mapping?.keyPrefix ?? '',
    sourceLabel: label === null ? null : checkSourceLabel(label),
    country:
      context.defaultCountry === null
        ? readCountry(mapping?.defaultCountry ?? '')
        : checkCountry(context.defaultCountry),
    onBlank: context.onBlank ?? mapping?.onBlank ?? 'keep',
    customFields: context.customFields,
    mayLack: context.mayLack ?? [],
  };
}
