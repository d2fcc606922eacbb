/**
 * The policy `shared` for one scalar or custom field (`rules.md`, "Three pictures, one plan").
 *
 *                      people did not change     people changed
 *   file unchanged     keep                      keep
 *   file changed       write                     hold
 *
 * Ahead of the table: what the file does not name is kept, and so is what is already as the file wants it.
 */
/** `keep`: theirs stays, and the field is settled if the file names it. `hold`: theirs stays, and it is not settled. */
export type FieldDecision = 'keep' | 'write' | 'hold';

export interface FieldPictures<Value> {
  /** Absent (undefined) where the file does not name the field. */
  readonly ours: Value | undefined;
  /** Undefined where the file never said it: then the file changed. */
  readonly said: Value | undefined;
  /** Undefined where we never saw the contact: then people did not change it. */
  readonly seen: Value | undefined;
  readonly theirs: Value;
  /** A held field stays held, even when another feed's write has moved seen in the meantime. */
  readonly wasHeld: boolean;
  readonly same: (left: Value, right: Value) => boolean;
}

export function decideField<Value>({ ours, said, seen, theirs, wasHeld, same }: FieldPictures<Value>): FieldDecision {
  if (ours === undefined || same(ours, theirs)) return 'keep';
  const fileChanged = said === undefined || !same(ours, said);
  if (!fileChanged) return 'keep';
  const peopleChanged = seen !== undefined && !same(theirs, seen);
  return peopleChanged || wasHeld ? 'hold' : 'write';
}
