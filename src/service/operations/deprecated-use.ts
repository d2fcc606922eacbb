/** A parameter or a member that a request used and should not any more (section 9). */
export interface DeprecatedUse {
  readonly name: string;
  /** What to use in its place. ASCII, without quotes: it goes into a header. */
  readonly instead: string;
}
