/**
 * How a row ended and what is reported about it (`docs/rules.md`, "Accounting" and "Dead letters"): reasons, problems, and what a
 * plan changes or leaves alone. Codes and words are part of the contract: reports and scripts compare them. Values are
 * personal data, never to be logged.
 */
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { FieldName } from './desired.ts';

/**
 * - `duplicate`: the key occurs again in the file, with the same content or by the chosen rule.
 * - `superseded`: a newer run has already written this key.
 * - `gone`: the contact was deleted in the app, and stays deleted.
 * - `moved`: the contact changed since the plan that was to be applied.
 * - `notSelected`: the run was asked for other keys.
 * - `made`: the run that is undone made the contact, and it is not to be deleted.
 * - `cancelled`: the run was cancelled before this row.
 * - `ignored`: the row would be rejected, and its mapping says to leave such rows alone.
 */
export type SkipReason =
  | 'duplicate'
  | 'superseded'
  | 'gone'
  | 'moved'
  | 'notSelected'
  | 'made'
  | 'cancelled'
  | 'ignored';

/**
 * - `invalid`: the row itself is wrong; nothing was sent.
 * - `refused`: the service refused the write.
 * - `conflict`: the service holds two contacts for one key, or one that cannot be found.
 * - `notApplied`: the service accepted the write and holds something else.
 * - `exhausted`: all attempts failed while other requests succeeded.
 * - `doubt`: writes may have landed, and look-ups could not tell.
 */
export type DeadClass = 'invalid' | 'refused' | 'conflict' | 'notApplied' | 'exhausted' | 'doubt';

/** What is wrong with one row, or worth a warning, in terms of the user's file. */
export interface Problem {
  /** Stable; scripts may compare it. */
  readonly code: string;
  /** The physical line in the file, counted from 1. */
  readonly line: number;
  /** The column or member as the file names it; null for the row as a whole. */
  readonly field: string | null;
  /** The cell as the file holds it, cut after 200 characters; null if there is none. */
  readonly value: string | null;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
  /** Of a warning: the value could not be read, and the contact goes without it (`onInvalid: drop`). */
  readonly isLoss?: true;
}

/**
 * For lists: a cell with several bad values has the same problem for each of them, and is corrected once. Letters keep them all, since numbers
 * without a country are counted.
 */
export function distinctProblems<Shown extends object>(problems: readonly Shown[]): readonly Shown[] {
  return problems.length < 2 ? problems : [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()];
}

/**
 * For lists of warnings about a file: each hint behind the last warning that has it, since many may have the same one. One that asks for nothing
 * is left out.
 */
export function hintsOnce<Warning extends { readonly hint?: string }>(
  warnings: readonly Warning[],
): ReadonlyMap<Warning, string> {
  const last = new Map(warnings.map((one) => [one.hint ?? '', one]));
  return new Map([...last].flatMap(([hint, one]) => (hint === '' || asksForNothing.test(hint) ? [] : [[one, hint]])));
}

const asksForNothing = /^Nothing to do[^.;]*\.$/;

/** `cleared` is a scalar or a custom field set to null; `removed` and `relabelled` are e-mails and phones. */
type ChangeKind = 'added' | 'changed' | 'cleared' | 'removed' | 'relabelled';

/** One difference that the plan writes. `from` and `to` are values; of a relabelled item they are the labels. */
export interface Change {
  readonly field: FieldName;
  readonly from: CustomFieldValue;
  readonly to: CustomFieldValue;
  readonly why: ChangeKind;
  /** Of an item that is removed: its label, with which it may be put back. In the journal also of one that a contact gained, by a create too. */
  readonly label?: string | null;
}

/**
 * One write in the journal: it was answered, or a later read showed that it landed (`docs/rules.md`, "The journal"). Values are those
 * of the service where they are known, and of a relabelled item its labels.
 */
export interface JournalEntry {
  /** The run whose write it was; null: the one that enters it. */
  readonly runId: string | null;
  readonly contactId: string;
  /**
   * `link`: a contact that had no externalId got one, perhaps with other changes. `adopt`: nothing was written, and values that the contact
   * held already have another owner.
   */
  readonly kind: 'create' | 'patch' | 'link' | 'delete' | 'adopt';
  /** Of a create: each value, from null; of a delete: each value, to null. */
  readonly changes: readonly JournalChange[];
  /** Of a create and a delete: the contact's `source`. Absent in entries of older versions. */
  readonly source?: string | null;
}

/**
 * `landed`: no answer came, and a later read showed the value. `adopted`, `givenBack`: the value stays as it is; it was people's, and is
 * Patchbay's own from then on, or the other way round.
 */
export type JournalChange = Omit<Change, 'why'> & {
  readonly why: ChangeKind | 'landed' | 'adopted' | 'givenBack';
  /**
   * The feeds that had agreed on `from` (`base.ts`). Absent where all of them had, where there was no value, and of an item that
   * Patchbay had put there; none where people had. It tells an undo whose value it puts back.
   */
  readonly agreedWith?: readonly string[];
};

/**
 * A field that the file and people changed in different ways: nothing is written to it (policy `shared`). Of an undo: a value that stays
 * although the run wrote it.
 */
export interface HeldField {
  readonly field: FieldName;
  /** Null, too, if the file never named the field. */
  readonly said: CustomFieldValue;
  readonly theirs: CustomFieldValue;
  readonly ours: CustomFieldValue;
  /** Of an undo: the other feed whose file names it, too, which is why it stays. Absent where it was changed since. */
  readonly namedBy?: string;
}

/** Something that was left alone although the file differs, with the reason in one sentence. */
export interface Note {
  readonly field: FieldName;
  readonly code: 'itemWithoutId' | 'labelChangedByPeople' | 'spelling' | 'overtaken' | 'notCleared';
  /** Does not name the field, nor its value. */
  readonly message: string;
}

/** What people read of a write: the notes of its plan, and what its reply has in another form. */
export interface WriteWarning {
  /** As a `ReplyDifference` names it (`reply.ts`). */
  readonly field: string;
  readonly code: Note['code'] | 'replyDiffers';
  readonly message: string;
}

/** The change of one scalar or custom field. */
export function fieldChange(field: FieldName, from: CustomFieldValue, to: CustomFieldValue): Change {
  if (to === null) return { field, from, to, why: 'cleared' };
  return { field, from, to, why: from === null ? 'added' : 'changed' };
}

/** A row that would create a contact of which nothing is known but its key. */
export function contactEmptyProblem(key: string, line: number): Problem {
  const message = 'the row holds nothing but its key, and no contact has this key yet';
  const hint = 'Fill in a name, a phone number or another mapped column, or remove the row.';
  return { code: 'contactEmpty', line, field: null, value: key, message, hint };
}

/** The code of rows of one key that differ. */
export const duplicateKey = 'duplicateKey';

/** A dead letter holds the last of them alone, so that a retry can let no other win; the fix-file of the run holds all. */
const keepOne =
  'Keep one of them in the fix-file. Or set duplicateKeys in the mapping: to firstWins, and drop the fix-file in again; or to lastWins, and do the same or retry the dead letter, mapped anew.';

/** `firstWins` and `lastWins` would make one contact out of them. */
const keyForEach = `Different people need different keys: give each an id in the column of the key (in a vCard, a line such as UID:1, another one for each), or use a mapping of your own whose key has the name beside the number (docs/mapping.md, "People who share a number"). If they are one person all the same: ${keepOne}`;

/**
 * A row that is rejected since another one with its key says something else. Several records of JSON may be in one line.
 *
 * @param arePeople whether the two are different people, by their names.
 */
export function duplicateKeyProblem(key: string, line: number, otherLine: number, arePeople = false): Problem {
  const differ = arePeople
    ? 'have the same key, and are different people by their names'
    : 'have the same key and differ';
  return {
    code: duplicateKey,
    line,
    field: null,
    value: key,
    message:
      line === otherLine
        ? `several records in line ${line} ${differ}`
        : `lines ${Math.min(line, otherLine)} and ${Math.max(line, otherLine)} ${differ}`,
    hint: arePeople ? keyForEach : keepOne,
  };
}
