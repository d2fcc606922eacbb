/** What a plan does, and what it leaves alone on purpose, as values to show. They hold personal data: never log them. */

import type { FieldName } from '#src/contacts/field-name.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';

/** `cleared` is a scalar or a custom field set to null; `removed` and `relabelled` are e-mails and phones. */
export type ChangeKind = 'added' | 'changed' | 'cleared' | 'removed' | 'relabelled';

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
