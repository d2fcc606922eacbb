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
 * @returns what tells the problems of the row in the words of its file; null where no cell was put back.
 */
export function tellPutBack(
  { columns, cells }: CellsInFile,
  row: Row,
  { id, code }: Pick<DeadLetter, 'id' | 'code'>,
): ((problems: readonly Problem[]) => readonly Problem[]) | null {
  const judged = textsOf(row);
  const putBack = new Map(
    columns.flatMap((column, index) => {
      const [found, was] = [tidy(cells[index] ?? ''), tidy(judged.get(column) ?? '')];
      return found === '' || was === '' || found === was ? [] : [[column, { found, was }] as const];
    }),
  );
  if (putBack.size === 0) return null;
  const told = (problem: Problem, shownId: string): Problem => {
    const cell = putBack.get(problem.field ?? '');
    if (cell === undefined) return problem;
    const { found, was } = cell;
    // It is as wrong as what was there: how to correct that is said already.
    if (isNeverRight(problem.code, found)) return { ...problem, value: shownValue(found) };
    const edit = `patchbay dead edit ${shownId} --set ${shellWord(`${problem.field}=${found}`)}`;
    return {
      ...problem,
      value: shownValue(found),
      message: `${problem.message}, and what is there now counts as unchanged`,
      hint: `A spreadsheet makes ${quotedCell(found)} of ${quotedCell(was)} by itself, and may have lost what was there before. If it is right all the same: ${edit}`,
    };
  };
  // The first problem is that of the row: of another code it has another letter, whose id is not known yet.
  return (problems) => problems.map((one) => told(one, problems[0]?.code === code ? id : 'ID'));
}

/** A number with an exponent is no number that a person dials, and no key. What could be no phone number is none in another form. */
function isNeverRight(code: string, found: string): boolean {
  return code === 'phoneImpossible' || (damagedCodes.has(code) && /\dE[+-]?\d+$/i.test(found));
}

const damagedCodes: ReadonlySet<string> = new Set(['phoneDamaged', 'keyDamaged']);

function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trim();
}

function textsOf(row: Row): ReadonlyMap<string, string> {
  if (row.kind === 'cells') return new Map(row.columns.map((column, index) => [column, row.cells[index] ?? '']));
  return new Map(Object.entries(row.object).map(([name, value]) => [name, cellTextOf(value)]));
}
