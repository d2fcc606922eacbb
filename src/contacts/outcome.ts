/**
 * Outcomes: what became of a row (`rules.md`, "Accounting" and "Dead letters"). The words are part of the contract:
 * reports and scripts compare them.
 */

import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { FieldName } from './field.ts';

/**
 * - `duplicate`: the same key stands in the file once more, with the same content or by the chosen rule.
 * - `superseded`: a newer run has already written this key.
 * - `gone`: the contact was deleted in the app, and stays so.
 * - `moved`: the contact changed since the plan that was to be applied.
 * - `notSelected`: the run was asked for other keys.
 * - `cancelled`: the run was cancelled before this row.
 */
const skipReasons = ['duplicate', 'superseded', 'gone', 'moved', 'notSelected', 'cancelled'] as const;
export type SkipReason = (typeof skipReasons)[number];

/**
 * - `invalid`: the row itself is wrong; nothing was sent.
 * - `refused`: the service said no.
 * - `conflict`: the service holds two contacts for one key, or one that cannot be found.
 * - `notApplied`: the service said yes and holds something else.
 * - `exhausted`: all attempts failed while other requests went through.
 * - `doubt`: writes may have landed, and looking did not tell.
 */
const deadClasses = ['invalid', 'refused', 'conflict', 'notApplied', 'exhausted', 'doubt'] as const;
export type DeadClass = (typeof deadClasses)[number];

/** What is wrong, or worth a note, with one row: in the words of the person who wrote the file. */
export interface Problem {
  /** Stable; scripts may compare it. */
  readonly code: string;
  /** The physical line in the file, counted from 1. */
  readonly line: number;
  /** The column or member as the file names it; null where the row as a whole is meant. */
  readonly field: string | null;
  /** The cell as the file holds it, cut after 200 characters; null where there is none. */
  readonly value: string | null;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
}

// What a plan does, and what it leaves alone on purpose, as values to show. They hold personal data: never log them.

/** `cleared` is a scalar or a custom field set to null; `removed` and `relabelled` are e-mails and phones. */
type ChangeKind = 'added' | 'changed' | 'cleared' | 'removed' | 'relabelled';

/** One difference that the plan writes. `from` and `to` are values; of a relabelled item they are the labels. */
export interface Change {
  readonly field: FieldName;
  readonly from: CustomFieldValue;
  readonly to: CustomFieldValue;
  readonly why: ChangeKind;
}

/** A field that file and people changed differently: nothing is written for it (policy `shared`). */
export interface HeldField {
  readonly field: FieldName;
  /** Null also where the file had never said anything. */
  readonly said: CustomFieldValue;
  readonly theirs: CustomFieldValue;
  readonly ours: CustomFieldValue;
}

/** Something that was left as it is although the file says otherwise, with the reason in one sentence. */
export interface Note {
  readonly field: FieldName;
  readonly code: 'itemWithoutId' | 'labelChangedByPeople' | 'spelling' | 'overtaken';
  readonly message: string;
}

/** The change of one scalar or custom field. */
export function fieldChange(field: FieldName, from: CustomFieldValue, to: CustomFieldValue): Change {
  if (to === null) return { field, from, to, why: 'cleared' };
  return { field, from, to, why: from === null ? 'added' : 'changed' };
}
