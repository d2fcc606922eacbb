/**
 * A flaw: what is wrong with one value, before it is known on which line and in which column it stood.
 *
 * Messages never repeat the value, so that `--no-values` can leave values out of everything that is printed
 * (`rules.md`, "Secrets and personal data"); the value itself travels in `Problem.value`.
 */

/** Codes that kill a row. Stable: scripts may compare them. */
export type DeadCode =
  | 'keyMissing'
  | 'keyTooLong'
  | 'keyDamaged'
  | 'phoneLetters'
  | 'phoneDamaged'
  | 'phoneCountryMissing'
  | 'phoneImpossible'
  | 'phoneAmbiguous'
  | 'emailInvalid'
  | 'controlCharacter'
  | 'brokenCharacter'
  | 'notText'
  | 'precisionLost'
  | 'sourceRefused'
  | 'sourceUrlInvalid'
  | 'customFieldUnknown'
  | 'customFieldType'
  | 'memberTwice'
  | 'shapeWrong'
  | 'tooManyItems';

/** Codes of warnings: the row goes on. */
export type WarningCode =
  | 'phoneUnassigned'
  | 'phoneExtensionDropped'
  | 'phoneCountryAssumed'
  | 'placeholderText'
  | 'lineBreakReplaced'
  | 'clearIgnored'
  | 'keyUnguarded'
  | 'keyDecimalsDropped';

export interface Flaw<Code extends string = string> {
  readonly code: Code;
  /** What happened, in one sentence, without the value. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
}

/** What became of one value: normalised, perhaps with warnings, or refused. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value; readonly warnings: readonly Flaw<WarningCode>[] }
  | { readonly ok: false; readonly flaw: Flaw<DeadCode> };

export function good<Value>(value: Value, warnings: readonly Flaw<WarningCode>[] = []): Reading<Value> {
  return { ok: true, value, warnings };
}

export function bad(
  code: DeadCode,
  message: string,
  hint: string,
): { readonly ok: false; readonly flaw: Flaw<DeadCode> } {
  return { ok: false, flaw: { code, message, hint } };
}
