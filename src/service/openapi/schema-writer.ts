/**
 * Writes zod schemas as JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1).
 *
 * A schema with an `id` in its meta becomes a component, whoever uses it; others stand where they are used. One name
 * is one schema: a reply admits no unknown member, a request ignores them, so that the two never share a component
 * that is an object.
 */
import { z } from 'zod';
import { invariant } from '#src/errors.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** `reply` is what comes out of a schema, `request` what may go in. */
export type Direction = 'request' | 'reply';

export interface SchemaWriter {
  /** Throws a `bug` error where a name is taken by another schema. */
  readonly write: (schema: z.ZodType, direction: Direction) => JsonSchema;
  /** The schema that a written one refers to; itself where it refers to none. */
  readonly resolve: (written: JsonSchema) => JsonSchema;
  /** What was named so far, by name in alphabetical order. */
  readonly components: () => Readonly<Record<string, JsonSchema>>;
}

const ownPrefix = '#/$defs/';
const componentPrefix = '#/components/schemas/';

export function createSchemaWriter(): SchemaWriter {
  const components = new Map<string, JsonSchema>();
  const known = { request: new Map<z.ZodType, JsonSchema>(), reply: new Map<z.ZodType, JsonSchema>() };
  const write = (schema: z.ZodType, direction: Direction): JsonSchema => {
    // Inside of an object, a named schema is a reference at the top level too.
    const written: JsonSchema = z.toJSONSchema(z.object({ it: schema }), {
      target: 'draft-2020-12',
      io: direction === 'request' ? 'input' : 'output',
      override: ({ jsonSchema }) => tidy(jsonSchema),
    });
    for (const [name, definition] of Object.entries(written.$defs ?? {})) {
      const moved = withComponentReferences(definition);
      const other = components.get(name);
      const same = other === undefined || JSON.stringify(other) === JSON.stringify(moved);
      invariant(same, `the component ${name} is one schema`);
      components.set(name, moved);
    }
    const it = written.properties?.it;
    invariant(typeof it === 'object', 'a schema is written as an object');
    return withComponentReferences(it);
  };
  return {
    // The error body stands in every operation: what was written once is not written again.
    write: (schema, direction) => {
      const written = known[direction].get(schema) ?? write(schema, direction);
      known[direction].set(schema, written);
      return written;
    },
    resolve: (written) => components.get(written.$ref?.slice(componentPrefix.length) ?? '') ?? written,
    components: () => Object.fromEntries([...components].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** A date-time is said by its format; the pattern beside it fills five lines. */
function tidy(schema: JsonSchema): void {
  if (schema.format === 'date-time') delete schema.pattern;
}

function withComponentReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(ownPrefix)
      ? componentPrefix + value.slice(ownPrefix.length)
      : value,
  );
}
