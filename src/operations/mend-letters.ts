/**
 * What a person does with dead letters apart from trying them again: edits one and tries it, drops some, exports some as a file that can
 * be imported again.
 */

import type { Home } from '#src/app.ts';
import { archiveFolders } from '#src/config/data-folders.ts';
import { isOfNoRow } from '#src/contacts/desired.ts';
import { editRow, parseEdit } from '#src/dead-letters/edit-row.ts';
import { type ExportedFile, exportLetters } from '#src/dead-letters/export-letters.ts';
import { noDeadLetters, redriveEdited } from '#src/dead-letters/redrive.ts';
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { importFolderOf } from '#src/runs/enter-run.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { writeAsAsked } from '#src/whole-file.ts';
import { actOf } from './acts.ts';
import { hasOpenLetters, readDeadLetter } from './dead-letters.ts';
import { chosenNotices } from './dead-notices.ts';
import {
  chosenLetters,
  idsInAct,
  type LetterSelection,
  letterNotOpen,
  notALetter,
  requireAnyOpen,
  requireChosen,
} from './letter-selection.ts';
import { withWholeRunId } from './runs.ts';

/**
 * Sets cells of a letter's row and enters a run that tries it, mapped anew.
 * @param sets each `COLUMN=VALUE`.
 * @throws PatchbayError `usage`: `noSuchDeadLetter`, `notALetter`, `letterNotOpen`, `rowGone`, `setInvalid`, `columnUnknown`, `columnTwice`.
 */
export async function editLetter(
  { submit, actor }: Pick<Home, 'submit' | 'actor'>,
  id: string,
  sets: readonly string[],
  reason: string | null,
): Promise<RunRecord> {
  const found = await readDeadLetter(submit, id);
  if (found.kind === 'notice') throw notALetter(id);
  const { letter } = found;
  if (letter.state !== 'open') throw letterNotOpen(letter);
  if (letter.row === null) {
    throw new PatchbayError('usage', 'rowGone', `dead letter ${id} holds no row that could be edited`, {
      hint: 'Correct the file and import it again.',
    });
  }
  const { row } = letter;
  if (isOfNoRow(letter.line, letter.desired)) {
    const message = `dead letter ${id} holds no row that could be edited: it is of no row of a file`;
    throw new PatchbayError('usage', 'rowGone', message, {
      hint: `Try it again as it is: patchbay dead retry ${id}`,
    });
  }
  const edits = sets.map((text) => parseEdit(text, row));
  // What was set to which value is the contact's matter; that it was set is the act.
  const facts = { letter: id, columns: edits.map(({ column }) => column) };
  const act = await actOf({ ...submit, actor }, 'deadEdit', reason, facts);
  const run = await redriveEdited(submit, letter, editRow(row, edits), act);
  if (run === null) throw letterNotOpen((await submit.ledger.deadLetters.get(id)) ?? letter);
  return run;
}

export interface Dropped {
  readonly letters: number;
  readonly notices: number;
}

/** What a person is asked about before it is dropped. */
export interface LettersToDrop {
  /** Its run is a whole id. */
  readonly selection: LetterSelection;
  readonly noticeIds: readonly string[];
}

/**
 * The open letters that fit, and the notices that were given up: there is at least one of them.
 * @throws PatchbayError `usage`: `nothingChosen`, `noDeadLetters`, `noSuchRun`; `letterNotOpen` | `noSuchDeadLetter` where all that are
 *   named are not open.
 */
export async function chooseToDrop(home: Pick<Home, 'ledger'>, asked: LetterSelection): Promise<LettersToDrop> {
  requireChosen(asked);
  const { ids } = asked;
  const selection = await withWholeRunId(home, asked);
  const noticeIds = await chosenNotices(home, selection);
  if (ids.length > 0 && (await chosenNotices(home, { ids })).length === 0) await requireAnyOpen(home, ids);
  if (noticeIds.length === 0 && !(await hasOpenLetters(home, selection))) throw noDeadLetters();
  return { selection, noticeIds };
}

/**
 * Drops open letters, and notices that were given up: nothing is left to be done for them, and rows do not go in. The same row in a later
 * file opens its letter again.
 * @returns how many; letters that are being tried again are none of them.
 * @throws PatchbayError `usage` `noDeadLetters` where none is open any more.
 */
export async function dropLetters(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  { selection, noticeIds }: LettersToDrop,
  reason: string | null,
): Promise<Dropped> {
  const act = await actOf(home, 'deadDrop', reason, idsInAct(selection.ids));
  const letters = await home.ledger.deadLetters.drop(chosenLetters(selection), act);
  const notices = await home.ledger.deliveries.drop(noticeIds, act);
  if (letters + notices > 0) return { letters, notices };
  throw noDeadLetters();
}

/**
 * Writes open letters that fit as files that can be imported again, one for each feed and mapping.
 * @param folder null: where fix-files are.
 * @throws PatchbayError `usage`: `noDeadLetters`, `noSuchRun`, `outputNotWritten`; `letterNotOpen` | `noSuchDeadLetter` where all that are
 *   named are not open.
 */
export async function exportDeadLetters(
  { submit }: Pick<Home, 'submit'>,
  selection: LetterSelection,
  folder: string | null,
): Promise<readonly ExportedFile[]> {
  await requireAnyOpen(submit, selection.ids);
  const choice = chosenLetters(await withWholeRunId(submit, selection));
  const place = {
    folder: folder ?? archiveFolders(importFolderOf(submit)).fix,
    prefix: newRunId(submit.clock.nowMs()),
  };
  const files = await writeAsAsked(place.folder, () => exportLetters(submit.ledger, choice, place));
  if (files.length > 0) return files;
  throw noDeadLetters('no open dead letter with a row fits this choice');
}
