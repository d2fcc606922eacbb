/**
 * The scalars and custom fields of one contact: what becomes of each that the file names, by the policy `shared`. The file
 * says *ours* today and *said* before; file and app last had *agreed* in common; the service holds *theirs* (`rules.md`,
 * "Three pictures, one plan"). The first line that fits decides:
 *
 *   ours            agreed, theirs                                decision
 *   as theirs       –                                             equal
 *   as said         –                                             keep
 *   changed         another feed's later change settled it        pass; hold if it is held
 *   changed         never agreed, the file wins (adopt)           write
 *   changed         held for this feed                            hold
 *   changed         theirs as agreed                              write
 *   changed         agreed, theirs differs: people changed it     hold
 *   changed         never agreed, theirs empty                    write
 *   changed         never agreed, equal but for case and spaces   alike
 *   changed         never agreed, differs                         hold
 *
 * Invariant: only `write` changes the service, and only over a value that is empty, was agreed on, or is to be adopted.
 */

import type { Contact, CustomFieldValue, UpdateCustomField } from '#src/wire/contact.ts';
import { agreedValue, fieldTypeOf, fieldValueOf, isOvertaken, type PlanInput } from './base.ts';
import { scalarNames } from './desired.ts';
import { alikeValue, customFieldName, customValueOrNull, type FieldName, sameCustomValue, sameText } from './field.ts';

/** What becomes of one field that the file names. */
export interface FieldVerdict {
  readonly field: FieldName;
  readonly decision: FieldDecision;
  readonly ours: CustomFieldValue;
  readonly theirs: CustomFieldValue;
  /** Null, too, if the file never named the field. */
  readonly said: CustomFieldValue;
  /** Whether the file says something other than before. */
  readonly fileChanged: boolean;
}

/** In the order of the contact's scalars, then custom fields by name: a stable order, since holds are listed in every run. */
export function judgeFields(input: PlanInput, theirs: Contact): readonly FieldVerdict[] {
  const { ours, base } = input;
  const scalars = scalarNames.flatMap((name) => {
    const wanted = ours.scalars[name];
    return wanted === undefined ? [] : [judge(input, theirs, name, wanted, base.said?.scalars[name])];
  });
  const customFields = ours.customFields.map(({ key, value }) => {
    const said = base.said?.customFields.find((field) => field.key === key)?.value;
    const verdict = judge(input, theirs, customFieldName(key), value, said);
    return value === null ? judgeClear(input, key, verdict) : verdict;
  });
  return [...scalars, ...customFields.sort((left, right) => (left.field < right.field ? -1 : 1))];
}

function judge(
  { base, feed, sequence, adopt }: PlanInput,
  contact: Contact,
  field: FieldName,
  ours: CustomFieldValue,
  said: CustomFieldValue | undefined,
): FieldVerdict {
  const isScalar = scalarNames.some((name) => name === field);
  const type = fieldTypeOf(contact, field);
  const same = (left: CustomFieldValue, right: CustomFieldValue): boolean =>
    isScalar && typeof left === 'string' && typeof right === 'string'
      ? sameText(left, right)
      : sameCustomValue(type, left, right);
  const theirs = customValueOrNull(fieldValueOf(contact, field));
  const decision = decideField({
    ours,
    said,
    agreed: agreedValue(base.agreed, feed, field),
    theirs,
    isHeld: base.said?.held.includes(field) ?? false,
    isOvertaken: isOvertaken(base.stamps, { feed, sequence }, field),
    adopt,
    same,
    alike: (left, right) => alikeValue(type, left, right),
  });
  return { field, decision, ours, theirs, said: said ?? null, fileChanged: said === undefined || !same(ours, said) };
}

/**
 * `equal` and `alike`: file and app agree now. `keep`: theirs stays, and what the file says is settled. `pass`: the
 * same, since another feed decided later. `hold`: theirs stays, nothing is settled, a person decides.
 */
type FieldDecision = 'equal' | 'alike' | 'keep' | 'pass' | 'hold' | 'write';

interface FieldPictures {
  readonly ours: CustomFieldValue;
  /** Undefined if the file has never named the field: then the file changed. */
  readonly said: CustomFieldValue | undefined;
  /** Undefined if file and app never agreed. */
  readonly agreed: CustomFieldValue | undefined;
  /** Null if empty. */
  readonly theirs: CustomFieldValue;
  readonly isHeld: boolean;
  readonly isOvertaken: boolean;
  /** The file wins over what it never agreed on. */
  readonly adopt: boolean;
  readonly same: (left: CustomFieldValue, right: CustomFieldValue) => boolean;
  readonly alike: (left: CustomFieldValue, right: CustomFieldValue) => boolean;
}

function decideField(pictures: FieldPictures): FieldDecision {
  const { ours, said, agreed, theirs, isHeld, isOvertaken, adopt, same, alike } = pictures;
  if (same(ours, theirs)) return 'equal';
  if (said !== undefined && same(ours, said)) return 'keep';
  if (isOvertaken) return isHeld ? 'hold' : 'pass';
  if (agreed === undefined && adopt) return 'write';
  if (isHeld) return 'hold';
  if (agreed !== undefined) return same(theirs, agreed) ? 'write' : 'hold';
  if (theirs === null) return 'write';
  return alike(ours, theirs) ? 'alike' : 'hold';
}

/**
 * `#CLEAR` of a custom field removes what Patchbay wrote and no other feed still names, as for items; any other value on
 * the service stays. A value that people changed since is held, like every change on both sides.
 */
function judgeClear({ base, feed, adopt, itemRemoval }: PlanInput, key: string, verdict: FieldVerdict): FieldVerdict {
  const { decision, theirs, field } = verdict;
  const neverAgreed = agreedValue(base.agreed, feed, field) === undefined;
  if (decision === 'hold' && neverAgreed && !base.said?.held.includes(field)) return { ...verdict, decision: 'keep' };
  if (decision !== 'write' || (adopt && itemRemoval === 'owned')) return verdict;
  const isEntry = (one: { readonly key: string; readonly value: CustomFieldValue }) =>
    one.key === key && sameCustomValue(null, one.value, theirs);
  const isOurs = base.owned.customFields.some(isEntry);
  const isNamed = base.others.some(({ owns, said }) => owns && said.customFields.some(isEntry));
  return isOurs && !isNamed && itemRemoval === 'owned' ? verdict : { ...verdict, decision: 'keep' };
}

/**
 * The complete list for the body: each custom field that holds a value, so that a service that replaces lists loses none.
 * One that is null and stays null is left out. A key that a service lists twice is written at its first place.
 */
export function sentCustomFields(theirs: Contact, verdicts: readonly FieldVerdict[]): readonly UpdateCustomField[] {
  const written = new Map(
    verdicts.filter(({ decision }) => decision === 'write').map(({ field, ours }) => [field, ours]),
  );
  const sent = theirs.customFields.flatMap(({ id, key, value }): UpdateCustomField[] => {
    const field = customFieldName(key);
    const wanted = written.get(field);
    written.delete(field);
    const place = id === null ? { key } : { id, key };
    if (wanted !== undefined) return [{ ...place, value: wanted }];
    return customValueOrNull(value) === null ? [] : [{ ...place, value }];
  });
  const added = [...written].flatMap(([field, value]) => {
    const key = customKeyOf(field);
    return key === null ? [] : [{ key, value }];
  });
  return [...sent, ...added];
}

/** The key in a custom field's name; null for any other field. */
export function customKeyOf(field: FieldName): string | null {
  return field.startsWith('custom.') ? field.slice('custom.'.length) : null;
}
