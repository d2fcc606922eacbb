/**
 * What a schema expects at a place of what was sent: the JSON type, for `errors[].schema.type` (section 7: not shown),
 * and the words for it.
 * Both come from the schema itself, so that neither can say anything else than what is checked.
 */
import type { z } from 'zod';
import { invariant } from '#src/errors.ts';

export const jsonTypes = ['string', 'number', 'boolean', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];

export interface ExpectedShape {
  readonly type: JsonType;
  /** As “a text” or “an object”. */
  readonly words: string;
  readonly nullable: boolean;
}

/** The members of a definition that lead further in, each where the kind of schema has it. */
type Definition = z.core.$ZodTypeDef & {
  readonly innerType?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly format?: string;
};

const shapes: Readonly<Record<string, Omit<ExpectedShape, 'nullable'>>> = {
  string: { type: 'string', words: 'a text' },
  enum: { type: 'string', words: 'a text' },
  literal: { type: 'string', words: 'a text' },
  int: { type: 'number', words: 'a whole number' },
  number: { type: 'number', words: 'a number' },
  boolean: { type: 'boolean', words: 'true or false' },
  array: { type: 'array', words: 'a list' },
  object: { type: 'object', words: 'an object' },
};

/**
 * `path` is that of an issue. Enums and literals are texts: the interface has no others. Throws a `bug` error for a kind
 * of schema that no request has.
 */
export function expectedAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): ExpectedShape {
  let { definition, nullable } = unwrapped(schema);
  for (const step of path) {
    const inner = definition.element ?? definition.shape?.[String(step)];
    invariant(inner !== undefined, 'an issue lies inside of its schema', { path: path.map(String).join('.') });
    ({ definition, nullable } = unwrapped(inner));
  }
  const shape = shapes[definition.format === 'safeint' ? 'int' : definition.type];
  invariant(shape !== undefined, 'a schema of a request has a JSON type', { type: definition.type });
  return { ...shape, nullable };
}

/** What stands under `optional`, `nullable` and `default`. Ends: each turn goes one wrapper further in. */
function unwrapped(schema: z.core.$ZodType): { definition: Definition; nullable: boolean } {
  let definition: Definition = schema._zod.def;
  let nullable = false;
  while (definition.innerType !== undefined) {
    nullable ||= definition.type === 'nullable';
    definition = definition.innerType._zod.def;
  }
  return { definition, nullable };
}
