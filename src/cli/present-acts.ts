/** Acts of people for people: `logs --acts`, and the acts of one run in `runs show`. */
import { isoInstant } from '#src/clock.ts';
import type { Actor, ActRecord } from '#src/ledger/acts.ts';
import { actWhat } from '#src/operations/act-words.ts';
import { type Output, printable } from './output.ts';
import { instantText } from './present-run.ts';

/** `2026-11-22 23:35:07Z  ann  approved run …: the new mail domain`. */
export function actLine({ style }: Output, act: ActRecord): string {
  const { atMs, who, by, reason } = act;
  const why = reason === null ? '' : `: ${printable(reason)}`;
  return `${style('gray', instantText(isoInstant(atMs)))}  ${style('cyan', printable(who))}${places[by]}  ${printable(actWhat(act))}${why}`;
}

const places: Readonly<Record<Actor['by'], string>> = { command: '', page: ' (page)', queue: '' };
