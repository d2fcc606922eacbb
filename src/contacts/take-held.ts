/**
 * How a hold ends besides by what the file says next (`docs/rules.md`, "Three pictures, one plan"), as it changes base. By a person's
 * decision:
 *
 *   takeApp    *said* moves, to what the file says: the same file is no longer a change. *Agreed* stays, so that the app's
 *              value is still protected, and another value of the file is held again; beside it the file's value is kept as one
 *              that was decided against, which is no drift.
 *   takeFile   *agreed* moves, for that feed, to the app's value that was shown: the file's value may be written over
 *              it. If the app has another value by then, people have changed it, and the plan holds the field again.
 *
 * Either way the field is no longer held. Nothing is written here: after `takeFile` the contact is planned anew.
 *
 * Or since the app has come to hold what the file said: both sides are equal, whatever the file says by the time that a read shows it.
 */
import type { Base, Ownership, PlanInput, Said } from '#src/contacts/base.ts';
import { type DesiredContact, type DesiredScalars, scalarNames } from '#src/contacts/desired.ts';
import {
  agreeFor,
  type FieldValue,
  fieldTypeOf,
  fieldValueOf,
  isExactly,
  saidValue,
  stamp,
  withTakenBack,
} from './base.ts';
import { type FieldName, sameCustomValue } from './desired.ts';
import { customKeyOf } from './merge.ts';
import type { HeldField } from './outcome.ts';

/** Whose value is kept. */
export type HeldSide = 'file' | 'app';

/** The part of base that a decision moves. */
export type DecidedBase = Pick<Base, 'agreed' | 'stamps' | 'owned'> & { readonly said: Said };

/** Whether the field is still held between the two values that were shown. @param now null if it is no longer held. */
export function isAsShown(now: HeldField | null, shown: HeldField): boolean {
  return now !== null && isExactly(now.ours, shown.ours) && isExactly(now.theirs, shown.theirs);
}

export function takeApp(said: Said, fields: readonly HeldField[]): Said {
  const { scalars, customFields } = membersOf(fields);
  const named = new Set(customFields.map(({ key }) => key));
  return {
    ...withoutHeld(said, fields),
    scalars: { ...said.scalars, ...scalars },
    customFields: [...said.customFields.filter(({ key }) => !named.has(key)), ...customFields],
  };
}

/** Agreements after that decision. */
export function agreedWithout(agreed: Base['agreed'], fields: readonly HeldField[]): Base['agreed'] {
  return withTakenBack(
    agreed,
    fields.map(({ field, ours }) => ({ field, value: ours })),
  );
}

/** @param by the feed and the moment of the decision: what other feeds said about these fields before is older. */
export function takeFile(
  base: DecidedBase,
  by: { readonly feed: string; readonly sequence: number },
  fields: readonly HeldField[],
): DecidedBase {
  const values = fields.map(({ field, theirs }): FieldValue => ({ field, value: theirs }));
  return {
    said: withoutHeld(base.said, fields),
    agreed: agreeFor(base.agreed, by.feed, values),
    stamps: stamp(
      base.stamps,
      by,
      values.map(({ field }) => field),
    ),
    owned: withCleared(base.owned, fields),
  };
}

/**
 * Base as it is once a read shows that the app holds what the feed's file said of a held field: said, and agreed for that feed. A field that
 * the row at hand does not name stays held, unless no row of a file had said its value, and this is one: the person was missing, and is back.
 * @param waiting what the file said last of the held fields.
 * @param isOfFile whether a file has the row: its line is 0 where the file lacks the person, or what drifted is repaired.
 */
export function withHoldsEnded(
  base: Base,
  waiting: readonly (Pick<HeldField, 'field' | 'ours'> & { readonly line: number })[],
  { feed, ours, theirs, isOfFile }: Pick<PlanInput, 'feed' | 'ours' | 'theirs'> & { readonly isOfFile: boolean },
): Base {
  const { agreed } = base;
  // An undo moves nothing that a file has said.
  if (base.said === null || theirs === null || ours.undo !== undefined) return base;
  const isOfMissing = ({ field, line }: (typeof waiting)[number]) => line === 0 && saidValue(ours, field) === undefined;
  // A decision is about the fields that it names.
  const over = isOfFile && ours.taken === undefined ? waiting.filter(isOfMissing) : [];
  const said = over.length === 0 ? base.said : withoutHeld(base.said, over);
  const ended = waiting.flatMap(({ field, ours: value }): HeldField[] => {
    const shown = fieldValueOf(theirs, field);
    const isEnded = said.held.includes(field) && saidValue(ours, field) !== undefined;
    const isEqual = sameCustomValue(fieldTypeOf(theirs, field), value, shown);
    return isEnded && isEqual ? [{ field, said: null, ours: value, theirs: shown }] : [];
  });
  if (ended.length === 0) return said === base.said ? base : { ...base, said };
  const values = ended.map(({ field, theirs: value }) => ({ field, value }));
  return { ...base, said: takeApp(said, ended), agreed: agreeFor(agreed, feed, values) };
}

/** What is to be written: the taken fields and nothing else. */
export function contactOfTaken(key: string, fields: readonly HeldField[]): DesiredContact {
  return { key, ...membersOf(fields), source: null, emails: [], phones: [] };
}

function membersOf(fields: readonly HeldField[]): Pick<DesiredContact, 'scalars' | 'customFields'> {
  const scalars: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = {};
  for (const { field, ours } of fields) {
    const name = scalarNames.find((one) => one === field);
    // A scalar's value is a text or null: the mapping made it.
    if (name !== undefined) scalars[name] = ours === null ? null : String(ours);
  }
  const customFields = fields.flatMap(({ field, ours }) => {
    const key = customKeyOf(field);
    return key === null ? [] : [{ key, value: ours }];
  });
  return { scalars, customFields };
}

function withoutHeld(said: Said, fields: readonly Pick<HeldField, 'field'>[]): Said {
  const taken = new Set<FieldName>(fields.map(({ field }) => field));
  return { ...said, held: said.held.filter((field) => !taken.has(field)) };
}

/** `#CLEAR` removes only what Patchbay owns; a person has just decided that this value may be removed. */
function withCleared(owned: Ownership, fields: readonly HeldField[]): Ownership {
  const cleared = fields.flatMap(({ field, ours, theirs }) => {
    const key = customKeyOf(field);
    return key === null || ours !== null ? [] : [{ key, value: theirs }];
  });
  if (cleared.length === 0) return owned;
  const keys = new Set(cleared.map(({ key }) => key));
  return { ...owned, customFields: [...owned.customFields.filter(({ key }) => !keys.has(key)), ...cleared] };
}
