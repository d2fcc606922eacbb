/** The two error bodies as schemas (section 7; see `http/error-reply.ts`). */
import { z } from 'zod';
import { jsonTypes } from '../http/expected-shape.ts';

const code = z.string().regex(/^\d{7}$/);
const trace = z.string().meta({ description: 'Names the request in the log of the service.' });

/** Every refusal but those of authentication. */
export const errorSchema = z
  .object({
    message: z.string(),
    code: code.meta({ description: 'Two digits for the resource, two for the variant, then the status.' }),
    status: z.int().min(400).max(599),
    docs: z.string(),
    title: z.string(),
    description: z.string().meta({ description: 'With the title Invalid Custom Field Item.' }).optional(),
    trace,
    errors: z
      .array(
        z.object({
          path: z.string().meta({ description: 'The member, written with dots; empty for the whole.' }),
          message: z.string(),
          schema: z.object({ type: z.enum(jsonTypes).meta({ description: 'The JSON type that was expected.' }) }),
        }),
      )
      .meta({ description: 'What is wrong with the request, one by one.' })
      .optional(),
  })
  .meta({ id: 'Error' });

/** Refusals of authentication. */
export const wrappedErrorSchema = z
  .object({ error: z.object({ message: z.string(), key: z.string(), code, trace }) })
  .meta({ id: 'AuthenticationError' });
