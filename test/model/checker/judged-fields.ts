/**
 * The rules of fields, played once for each chronicle: most schedules of a scenario differ in moments and crashes that leave
 * the same reads, writes and ends behind, and the referee follows all ways at once.
 */
import { fieldBreaches } from '../commands/check-fields.ts';
import type { KeyEvent } from '../commands/chronicle.ts';
import type { Fate } from '../commands/fates.ts';
import type { Row } from '../commands/model.ts';

/** More chronicles than these are forgotten, all at once: a thread plays one scenario after the other. */
const chroniclesMax = 20_000;
const judged = new Map<string, readonly string[]>();

/** As `fieldBreaches`, which reads nothing but the events and the fates of their rows. */
export function fieldBreachesOf(events: readonly KeyEvent[], fateOf: (row: Row) => Fate): readonly string[] {
  const fates = events.flatMap((event) => (event.kind === 'row' ? [fateOf(event.row)] : []));
  const chronicle = JSON.stringify([events, fates], listed);
  let breaches = judged.get(chronicle);
  if (breaches === undefined) {
    breaches = fieldBreaches(events, fateOf);
    if (judged.size >= chroniclesMax) judged.clear();
    judged.set(chronicle, breaches);
  }
  return breaches;
}

/** Pictures are maps, and what was held is a set. */
function listed(_name: string, value: unknown): unknown {
  return value instanceof Map || value instanceof Set ? [...value] : value;
}
