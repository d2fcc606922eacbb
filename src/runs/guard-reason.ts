/** What a person reads of a run that a guard stopped. Pure. */
import { isoInstant } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import { figureFacts, guardCode, percent } from '#src/ledger/rules/approval.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunReason, RunRecord } from '#src/ledger/runs.ts';
import { listNames } from '#src/mapping/header.ts';
import type { Guard, GuardVerdict } from './guards.ts';

/** The figures of every guard that said no, the key to set, and the exact command to go on. */
export function guardReason(
  verdicts: readonly GuardVerdict[],
  { id, feed }: Pick<RunRecord, 'id' | 'feed'>,
  serviceName: string,
): RunReason {
  const flags = flagsThatPass(verdicts);
  const feedFlag = feed === mainFeed ? '' : `--feed ${/^[\w.-]+$/.test(feed) ? feed : `"${feed}"`} `;
  return {
    code: guardCode(verdicts[0]?.guard ?? 'updates'),
    message: `stopped before the first write: ${verdicts.map(sentence).join('; ')}`,
    hint: `${verdicts.flatMap(({ advice }) => (advice === undefined ? [] : [`${advice} `])).join('')}Look at the file. If it is right, import it again with ${feedFlag}${flags === null ? '' : `${flags} or `}--accept, or let it go on: ${approveCommand(id, serviceName)}`,
    facts: figureFacts(verdicts),
  };
}

/** What to type to let a stopped run go on. The sandbox has a data folder of its own. */
export function approveCommand(runId: string, serviceName: string): string {
  return `patchbay runs approve ${serviceName === 'sandbox' ? '--sandbox ' : ''}${runId}`;
}

function sentence({ guard, count, base, limit, older, names = [] }: GuardVerdict): string {
  const share = percent(base === 0 ? 1 : count / base);
  const most = `(${share}; the limit guards.${guard}Max is ${percent(limit)})`;
  const least = `(${share}; the limit guards.${guard}Min is ${percent(limit)})`;
  switch (guard) {
    case 'older':
      return `this is the file of run ${older?.runId} of ${dateOf(older?.atMs ?? 0)}, and ${count === 1 ? '1 newer one was' : `${count} newer ones were`} imported since: it would turn values back`;
    case 'strangers':
      return `not one of the file's ${count} rows has a key that the feed knows, and it knows ${base} (guards.strangersFloor, guards.strangersRows): everybody would be there twice`;
    case 'unmapped':
      return `nothing maps ${count === 1 ? 'the column' : 'the columns'} ${listNames(names)}, which by ${count === 1 ? 'its name holds' : 'their names hold'} contact data`;
    case 'columns':
      return `the file lacks ${count === 1 ? 'the column' : 'the columns'} ${listNames(names)}, which the file before had and which ${count === 1 ? 'is' : 'are'} mapped`;
    case 'rows':
      return `the file has ${count} rows, and the file before had ${base} ${least}`;
    case 'keys':
      return `the file has ${count} of the ${base} keys that the file before had ${least}`;
    case 'updates':
      return `the file changes ${count} of the ${base} contacts it had before ${most}`;
    case 'creates':
      return `the file brings ${count} new contacts beside the ${base} that the feed knows ${most}`;
    case 'clears':
      return `the file clears or removes ${count} values of ${base} contacts it had before ${most}`;
    case 'dead':
      return `${count} of ${base} rows cannot be used ${most}`;
    default:
      return unreachable(guard);
  }
}

function dateOf(ms: number): string {
  return isoInstant(ms).slice(0, 10);
}

const comparisons: ReadonlySet<Guard> = new Set(['older', 'strangers', 'unmapped', 'columns', 'rows', 'keys']);

/** The flags that let all of them pass at once; null where only `--accept` does: a percentage ends at 100 %. */
function flagsThatPass(verdicts: readonly GuardVerdict[]): string | null {
  if (verdicts.some(({ guard }) => comparisons.has(guard))) return null;
  const percentFor = (ofDead: boolean): number =>
    Math.max(
      0,
      ...verdicts
        .filter(({ guard }) => (guard === 'dead') === ofDead)
        .map(({ count, base }) => (base === 0 ? Number.POSITIVE_INFINITY : Math.ceil((count / base) * 100))),
    );
  const change = percentFor(false);
  const dead = percentFor(true);
  if (Math.max(change, dead) > 100) return null;
  const flags = [...(change > 0 ? [`--max-change ${change}%`] : []), ...(dead > 0 ? [`--max-dead ${dead}%`] : [])];
  return flags.join(' ');
}
