/** Whether what a person reads is coloured. */

/** Values of `FORCE_COLOR` by which there are none; any other asks for them. */
const none: readonly string[] = ['0', 'false'];

/**
 * By `--no-color`, then `NO_COLOR`, then `FORCE_COLOR`, and without all of them by whether the stream is a terminal. An empty variable
 * counts as unset.
 */
export function wantsColours(
  { color }: { readonly color?: boolean },
  { isTTY }: { readonly isTTY?: boolean },
  { NO_COLOR = '', FORCE_COLOR = '' }: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (color === false || NO_COLOR !== '') return false;
  return FORCE_COLOR === '' ? isTTY === true : !none.includes(FORCE_COLOR);
}
