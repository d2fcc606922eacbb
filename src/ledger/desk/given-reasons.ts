/** The reasons that people gave: of acts, of approvals and imports of runs, of pauses of schedules. A person who is forgotten is not named in them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PersonInLedger } from '#src/ledger/forgetting.ts';
import { eachRunIn } from '#src/ledger/paged-lists.ts';
import { withoutPerson } from '#src/ledger/rules/named-people.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ScheduleRecord } from '#src/ledger/schedules.ts';
import type { Tables } from '#src/ledger/tables.ts';
import { actsIn, doneState } from './acts.ts';
import { allMax, sliceMax } from './records.ts';
import { schedulesIn } from './schedules.ts';

export interface NamingReasons {
  /** Replaces the person in them; for use inside the transaction that forgets the person. @returns how many reasons. */
  erase(tables: Tables): Promise<number>;
}

/** Found outside that transaction: the whole trail is looked through, page by page. */
export async function reasonsNaming(
  reads: Tables,
  person: Pick<PersonInLedger, 'key' | 'texts'>,
): Promise<NamingReasons> {
  const cleaned = (reason: string): string => withoutPerson(reason, person);
  const isNaming = (reason: string | null): reason is string => reason !== null && cleaned(reason) !== reason;
  const actIds = await actsWhere(reads, isNaming);
  const runIds = await runsWhere(reads, (run) => reasonsOf(run).some(isNaming));
  return {
    erase: async (tables) => {
      let count = 0;
      const clean = (reason: string | null): string | null => {
        if (!isNaming(reason)) return reason;
        count += 1;
        return cleaned(reason);
      };
      const acts = [...(await actsIn(tables).many(actIds)).values()];
      await actsIn(tables).put(...acts.map((act) => ({ ...act, reason: clean(act.reason) })));
      const schedules = (await schedulesIn(tables).list({ order: 'id', limit: allMax })).map(
        ({ document }) => document,
      );
      const paused = schedules.filter(({ pauseReason }: ScheduleRecord) => isNaming(pauseReason));
      await schedulesIn(tables).put(...paused.map((one) => ({ ...one, pauseReason: clean(one.pauseReason) })));
      const runs = runIds.length === 0 ? [] : await tables.runs.findRuns({ ids: runIds }, runIds.length);
      for (const { sequence, approvals, options } of runs) {
        await tables.runs.changeRun(sequence, {
          approvals: approvals.map((one) => ({ ...one, reason: clean(one.reason) })),
          options: { ...options, acceptReason: clean(options.acceptReason) },
        });
      }
      return count;
    },
  };
}

function reasonsOf({ approvals, options }: RunRecord): readonly (string | null)[] {
  return [options.acceptReason, ...approvals.map(({ reason }) => reason)];
}

async function actsWhere(reads: Tables, isNaming: (reason: string | null) => boolean): Promise<readonly string[]> {
  const found: string[] = [];
  let after: Awaited<ReturnType<ReturnType<typeof actsIn>['list']>>[number] | undefined;
  // Ends with the first short page: each begins behind the one before.
  for (;;) {
    const page = await actsIn(reads).list({ state: doneState, order: 'newest', after, limit: sliceMax });
    found.push(...page.filter(({ document }) => isNaming(document.reason)).map(({ id }) => id));
    if (page.length < sliceMax) return found;
    after = page.at(-1);
    await nextTurn();
  }
}

async function runsWhere({ runs }: Tables, isNaming: (run: RunRecord) => boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const run of eachRunIn(runs)) if (isNaming(run)) found.push(run.id);
  return found;
}
