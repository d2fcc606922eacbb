/** Conditions of a statement that depend on what is asked for. */
import type { Parameter } from './values.ts';

/** A condition with a `$` for its value, and that value; without one where it is undefined. */
export type Condition = readonly [sql: string, value: Parameter | undefined];

/**
 * Those that have a value, with their parameters by number from `first` on; `TRUE` where there is none. `next`: the number of the
 * parameter behind them.
 */
export function where(
  conditions: readonly Condition[],
  first = 1,
): { readonly sql: string; readonly parameters: readonly Parameter[]; readonly next: number } {
  const parameters: Parameter[] = [];
  const parts = conditions.flatMap(([sql, value]) => {
    if (value === undefined) return [];
    parameters.push(value);
    return [sql.replace('$', () => `$${first + parameters.length - 1}`)];
  });
  return { sql: parts.join(' AND ') || 'TRUE', parameters, next: first + parameters.length };
}
