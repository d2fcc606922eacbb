/**
 * Rows that say nothing new, and are applied all the same since fields of theirs are held: the file wins, by `--adopt` or by the policy of
 * the field; or the run carries out a plan which would have written them, so that what is held now is compared with it (`moved`,
 * `docs/plans.md`, "Carrying a plan out").
 */
import { type Policies, policyOf } from '#src/contacts/policies.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import type { PlanLedger } from '#src/ledger/plans.ts';
import type { RunRecord } from '#src/ledger/runs.ts';

/** What of a run decides about them. */
export interface HeldRules {
  /** The file wins over values that it never agreed on. */
  readonly adopt: boolean;
  /** Keys of the plan that the run carries out; absent where it carries out none. */
  readonly planned?: ReadonlySet<string>;
}

export async function heldRulesOf(
  { feeds, ledger }: { readonly feeds: Feeds; readonly ledger: { readonly plans: Pick<PlanLedger, 'contacts'> } },
  { feed, options }: Pick<RunRecord, 'feed' | 'options'>,
): Promise<HeldRules> {
  const adopt = options.adopt || feeds.rulesOf(feed).adopt;
  if (options.planId === null) return { adopt };
  const planned = new Set<string>();
  // Ends with the plan, which is bounded.
  for await (const { key } of ledger.plans.contacts(options.planId)) planned.add(key);
  return { adopt, planned };
}

/** Whether fields of the row with this key are held, and it is applied although it says nothing new. */
export function isToBeDecided(
  key: string,
  { heldCount, said }: Pick<SaidRecord, 'heldCount' | 'said'>,
  { adopt, planned }: HeldRules,
  policies: Policies,
): boolean {
  if (heldCount === 0) return false;
  return adopt || planned?.has(key) === true || said.held.some((field) => policyOf(policies, field) !== 'shared');
}

/** Whether rows with held fields must be read, also where their text is known. */
export function readsHeld({ adopt, planned }: HeldRules): boolean {
  return adopt || planned !== undefined;
}
