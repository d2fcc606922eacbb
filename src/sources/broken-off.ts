/**
 * An export that its program broke off: the message of the error is in the file behind the last row that was written, as PHP leaves it. All people
 * behind it are missing, so the file is no full one, and its last lines are no remark. Only errors that end a program count: rows follow a warning.
 * Pure.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { shownValue } from './row.ts';

const withMarkup = /^\s*(?:<br \/>\s*)?<b>(?:PHP )?(?:(?:Catchable |Recoverable )?fatal|parse) error<\/b>:\s/i;
const plain = /^\s*(?:PHP )?(?:(?:Catchable |Recoverable )?Fatal|Parse) error: .+ in \S+(?: on line |:)\d+/s;

/** The error of a table in which that record is such a message; null for nearly all records. */
export function brokenOff(
  name: string,
  { text, line }: { readonly text: string; readonly line: number },
): PatchbayError | null {
  if (!text.includes('rror') || !(withMarkup.test(text) || plain.test(text))) return null;
  const said = shownValue(text.replace(/<[^>]{0,20}>/g, '').trim());
  const message = `${name}, line ${line}: the export broke off with an error of the program that wrote it: "${said}"`;
  const hint =
    'Rows behind that line are missing. Correct the program, or give it more time or memory, and export the file again.';
  return fileError('exportBrokeOff', message, { file: name, line, said }, hint);
}
