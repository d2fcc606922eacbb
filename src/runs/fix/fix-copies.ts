/**
 * Rows of a fix-file that are copies of one row without a key, and have got different keys: each goes in as a contact of its own, with a
 * warning, as where rows share a letter that has a key (`fix-key.ts`). Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { TriedRow } from './fix-superseded.ts';

/** The same rows; copies with other keys than the first of them have the warning. */
export function withCopiesTold(rows: readonly TriedRow[]): readonly TriedRow[] {
  const firstByRow = new Map<string, string>();
  return rows.map((row) => {
    const { item, letter, key } = row;
    if (item.kind !== 'row' || letter === null || letter.key !== null || key === null) return row;
    // Two rows of the original may look the same, and share the letter: they were in different lines.
    const name = `${letter.id} ${row.originalLine}`;
    const first = firstByRow.get(name) ?? key;
    firstByRow.set(name, first);
    if (first === key) return row;
    return { ...row, item: { ...item, warnings: [...(item.warnings ?? []), copied(item.row.line, first, key)] } };
  });
}

function copied(line: number, first: string, key: string): Problem {
  const [one, other] = [JSON.stringify(first), JSON.stringify(key)];
  const what = `the row is in the fix-file several times, with the keys ${one} and ${other}`;
  const hint = 'If that is not meant, undo the run, and leave the row in the fix-file once.';
  const message = `${what}: each goes in as a contact of its own; if that is not meant, undo the run, and leave the row in the fix-file once`;
  return { code: 'rowCopied', line, field: '_id', value: key, message, hint };
}
