/** A plan as it was kept, read again: to be shown beside the run that waits for an approval. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlannedContact } from '#src/contacts/planned.ts';
import type { PlanLedger, PlanRecord } from '#src/ledger/plans.ts';
import { contactsShownMax, type MadePlan } from './make-plan.ts';
import { isWorthShowing, noGroups, withContact } from './plan-totals.ts';

const contactsPerPage = 1_000;

/**
 * The plan with its contacts. The run itself says what was rejected, skipped and warned of.
 * Ends with the plan's last contact.
 */
export async function readKeptPlan(plans: Pick<PlanLedger, 'contacts'>, plan: PlanRecord): Promise<MadePlan> {
  const contacts: PlannedContact[] = [];
  let [contactCount, groupCounts] = [0, noGroups];
  for (let after = 0; ; after += contactsPerPage) {
    const page = await plans.contacts(plan.id, after, contactsPerPage);
    for (const contact of page.filter(isWorthShowing)) {
      contactCount += 1;
      groupCounts = withContact(groupCounts, contact);
      if (contacts.length < contactsShownMax) contacts.push(contact);
    }
    if (page.length < contactsPerPage) break;
    await nextTurn();
  }
  const elsewhere = { problems: [], outcomes: [], notes: [], unsure: 0, sent: {} };
  return { plan, isKept: true, contacts, contactCount, groupCounts, ...elsewhere };
}
