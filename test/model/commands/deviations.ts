/**
 * What the product is known to do against the rules. Such a breach is counted and told, and fails a story only with
 * `--strict`. An entry leaves this list with the mistake.
 */
export const deviations = {
  unseenWrite:
    'an update in doubt landed, and a row of another file came before its own row looked again: what we wrote ourselves is taken for a change by people, and a field that only files changed is held; or the row is overtaken, and the next file is compared with what was said before it',
  lostClaim:
    'a create in doubt landed, another feed updated the contact and died before it could tell; when the row of the create finds its contact, it forgets what the other feed had claimed, and that feed never removes its item again',
  readTwice:
    'a file whose job is delivered twice at the same instant is read twice by one engine, and its rows are counted as duplicates: the story delivers the second one a moment later, unless it is played strictly',
} as const;
export type Deviation = keyof typeof deviations;

export interface Breach {
  readonly text: string;
  /** Null where nobody knew of it. */
  readonly deviation: Deviation | null;
}
