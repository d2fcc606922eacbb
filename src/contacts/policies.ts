/**
 * Policies: who decides about a field of a contact that exists. This file is the one door: whatever plans a contact asks
 * `decideField` about each scalar and custom field that the file names, and `itemRules` about each list of e-mails and phones.
 * A create asks for neither: it holds what the file says (`docs/rules.md`, "Three
 * pictures, one plan").
 *
 * The file says *ours* today and *said* before; file and app last had *agreed* in common; the service holds *theirs*. The first
 * line of the field's policy that fits decides:
 *
 *   policy  ours       agreed, theirs                                 decision
 *   any     as theirs  –                                              equal
 *
 *   shared  as said    an undo took it back, or a person decided      keep
 *           as said    agreed so, people changed it, to be repaired   write
 *           as said    any other                                      keep
 *           changed    another feed's later change settled it         pass; hold if it is held
 *           changed    never agreed, the file wins (adopt)            write
 *           changed    held for this feed                             hold
 *           changed    theirs as agreed                               write
 *           changed    agreed, theirs differs: people changed it      hold
 *           changed    never agreed, theirs empty                     write
 *           changed    never agreed, equal but for case and spaces    alike
 *           changed    never agreed, differs                          hold
 *
 *   source  changed    another feed's later change settled it         pass
 *           as said    another feed's change settled it last          keep; write if it says the same and drift is repaired
 *           any        never agreed, and the contact was linked       as shared
 *           as said    theirs as agreed: ours but for case and spaces keep
 *           any        any other                                      write
 *
 *   fill    any        theirs not empty                               keep
 *           as said    theirs empty: it was emptied since             keep
 *           changed    another feed's later change settled it         pass
 *           changed    theirs empty                                   write
 *
 *   seed    any        any                                            keep
 *
 *   app     as said    –                                              keep
 *           changed    another feed's later change settled it         pass
 *           changed    theirs as agreed                               write
 *           changed    never agreed, theirs empty                     write
 *           changed    any other: the app's value is people's         keep
 *
 * Invariants: only `write` changes the service. No policy but `source` writes over a value that is neither empty nor was agreed
 * on nor is to be adopted; `fill` and `seed` write over none; `fill`, `seed` and `app` hold nothing. Planned again after it was
 * settled, a field gives no second write.
 *
 * Lists of items (`itemRules`):
 *
 *   policy  removed from the contact                                       put back, though people removed it   labels
 *   owned   what Patchbay wrote and no file names any more                 no                                   if they are ours to change
 *   all     what no file names, also what people added; only where the     yes                                  the file's
 *           row says the list, and each of its values could be read
 *   none    nothing                                                        no                                   if they are ours to change
 */
import { unreachable } from '#src/errors.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { FieldName, WantedSlot } from './desired.ts';

export const fieldPolicies = ['shared', 'source', 'fill', 'seed', 'app'] as const;
export type FieldPolicy = (typeof fieldPolicies)[number];

export const itemPolicies = ['owned', 'all', 'none'] as const;
export type ItemPolicy = (typeof itemPolicies)[number];

/** What a mapping says of each field and list. A field that is not in it is `shared`. */
export interface Policies {
  readonly fields: ReadonlyMap<FieldName, FieldPolicy>;
  readonly emails: ItemPolicy;
  readonly phones: ItemPolicy;
}

/** Where no mapping says anything. */
export const usualPolicies: Policies = { fields: new Map(), emails: 'owned', phones: 'owned' };

export function policyOf({ fields }: Policies, field: FieldName): FieldPolicy {
  return fields.get(field) ?? 'shared';
}

/**
 * `equal` and `alike`: file and app agree now. `keep`: theirs stays, and what the file says is settled. `pass`: the
 * same, since another feed decided later. `hold`: theirs stays, nothing is settled, a person decides.
 */
export type FieldDecision = 'equal' | 'alike' | 'keep' | 'pass' | 'hold' | 'write';

export interface FieldPictures {
  readonly ours: CustomFieldValue;
  /** Undefined if the file has never named the field: then the file changed. */
  readonly said: CustomFieldValue | undefined;
  /** Undefined if file and app never agreed. */
  readonly agreed: CustomFieldValue | undefined;
  /** Null if empty. */
  readonly theirs: CustomFieldValue;
  readonly isHeld: boolean;
  /** A change of the field by another feed, from a later run, has been settled. */
  readonly isOvertaken: boolean;
  /** The change that was settled last is another feed's, from whichever run. */
  readonly isOthers: boolean;
  /** That feed's file says the same value as this one. */
  readonly isAsOthers: boolean;
  /** The file wins over what it never agreed on. */
  readonly adopt: boolean;
  /** The contact got its key by its phone number or e-mail address: that it is the same person is likely, and no more. */
  readonly isLinked: boolean;
  /** Drift is repaired. */
  readonly restores: boolean;
  /** An undo took the file's value back, or a person kept the app's: that the app has another is no drift. */
  readonly isTakenBack: boolean;
  readonly same: (left: CustomFieldValue, right: CustomFieldValue) => boolean;
  readonly alike: (left: CustomFieldValue, right: CustomFieldValue) => boolean;
}

/** Which line of the table decided. */
export type FieldReason =
  | (
      | 'equal'
      | 'spelling'
      | 'fileUnchanged'
      | 'otherFeedLater'
      | 'otherFeedLast'
      | 'heldBefore'
      | 'adopted'
      | 'appUnchanged'
    )
  | ('bothChanged' | 'neverAgreed' | 'appEmpty' | 'appFilled' | 'appWins' | 'fileWins' | 'storedSo')
  | ('seedOnly' | 'notOurs' | 'otherFeedNames' | 'created' | 'repaired')
  | ('asRunLeftIt' | 'changedSince')
  /** Of items alone. */
  | ('peopleRemoved' | 'otherFeedRemoved' | 'notSaidNow');

/** The reason as people read it, behind the decision. */
export const reasonWords: Readonly<Record<FieldReason, string>> = {
  equal: 'the app has what the file says',
  spelling: 'they differ in case or spaces only',
  fileUnchanged: 'the file says what it said before',
  otherFeedLater: 'a later file of another feed changed it',
  otherFeedLast: 'another feed changed it last, and this file only repeats itself',
  heldBefore: 'it waits for a decision',
  adopted: 'file and app never agreed, and the file wins (adopt)',
  appUnchanged: 'the file changed it, and people did not',
  bothChanged: 'the file and people changed it, differently',
  neverAgreed: 'file and app never agreed on it',
  appEmpty: 'it is empty in the app',
  appFilled: 'it is filled in the app, and the policy fills empty fields only',
  appWins: 'people changed it, and the policy lets the app win',
  fileWins: 'the policy lets the file win',
  storedSo: 'the service stores it in this form',
  seedOnly: 'the policy writes it to new contacts only',
  notOurs: 'the value in the app is not one that this feed may remove',
  created: 'the contact is new',
  repaired: "people changed it, and the file's value is put back (repair)",
  asRunLeftIt: 'it is as the run that is undone left it',
  changedSince: 'it was changed after the run that is undone',
  peopleRemoved: 'people removed it: it is not put back while the file goes on naming it',
  otherFeedRemoved: 'people removed it after another feed had named it: it is not put back',
  notSaidNow: 'the row says nothing of it now, so that what it said before stays',
  otherFeedNames: "another feed's file names it",
};

export interface FieldRuling {
  readonly decision: FieldDecision;
  readonly why: FieldReason;
}

const ruling = (decision: FieldDecision, why: FieldReason): FieldRuling => ({ decision, why });

export function decideField(policy: FieldPolicy, pictures: FieldPictures): FieldRuling {
  const { ours, theirs, same } = pictures;
  if (same(ours, theirs)) return ruling('equal', 'equal');
  switch (policy) {
    case 'shared':
      return decideShared(pictures);
    case 'source':
      return decideSource(pictures);
    case 'fill':
      return decideFill(pictures);
    case 'seed':
      return ruling('keep', 'seedOnly');
    case 'app':
      return decideApp(pictures);
    default:
      return unreachable(policy);
  }
}

function isAsSaid({ ours, said, same }: FieldPictures): boolean {
  return said !== undefined && same(ours, said);
}

/** People changed what the file says, and what file and app had agreed on. */
function isToRestore({
  ours,
  agreed,
  theirs,
  isOvertaken,
  isOthers,
  isAsOthers,
  restores,
  isTakenBack,
  same,
  alike,
}: FieldPictures): boolean {
  if (!restores || isTakenBack || isOvertaken || (isOthers && !isAsOthers) || agreed === undefined) return false;
  return alike(ours, agreed) && !same(theirs, agreed);
}

function decideShared(pictures: FieldPictures): FieldRuling {
  const { ours, agreed, theirs, isHeld, isOvertaken, adopt, same, alike } = pictures;
  if (isAsSaid(pictures)) {
    return isToRestore(pictures) ? ruling('write', 'repaired') : ruling('keep', 'fileUnchanged');
  }
  if (isOvertaken) return isHeld ? ruling('hold', 'heldBefore') : ruling('pass', 'otherFeedLater');
  if (agreed === undefined && adopt) return ruling('write', 'adopted');
  if (isHeld) return ruling('hold', 'heldBefore');
  if (agreed !== undefined)
    return same(theirs, agreed) ? ruling('write', 'appUnchanged') : ruling('hold', 'bothChanged');
  if (theirs === null) return ruling('write', 'appEmpty');
  return alike(ours, theirs) ? ruling('alike', 'spelling') : ruling('hold', 'neverAgreed');
}

function decideSource(pictures: FieldPictures): FieldRuling {
  const { ours, agreed, theirs, isOvertaken, isOthers, isLinked, same, alike } = pictures;
  const asSaid = isAsSaid(pictures);
  if (isOvertaken && !asSaid) return ruling('pass', 'otherFeedLater');
  // Two feeds with this policy would otherwise take turns without end: a repeated value changes nothing for another feed.
  if (isOthers && asSaid) return isToRestore(pictures) ? ruling('write', 'repaired') : ruling('keep', 'otherFeedLast');
  if (agreed === undefined && isLinked) return decideShared(pictures);
  // The service stores it so: it would be written again and again.
  const isStoredSo = asSaid && agreed !== undefined && same(theirs, agreed) && alike(ours, theirs);
  return isStoredSo ? ruling('keep', 'storedSo') : ruling('write', 'fileWins');
}

/** What was empty was filled when the file first said its value: what is empty now was emptied since, by people, by another feed or by an undo. */
function decideFill(pictures: FieldPictures): FieldRuling {
  if (pictures.theirs !== null) return ruling('keep', 'appFilled');
  if (isAsSaid(pictures)) return ruling('keep', 'fileUnchanged');
  return pictures.isOvertaken ? ruling('pass', 'otherFeedLater') : ruling('write', 'appEmpty');
}

function decideApp(pictures: FieldPictures): FieldRuling {
  const { agreed, theirs, isOvertaken, same } = pictures;
  if (isAsSaid(pictures)) return ruling('keep', 'fileUnchanged');
  if (isOvertaken) return ruling('pass', 'otherFeedLater');
  if (agreed !== undefined && same(theirs, agreed)) return ruling('write', 'appUnchanged');
  return agreed === undefined && theirs === null ? ruling('write', 'appEmpty') : ruling('keep', 'appWins');
}

/** Whether a new value of the file may change a contact that exists: else it is only remembered. */
export function mayWrite(policy: FieldPolicy): boolean {
  return policy !== 'seed';
}

/** Whether a value that the file wants gone may be cleared on a contact that exists. */
export function mayClear(policy: FieldPolicy): boolean {
  return policy !== 'seed' && policy !== 'fill';
}

/** How a list of e-mails or phones is merged. */
export interface ItemRules {
  /** Which items that the file does not name leave the contact. */
  readonly removes: ItemPolicy;
  /** The file decides about each item that it names: put back, its own, labelled as it says. */
  readonly fileWins: boolean;
}

/**
 * @param removal of the configuration: `none` removes nothing, whatever the mapping says.
 * @param ours what the row says about the list: a blank row takes nothing away, and one with a value that could not be read nothing that
 *   this value may be.
 */
export function itemRules(policy: ItemPolicy, removal: 'owned' | 'none', ours: readonly WantedSlot[]): ItemRules {
  const fileWins = policy === 'all' && ours.length > 0;
  if (removal === 'none' || policy === 'none') return { removes: 'none', fileWins };
  return { removes: fileWins && !ours.some(({ partial }) => partial) ? 'all' : 'owned', fileWins };
}
