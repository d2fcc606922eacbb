/** What a mapping, the command line and the workspace say together about reading cells. Plain data. */
import type { CountryCode } from 'libphonenumber-js/max';
import type { CustomFieldDefinition } from '#src/wire/custom-field.ts';
import { checkCountry, readCountry } from './country.ts';
import type { BlankRule, Mapping } from './mapping-schema.ts';
import { checkSourceLabel } from './source-label.ts';

/** What is known outside the mapping. */
export interface MappingContext {
  /** The feed's source label. A `source` column wins over the mapping's, the mapping's over this one. */
  readonly sourceLabel: string | null;
  /** Null: not known; then values travel as text and `;` separates nothing. */
  readonly customFields: readonly CustomFieldDefinition[] | null;
  /** `--default-country`: wins over the mapping's; a column's own country wins over both. */
  readonly defaultCountry: string | null;
  /** `--on-blank`: wins over the mapping's; a column's own rule wins over both. */
  readonly onBlank: BlankRule | null;
  /** Columns that the file may lack though the mapping names them: a guard looks after them. By default none. */
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
