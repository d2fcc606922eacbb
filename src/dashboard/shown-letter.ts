/**
 * What is shown of a dead letter. A row may be a megabyte long, and a page has hundreds of letters: of each no more is held than its card
 * shows. Pure.
 */
import { distinctProblems } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { type Row, recordOf } from '#src/sources/row.ts';

export interface ShownLetter extends Omit<DeadLetter, 'row' | 'desired'> {
  /** Its place beside the line, where several records share one. */
  readonly place: ReturnType<typeof recordOf>;
  readonly row: ShownRow | null;
}

export type ShownRow =
  | {
      readonly kind: 'cells';
      readonly cells: readonly (readonly [name: string, cell: string])[];
      readonly moreCount: number;
    }
  | { readonly kind: 'object'; readonly text: string };

const cellsShownMax = 100;
const cellCharactersMax = 200;
const objectCharactersMax = 5_000;

export function shownLetter({ row, desired: _, ...letter }: DeadLetter): ShownLetter {
  const problems = distinctProblems(letter.problems);
  return { ...letter, problems, place: recordOf(row), row: row === null ? null : shownRow(row) };
}

function shownRow(row: Row): ShownRow {
  if (row.kind === 'object') return { kind: 'object', text: jsonStart(row.object, objectCharactersMax) };
  const { cells, columns } = row;
  return {
    kind: 'cells',
    cells: cells
      .slice(0, cellsShownMax)
      .map((cell, index) => [start(columns[index] ?? `cell ${index + 1}`), start(cell)] as const),
    moreCount: Math.max(0, cells.length - cellsShownMax),
  };
}

/** A long text is cut into one of its own: a slice would hold the whole of it in memory. */
function start(text: string): string {
  if (text.length <= cellCharactersMax) return text;
  return `${Buffer.from(text.slice(0, cellCharactersMax)).toString()}…`;
}

/** The beginning of `JSON.stringify(value, null, 2)`, of which no more is made. */
export function jsonStart(value: unknown, charactersMax: number): string {
  const pieces: string[] = [];
  let left = charactersMax;
  let isCut = false;
  const put = (text: string): void => {
    isCut ||= text.length > left;
    const piece = text.slice(0, left);
    left -= piece.length;
    if (piece !== '') pieces.push(piece);
  };
  const write = (inner: unknown, margin: string): void => {
    if (typeof inner !== 'object' || inner === null) {
      put(JSON.stringify(typeof inner === 'string' ? inner.slice(0, left + 1) : inner) ?? 'null');
      return;
    }
    const names = Array.isArray(inner) ? null : Object.keys(inner);
    const [opening, closing] = names === null ? ['[', ']'] : ['{', '}'];
    const count = (names ?? (inner as readonly unknown[])).length;
    put(opening);
    for (let index = 0; index < count && !isCut; index += 1) {
      put(`${index === 0 ? '' : ','}\n${margin}  `);
      const name = names?.[index];
      if (name !== undefined) put(`${JSON.stringify(name)}: `);
      write(
        name === undefined ? (inner as readonly unknown[])[index] : (inner as Record<string, unknown>)[name],
        `${margin}  `,
      );
    }
    put(count === 0 ? closing : `\n${margin}${closing}`);
  };
  write(value, '');
  // As in `start`.
  return Buffer.from(`${pieces.join('')}${isCut ? '…' : ''}`).toString();
}
