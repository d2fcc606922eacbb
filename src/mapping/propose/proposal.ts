/** The proposal of a mapping, as a value: what each column becomes, how sure that is, and why. */
import type { ScalarName } from '#src/contacts/desired.ts';

/**
 * - *certain*: name and values agree.
 * - *likely*: the name says it and the values do not contradict, or the values alone say it.
 * - *guess*: to be checked by a person.
 */
export type Confidence = 'certain' | 'likely' | 'guess';

export interface ProposedColumn {
  /** As the file names it: a header, a path, or `column 4`. */
  readonly column: string;
  /** In words: `phone (mobile)`, `firstName and lastName`; null for a column that is left out. */
  readonly target: string | null;
  /** A value of the file; null where it is blank in all rows that were looked at. */
  readonly example: string | null;
  /** Null for a column that is left out. */
  readonly confidence: Confidence | null;
  /** Why it goes there, or why it is left out: half a sentence. */
  readonly reason: string;
}

/** How a mapping names a column: by header or path, else by position. */
export type ColumnName = string | number;

export interface DraftField {
  readonly name: ScalarName;
  /** Several: the first that is not blank. */
  readonly columns: readonly ColumnName[];
  readonly transform: 'givenNames' | 'familyName' | null;
}

export interface DraftItems {
  readonly column: ColumnName;
  readonly label: string;
}

/** The key: a column, perhaps in lower case; or derived from what identifies a person else. */
export type DraftKey =
  | { readonly kind: 'column'; readonly column: ColumnName; readonly lowerCase: boolean }
  | { readonly kind: 'derived'; readonly email: ColumnName | null; readonly template: string | null };

export interface Draft {
  readonly name: string;
  readonly key: DraftKey;
  readonly keyPrefix: string | null;
  readonly defaultCountry: string | { readonly column: ColumnName; readonly default: string | null } | null;
  readonly sheet: string | null;
  readonly fields: readonly DraftField[];
  readonly emails: readonly DraftItems[];
  readonly phones: readonly DraftItems[];
  readonly customFields: readonly { readonly column: ColumnName; readonly key: string }[];
  /** Every column of the file, in its order. */
  readonly columns: readonly ProposedColumn[];
  /** What a person should know before the first import: sentences. */
  readonly remarks: readonly string[];
}
