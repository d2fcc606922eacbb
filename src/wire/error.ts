/**
 * The error body. `docs/interface.md`, section 7, does not show its shape. `docs/facts.md` knows two: the flat one, and the
 * wrapped one of authentication errors. A client reads both; anything else is kept as status alone.
 */
import { z } from 'zod';

const flatError = z.object({
  message: z.string().optional(),
  code: z.union([z.string(), z.number()]).optional(),
  title: z.string().optional(),
  trace: z.string().nullish(),
  errors: z
    .array(
      z.object({
        path: z.union([z.string(), z.array(z.union([z.string(), z.number()]))]).optional(),
        message: z.string().optional(),
      }),
    )
    .optional(),
});

const wrappedError = z.object({
  error: z.object({
    message: z.string().optional(),
    key: z.string().optional(),
    code: z.string().optional(),
    trace: z.string().nullish(),
  }),
});

/** What the service said when it refused, as far as it said anything. */
export interface ServiceErrorBody {
  readonly code: string | null;
  readonly title: string | null;
  readonly message: string | null;
  readonly trace: string | null;
  /** Paths of the members it complains about, as `defaultFields.phoneNumbers.0.value`. */
  readonly paths: readonly string[];
}

const nothing: ServiceErrorBody = { code: null, title: null, message: null, trace: null, paths: [] };

/** Reads either shape; never throws. */
export function readErrorBody(body: unknown): ServiceErrorBody {
  const wrapped = wrappedError.safeParse(body);
  if (wrapped.success) {
    const { message, key, code, trace } = wrapped.data.error;
    return { ...nothing, code: code ?? key ?? null, message: message ?? null, trace: trace ?? null };
  }
  const flat = flatError.safeParse(body);
  if (!flat.success) return nothing;
  const { message, code, title, trace, errors } = flat.data;
  return {
    code: code === undefined ? null : String(code),
    title: title ?? null,
    message: message ?? null,
    trace: trace ?? null,
    paths: (errors ?? [])
      .map((one) => (Array.isArray(one.path) ? one.path.join('.') : (one.path ?? '')))
      .filter((path) => path !== ''),
  };
}
