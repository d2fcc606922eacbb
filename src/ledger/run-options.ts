/** What a person chose for one run. It stands in the ledger, so that any engine can go on with the run. */
import { z } from 'zod';

export const runOptions = z.object({
  delimiter: z.string().nullable().default(null),
  encoding: z.string().nullable().default(null),
  defaultCountry: z.string().nullable().default(null),
  onBlank: z.enum(['keep', 'clear']).nullable().default(null),
  /** Raises the guards on updates, creates, clears and removals for this run: a fraction. */
  maxChange: z.number().nullable().default(null),
  /** Raises the guard on dead rows for this run: a fraction. */
  maxDead: z.number().nullable().default(null),
  /** Passes the guards on the staged file; none of those while it is applied. */
  accept: z.boolean().default(false),
  /** Contacts that are there already, unknown to the ledger, are taken over without asking. */
  adopt: z.boolean().default(false),
  /** A redrive: map the source cells anew, also where a mapped record is there. */
  remap: z.boolean().default(false),
  /** Why a person raised or passed guards. */
  acceptReason: z.string().nullable().default(null),
});
export type RunOptions = z.infer<typeof runOptions>;

export const noOptions: RunOptions = runOptions.parse({});
