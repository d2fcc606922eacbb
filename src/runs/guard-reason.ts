/** What a person reads of a run that a guard stopped. Pure. */
import { unreachable } from '#src/errors.ts';
import { mainFeed } from '#src/ledger/main-feed.ts';
import type { RunReason } from '#src/ledger/run-record.ts';
import { listNames } from '#src/mapping/header.ts';
import type { Guard, GuardVerdict } from './guards.ts';

/** The figures of every guard that said no, the key to set and the flag for one run. */
export function guardReason(verdicts: readonly GuardVerdict[], feed: string = mainFeed): RunReason {
  const flags = flagsThatPass(verdicts);
  const feedFlag = feed === mainFeed ? '' : `--feed ${/^[\w.-]+$/.test(feed) ? feed : `"${feed}"`} `;
  return {
    code: `guard${(verdicts[0]?.guard ?? 'updates').replace(/^./, (letter) => letter.toUpperCase())}`,
    message: `stopped before the first write: ${verdicts.map(sentence).join('; ')}`,
    hint: `Look at the file. If it is right, approve the run, or import again with ${feedFlag}${flags === null ? '' : `${flags} or `}--accept --reason TEXT.`,
    facts: Object.fromEntries(
      verdicts.flatMap(({ guard, count, base, limit }) => [
        [`${guard}Count`, count],
        [`${guard}Base`, base],
        [`${guard}Limit`, limit],
      ]),
    ),
  };
}

function sentence({ guard, count, base, limit, names = [] }: GuardVerdict): string {
  const share = percent(base === 0 ? 1 : count / base);
  const most = `(${share}; the limit guards.${guard}Max is ${percent(limit)})`;
  const least = `(${share}; the limit guards.${guard}Min is ${percent(limit)})`;
  switch (guard) {
    case 'columns':
      return `the file lacks ${count === 1 ? 'the column' : 'the columns'} ${listNames(names)}, which the file before had and which ${count === 1 ? 'is' : 'are'} mapped`;
    case 'rows':
      return `the file has ${count} rows, and the file before had ${base} ${least}`;
    case 'keys':
      return `the file has ${count} of the ${base} keys that the file before had ${least}`;
    case 'updates':
      return `the file changes ${count} of the ${base} contacts it had before ${most}`;
    case 'creates':
      return `the file brings ${count} new contacts beside the ${base} it had before ${most}`;
    case 'clears':
      return `the file clears or removes ${count} values of ${base} contacts it had before ${most}`;
    case 'dead':
      return `${count} of ${base} rows cannot be used ${most}`;
    default:
      return unreachable(guard);
  }
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 1_000) / 10}%`;
}

const comparisons: ReadonlySet<Guard> = new Set(['columns', 'rows', 'keys']);

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
