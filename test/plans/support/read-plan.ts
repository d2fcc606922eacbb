/** Plans as tests look at them: read to the end, and disposed of. */
import type { PlannedContact } from '#src/contacts/planned.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import type { ProblemLine } from '#src/runs/report.ts';

export interface ReadPlan extends Omit<MadePlan, 'contacts' | 'problems' | typeof Symbol.asyncDispose> {
  readonly contacts: readonly PlannedContact[];
  readonly problems: readonly ProblemLine[];
}

export async function readWhole(made: MadePlan): Promise<ReadPlan> {
  await using open = made;
  const { [Symbol.asyncDispose]: _, ...facts } = open;
  return {
    ...facts,
    contacts: await Array.fromAsync(made.contacts),
    problems: await Array.fromAsync(made.problems),
  };
}

/** A list that is read as it is asked for, as often as it is. */
export function readAgain<Item>(items: readonly Item[]): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: async function* () {
      yield* items;
    },
  };
}

/** Text that came in pieces. */
export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(pieces)).join('');
}
