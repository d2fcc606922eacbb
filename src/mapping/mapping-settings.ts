/** The settings that values are read with: from the mapping, the command line and the workspace. */
import type { CountryCode } from 'libphonenumber-js/max';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';
import { checkSourceLabel } from './cell.ts';
import type { BlankRule, CountryChoice } from './entry-schema.ts';
import type { Mapping } from './mapping-schema.ts';
import { checkCountry, readCountry } from './phone-cell.ts';

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
      context.defaultCountry === null ? fixedCountry(mapping?.defaultCountry) : checkCountry(context.defaultCountry),
    onBlank: context.onBlank ?? mapping?.onBlank ?? 'keep',
    customFields: context.customFields,
    mayLack: context.mayLack ?? [],
  };
}

/** The country of a choice: its code, or the one of rows whose country is blank. */
function fixedCountry(choice: CountryChoice | undefined): CountryCode | null {
  const code = typeof choice === 'object' ? choice.default : choice;
  return code === undefined ? null : readCountry(code);
}

/** The target of a column depends on its name alone; these matter only for reading its cells. */
export const anySettings: Settings = {
  keyPrefix: '',
  sourceLabel: null,
  country: null,
  onBlank: 'keep',
  customFields: null,
  mayLack: [],
};
