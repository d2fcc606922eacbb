/** Checks that several parts of the mapping language share. Their messages are the words that users read. */
import { z } from 'zod';

const textCharactersMax = 1_000;

/** A text that a mapping holds; YAML reads `5` and `true` without quotes as other kinds. */
export const plainText = z
  .union([z.string(), z.number().transform(String), z.boolean().transform(String)], 'a text is needed')
  .refine((text) => text.length <= textCharactersMax, `a text has at most ${textCharactersMax} characters`);

export type Check = Parameters<z.ZodType['check']>[0];

/** Exactly one of these keys must be there. Checked even where another mistake was found, so that all are named at once. */
export function exactlyOneOf(keys: readonly string[], subject: string): Check {
  const listed = `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
  const given = (value: unknown) => (isObject(value) ? keys.filter((key) => value[key] !== undefined) : []);
  return z.refine((value) => given(value).length === 1, {
    when: ({ value }) => isObject(value),
    error: ({ input }) => {
      const [first, second] = given(input);
      if (second === undefined) return `${subject} needs one of ${listed}`;
      return `${first} and ${second} exclude each other: ${subject} has exactly one of ${listed}`;
    },
  });
}

/** A key that has a meaning beside another one only. */
export function onlyBeside(key: string, others: readonly string[]): Check {
  return z.refine(
    (value) => !isObject(value) || value[key] === undefined || others.some((other) => value[other] !== undefined),
    {
      when: ({ value }) => isObject(value),
      path: [key],
      error: `${key} is used only together with ${others.join(' or ')}`,
    },
  );
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
