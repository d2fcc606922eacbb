/**
 * Outcomes: what became of a row (`rules.md`, "Accounting" and "Dead letters"). The words are part of the contract:
 * reports and scripts compare them.
 */

export const outcomes = ['created', 'updated', 'unchanged', 'skipped', 'dead'] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * - `duplicate`: the same key stands in the file once more, with the same content or by the chosen rule.
 * - `superseded`: a newer run has already written this key.
 * - `gone`: the contact was deleted in the app, and stays so.
 * - `moved`: the contact changed since the plan that was to be applied.
 * - `notSelected`: the run was asked for other keys.
 * - `cancelled`: the run was cancelled before this row.
 */
export const skipReasons = ['duplicate', 'superseded', 'gone', 'moved', 'notSelected', 'cancelled'] as const;
export type SkipReason = (typeof skipReasons)[number];

/**
 * - `invalid`: the row itself is wrong; nothing was sent.
 * - `refused`: the service said no.
 * - `conflict`: the service holds two contacts for one key, or one that cannot be found.
 * - `notApplied`: the service said yes and holds something else.
 * - `exhausted`: all attempts failed while other requests went through.
 * - `doubt`: writes may have landed, and looking did not tell.
 */
export const deadClasses = ['invalid', 'refused', 'conflict', 'notApplied', 'exhausted', 'doubt'] as const;
export type DeadClass = (typeof deadClasses)[number];
