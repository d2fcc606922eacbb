/** A column for a custom field that the workspace does not have: what is said, and which one may be meant. Pure. */
import { PatchbayError } from '#src/errors.ts';
import { closestName, tidyHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';

/** People know a field by its name, and write that in place of its key, which is often a row of digits. */
export function unknownCustomField(
  column: string,
  key: string,
  definitions: readonly CustomFieldDefinition[],
): PatchbayError {
  const keys = definitions.map((one) => one.key);
  const nameOf = ({ key: own, name }: CustomFieldDefinition): string | null =>
    name == null || comparable(name) === comparable(own) ? null : name;
  const listed = listNames(keys, definitions.map(nameOf));
  const message = `column "${tidyHeader(column)}": the workspace has no custom field with the key "${key}"; it has: ${listed}`;
  const named = definitions.filter(({ name }) => name != null && comparable(name) === comparable(key));
  return new PatchbayError('file', 'customFieldUnknown', message, {
    facts: { column, key },
    hint: hintFor(key, named, keys),
  });
}

function hintFor(key: string, named: readonly CustomFieldDefinition[], keys: readonly string[]): string {
  const [first, ...others] = named;
  if (first !== undefined && others.length > 0)
    return `"${key}" is the name of several fields: write the key of the one that is meant, such as custom.${first.key}, or in a mapping key: "${first.key}".`;
  if (first !== undefined)
    return `"${key}" is the name of the field ${first.key}: write custom.${first.key}, or in a mapping key: "${first.key}".`;
  const close = closestName(key, keys);
  return close === null ? 'Remove the column, or create the custom field first.' : `Did you mean "${close}"?`;
}

function comparable(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
