/** Options as commander gives them: absent unless somebody said them. */
export interface GlobalOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
  readonly values?: boolean;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
}
