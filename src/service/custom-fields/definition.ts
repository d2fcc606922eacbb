/** A custom field as the workspace defines it (`facts.md`, "Custom fields": no option lists). */
import type { CustomFieldType } from '#src/wire/contact.ts';

export interface CustomFieldDefinition {
  readonly key: string;
  readonly name: string;
  readonly type: CustomFieldType;
}

export type CustomFieldDefinitions = ReadonlyMap<string, CustomFieldDefinition>;
