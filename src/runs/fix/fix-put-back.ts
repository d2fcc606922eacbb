/**
 * What is said of a row of a fix-file that is rejected again for a cell that counts as unchanged (`docs/rules.md`, "Dead letters"): `5E+10`
 * that came back as 50000000000, which a spreadsheet makes of it by itself. The file holds the new value, and the row was judged with the old
 * one. Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { quotedCell } from '#src/contacts/quoted-cell.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { shellWord } from '#src/shell-words.ts';
import { type Row, shownValue } from '#src/sources/row.ts';
import { cellTextOf } from './fix-record.ts';

/** The cells of a row as the file has them. */
interface CellsInFile {
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly string[];
}

/**
 * @param row as it is judged. @param letter of which an edit corrects the row all the same.
 * @returns what tells a problem of the row in the words of its file; null where no cell was put back.
 */
export function tellPutBack(
  { columns, cells }: CellsInFile,
  row: Row,
  { id, code }: Pick<DeadLetter, 'id' | 'code'>,
): ((problem: Problem) => Problem) | null {
  const judged = textsOf(row);
  const putBack = new Map(
    columns.flatMap((column, index) => {
      const [found, was] = [tidy(cells[index] ?? ''), tidy(judged.get(column) ?? '')];
      return found === '' || was === '' || found === was ? [] : [[column, { found, was }] as const];
    }),
  );
  if (putBack.size === 0) return null;
  return (problem) => {
    const cell = putBack.get(problem.field ?? '');
    if (cell === undefined) return problem;
    const { found, was } = cell;
    const letter = problem.code === code ? id : 'ID';
    const edit = `patchbay dead edit ${letter} --set ${shellWord(`${problem.field}=${found}`)}`;
    return {
      ...problem,
      value: shownValue(found),
      message: `${problem.message}, and what is there now counts as unchanged`,
      hint: `A spreadsheet makes ${quotedCell(found)} of ${quotedCell(was)} by itself, and may have lost what was there before. If it is right all the same: ${edit}`,
    };
  };
}

function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim();
}

function textsOf(row: Row): ReadonlyMap<string, string> {
  if (row.kind === 'cells') return new Map(row.columns.map((column, index) => [column, row.cells[index] ?? '']));
  return new Map(Object.entries(row.object).map(([name, value]) => [name, cellTextOf(value)]));
}
