/**
 * The policy `shared` for one scalar or custom field: what becomes of it, from what the file says today (*ours*), what
 * it said before (*said*), what file and app agreed on (*agreed*) and what the service holds (*theirs*)
 * (`rules.md`, "Three pictures, one plan"). The first line that fits decides:
 *
 *   ours            said             agreed, theirs                           decision
 *   not named       –                –                                        untouched
 *   as theirs       –                –                                        equal
 *   as said         –                –                                        keep
 *   changed         –                another feed's later change settled it   pass; hold where it is held
 *   changed         –                never agreed, the file wins (adopt)      write
 *   changed         –                held for this feed                       hold
 *   changed         –                never agreed, theirs empty               write
 *   changed         –                never agreed, alike but for case, spaces alike
 *   changed         –                never agreed, differs                    hold
 *   changed         –                theirs as agreed                         write
 *   changed         –                theirs differs: people changed it        hold
 *
 * Invariant: only `write` changes the service, and only over what is empty, was agreed on, or was said to be adopted.
 */

/**
 * `equal` and `alike`: file and app agree now. `keep`: theirs stays, and what the file says is settled. `pass`: the
 * same, since another feed decided later. `hold`: theirs stays, nothing is settled, a person decides.
 */
export type FieldDecision = 'untouched' | 'equal' | 'alike' | 'keep' | 'pass' | 'hold' | 'write';

export interface FieldPictures<Value> {
  /** Absent (undefined) where the file does not name the field. */
  readonly ours: Value | undefined;
  /** Undefined where the file never said it: then the file changed. */
  readonly said: Value | undefined;
  /** Undefined where file and app never agreed. */
  readonly agreed: Value | undefined;
  readonly theirs: Value;
  readonly isHeld: boolean;
  readonly isOvertaken: boolean;
  /** The file wins over what it never agreed on. */
  readonly adopt: boolean;
  readonly isEmpty: (value: Value) => boolean;
  readonly same: (left: Value, right: Value) => boolean;
  readonly alike: (left: Value, right: Value) => boolean;
}

export function decideField<Value>(pictures: FieldPictures<Value>): FieldDecision {
  const { ours, said, agreed, theirs, isHeld, isOvertaken, adopt, isEmpty, same, alike } = pictures;
  if (ours === undefined) return 'untouched';
  if (same(ours, theirs)) return 'equal';
  if (said !== undefined && same(ours, said)) return 'keep';
  if (isOvertaken) return isHeld ? 'hold' : 'pass';
  if (agreed === undefined && adopt) return 'write';
  if (isHeld) return 'hold';
  if (agreed !== undefined) return same(theirs, agreed) ? 'write' : 'hold';
  if (isEmpty(theirs)) return 'write';
  return alike(ours, theirs) ? 'alike' : 'hold';
}
