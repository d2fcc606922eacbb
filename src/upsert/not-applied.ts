/** The service said yes and holds something else: never a success (`facts.md`, what goes wrong, 9). */
import type { ReplyDifference } from '#src/contacts/verify-reply.ts';
import type { Death } from './chunk.ts';

export function notAppliedDeath(differences: readonly ReplyDifference[]): Death {
  const fields = differences.map((difference) => difference.field.replace(/:.*$/, ''));
  return {
    class: 'notApplied',
    code: 'notApplied',
    field: fields[0] ?? null,
    message: `the service accepted the contact, and its reply differs from what was sent in: ${[...new Set(fields)].join(', ')}`,
    hint: 'Look at the contact in the workspace; perhaps another tool writes to it, or the service changes such values.',
  };
}
