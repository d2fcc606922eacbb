/** What an undo says of the contacts that it deletes: a corrected file with the same keys is the next thing that people bring. */
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { makeAgainCommand } from './import-flags.ts';

/**
 * None of a run that is no undo, or deletes nothing.
 * @param count how many it has deleted, or would: fewer than it was asked to where contacts hold more than the undone run had left.
 * @param onGone of the feed.
 */
export async function deletionNote(
  { runs }: Pick<Ledger, 'runs'>,
  run: RunRecord,
  count: number,
  onGone: 'skip' | 'recreate',
): Promise<readonly string[]> {
  const { undoes } = run.options;
  if (undoes === null || count === 0) return [];
  const deletes = `this undo deletes ${counted(count, 'contact')}`;
  if (onGone === 'recreate')
    return [`${deletes}: a later file makes each again as soon as its row says something new (onGone: recreate)`];
  // The run that made them.
  const { feed, options } = (await runs.get(undoes)) ?? run;
  const { mappingNamed, defaultCountry } = options;
  const command = makeAgainCommand({
    feed,
    options: { ...noOptions, mappingNamed, defaultCountry, repair: true },
  });
  const them = count === 1 ? 'it' : 'them';
  return [`${deletes}, and later files leave ${them} gone; to make ${them} again with a file: ${command}`];
}
