/**
 * What the checker looks for: harm that a user would see, and promises of `docs/rules.md` that are broken on the way, whether
 * harm comes of it or not.
 */
export type ViolationKind =
  // Harm.
  | 'duplicate'
  | 'conflictTaken'
  | 'lostRow'
  | 'staleValue'
  | 'brokenRule'
  | 'lostEdit'
  | 'miscounted'
  | 'wrongBase'
  | 'unjustDeath'
  | 'leaseLeft'
  // Broken promises.
  | 'unguardedWrite'
  | 'twoWriters'
  | 'conflictWritten'
  | 'twoReadings'
  | 'neverEnds'
  | 'coreFailed';

export interface Violation {
  readonly kind: ViolationKind;
  readonly message: string;
}
