/** Custom-field definitions, `GET /v1/contact-custom-fields` (`facts.md`, "Custom fields"). */
import { z } from 'zod';

/** The seven types; a type that we do not know is read as text. */
export const customFieldTypes = ['address', 'boolean', 'date', 'multi-select', 'number', 'string', 'url'] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

export const customFieldDefinition = z.object({ key: z.string(), name: z.string().nullish(), type: z.string() });
export type CustomFieldDefinition = z.infer<typeof customFieldDefinition>;

export const customFieldDefinitionsEnvelope = z.object({ data: z.array(customFieldDefinition) });
