/**
 * 409 for an externalId that another contact has (2.1; what is answered: not shown). It names neither the field nor the other contact (`facts.md`,
 * "uniqueness": "no field named").
 */
import { Refusal } from '../http/refusal.ts';

export function conflictRefusal(): Refusal {
  return new Refusal(409, 'The contact conflicts with another contact of this workspace.');
}
