/** What staging takes in: rows as read, or dead letters that are tried again. */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';

interface Tried {
  /** The dead letter that is tried again: a redrive's, or the one that a row of a fix-file names in `_id`. */
  readonly letterId?: string;
}

export type StageItem = Tried &
  (
    | { readonly kind: 'row'; readonly row: Row; readonly sequence: number }
    /** The row cannot even be read. */
    | { readonly kind: 'broken'; readonly row: Row; readonly problem: Problem }
    /** Mapped before: taken verbatim. */
    | { readonly kind: 'desired'; readonly row: Row; readonly desired: DesiredContact; readonly sequence: number }
  );
