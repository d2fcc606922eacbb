/**
 * Checks a query against the schema of its parameters.
 *
 * Unknown parameters are ignored (`facts.md`, "List contacts"), `externalIds[]` among them: an array is the repeated
 * plain key. Of a parameter that takes one value, the first counts. A number is read from its digits.
 */
import type { z } from 'zod';
import { checkShape } from './check-shape.ts';

/** Throws `Refusal` 400 with the name of each parameter that is wrong. */
export function checkQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: URLSearchParams,
): z.output<z.ZodObject<Shape>> {
  const sent: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(schema.shape)) {
    const values = query.getAll(name);
    if (values.length > 0) sent[name] = readValue(innermostType(parameter), values);
  }
  return checkShape<z.output<z.ZodObject<Shape>>>(schema, sent);
}

function readValue(type: string, values: readonly string[]): unknown {
  if (type === 'array') return values;
  const [first = ''] = values;
  return type === 'number' && /^-?\d{1,15}$/.test(first) ? Number(first) : first;
}

/** The type under `optional` and `default`. Ends: each turn goes one wrapper further in. */
function innermostType(parameter: z.core.$ZodType): string {
  let { def }: { def: z.core.$ZodTypeDef & { innerType?: z.core.$ZodType } } = parameter._zod;
  while (def.innerType !== undefined) def = def.innerType._zod.def;
  return def.type;
}
