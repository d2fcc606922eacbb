/** Whether a desired contact is worth a contact: a key alone, or a key with a source label, is nobody. */
import type { DesiredContact } from './desired.ts';

/** True where something would stand in a contact that is made from it; what is to be cleared is nothing. */
export function hasContent({ scalars, emails, phones, customFields }: DesiredContact): boolean {
  return (
    Object.values(scalars).some((value) => value !== null && value !== undefined) ||
    [...emails, ...phones].some(({ items }) => items.length > 0) ||
    customFields.some(({ value }) => value !== null)
  );
}
