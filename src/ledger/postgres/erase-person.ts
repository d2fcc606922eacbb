/** Deletes what names a person who is forgotten (`tables/keys.ts`, `forget`), in PostgreSQL. */
import { type DocumentsOfKeys, documentsOfKeys, erasingStatements, forgottenWord } from '#src/ledger/erased-rows.ts';
import type { PersonInLedger } from '#src/ledger/forgetting.ts';
import type { ResultRow } from '#src/ledger/records/columns.ts';
import type { Statements } from './pool.ts';

/** Inside a transaction. @returns how many rows were deleted. */
export async function erasePerson(statements: Statements, { key, letterIds }: PersonInLedger): Promise<number> {
  let rows = 0;
  for (const sql of erasingStatements('$1')) rows += await statements.run(sql, key);
  for (const documents of documentsOfKeys) rows += await eraseDocuments(statements, documents, key);
  if (letterIds.length > 0) {
    rows += await statements.run('DELETE FROM dead_rows WHERE letter_id = ANY ($1::text[])', letterIds);
    rows += await statements.run('DELETE FROM letters WHERE id = ANY ($1::text[])', letterIds);
  }
  await statements.run(
    "UPDATE records SET document = replace(document, $1, $2) WHERE kind = 'plan' AND strpos(document, $1) > 0",
    ...[JSON.stringify(key), JSON.stringify(forgottenWord)],
  );
  for (const column of ['notes', 'options']) {
    const quoted = JSON.stringify(key).slice(1, -1);
    await statements.run(
      `UPDATE runs SET ${column} = replace(${column}, $1, $2) WHERE strpos(options, $3) > 0 AND strpos(${column}, $1) > 0`,
      ...[quoted, forgottenWord, `"${quoted}"`],
    );
  }
  return rows;
}

const documentsPerPage = 500;

/**
 * The database finds the texts that hold the key as JSON writes it, and each is read here: PostgreSQL takes no JSON apart that has an
 * escape of U+0000 or of half a surrogate pair anywhere, and values from the service have them.
 */
async function eraseDocuments(
  statements: Statements,
  { table, place, column, which, path }: DocumentsOfKeys,
  key: string,
): Promise<number> {
  const numbered = place.map((name, index) => ({ name, parameter: `$${index + 1}` }));
  const names = place.join(', ');
  const afterLast = numbered.map(({ parameter }) => `${parameter}::bigint`).join(', ');
  const page = `SELECT ${names}, ${column} FROM ${table}
    WHERE ${which} AND (${names}) > (${afterLast}) AND strpos(${column}, $${place.length + 1}) > 0
    ORDER BY ${names} LIMIT ${documentsPerPage}`;
  const lists = numbered.map(({ parameter }) => `${parameter}::bigint[]`).join(', ');
  const deletion = `DELETE FROM ${table} USING unnest(${lists}) AS gone (${names})
    WHERE ${place.map((name) => `${table}.${name} = gone.${name}`).join(' AND ')}`;
  const placeOf = (row: ResultRow): readonly number[] => place.map((name) => Number(row[name]));
  let rows = 0;
  let after: readonly number[] = place.map(() => -1);
  // Ends with the first short page: each begins behind the one before.
  for (;;) {
    const found = await statements.all(page, ...after, JSON.stringify(key));
    const gone = found.filter((row) => memberOf(String(row[column]), path) === key).map(placeOf);
    if (gone.length > 0) {
      const listed = place.map((_, index) => gone.map((one) => one[index] ?? 0));
      rows += await statements.run(deletion, ...listed);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < documentsPerPage) return rows;
    after = placeOf(last);
  }
}

/** What a document has at that path. */
function memberOf(document: string, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? (value as ResultRow)[name] : undefined),
    JSON.parse(document),
  );
}
