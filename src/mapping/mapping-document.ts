/** The JSON Schema of mapping files, for editors that complete and check YAML: `config/mapping.schema.json`. */
import { z } from 'zod';
import { mappingSchema } from './mapping-schema.ts';
import { valueSources } from './value-schema.ts';

/** JSON Schema 2020-12 of what may be written in a mapping. */
export function mappingJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(mappingSchema, {
    io: 'input',
    reused: 'ref',
    override: ({ jsonSchema }) => {
      const { properties } = jsonSchema;
      if (properties === undefined || !valueSources.every((name) => name in properties)) return;
      jsonSchema.oneOf = valueSources.map((name) => ({ required: [name] }));
    },
  });
  return { ...schema, title: 'Patchbay mapping' };
}

/** The text of the file. */
export function mappingSchemaText(): string {
  return `${JSON.stringify(mappingJsonSchema(), null, 2)}\n`;
}
