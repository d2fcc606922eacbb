/**
 * Pages of contacts, in order of creation: one statement for each combination of filters.
 *
 * `INDEXED BY` fails rather than walk the table, whatever the planner thinks of it. No statement sorts what it does
 * not find in order: of 20 externalIds, sorting costs SQLite as much as finding them
 * (`test/service/store/query-plan.test.ts`). Parameters have no names, since a name costs as much as two rows.
 */
import type { DatabaseSync } from 'node:sqlite';
import { prepareRowArrays, type RowArray } from './row-arrays.ts';

export interface ContactQuery {
  /** Null: any. Several are alternatives; matched exactly, byte by byte. */
  readonly externalIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  /** Rows after this place; 0 for the first page. */
  readonly afterSeq: number;
  /** Rows created at this instant or before. */
  readonly createdMsMax: number;
  readonly limit: number;
}

export interface ContactRow {
  readonly seq: number;
  /** The contact as a read shows it: JSON text. */
  readonly document: string;
}

export type ContactPage = (query: ContactQuery) => readonly ContactRow[];

const inRange = 'seq > ? AND created_ms <= ?';
const isOneOf = 'IN (SELECT value FROM json_each(?))';
const byExternalIdSql = `
SELECT seq, document FROM contacts INDEXED BY contacts_by_external_id
WHERE external_id ${isOneOf} AND ${inRange}`;

export function createContactPages(database: DatabaseSync): ContactPage {
  const all = prepareRowArrays(database, `SELECT seq, document FROM contacts WHERE ${inRange} ORDER BY seq LIMIT ?`);
  const byExternalId = prepareRowArrays(database, byExternalIdSql);
  const byExternalIdAndSource = prepareRowArrays(database, `${byExternalIdSql} AND source ${isOneOf}`);
  const seqsOfSource = prepareRowArrays(
    database,
    `SELECT seq FROM contacts INDEXED BY contacts_by_source WHERE source = ? AND ${inRange} ORDER BY seq LIMIT ?`,
  );
  const atSeqs = prepareRowArrays(database, `SELECT seq, document FROM contacts WHERE seq ${isOneOf} ORDER BY seq`);

  /** At most one row for each externalId. */
  const ofExternalIds = (externalIds: readonly string[], query: ContactQuery): readonly RowArray[] => {
    const { sources, afterSeq, createdMsMax, limit } = query;
    const ids = JSON.stringify(externalIds);
    const rows =
      sources === null
        ? byExternalId.all(ids, afterSeq, createdMsMax)
        : byExternalIdAndSource.all(ids, afterSeq, createdMsMax, JSON.stringify(sources));
    return rows.toSorted(([one], [other]) => Number(one) - Number(other)).slice(0, limit);
  };

  /** The first rows of each source, merged: the index holds them in order only source by source. */
  const ofSources = (sources: readonly string[], { afterSeq, createdMsMax, limit }: ContactQuery) => {
    const seqs = [...new Set(sources)]
      .flatMap((source) => seqsOfSource.all(source, afterSeq, createdMsMax, limit).map(([seq]) => Number(seq)))
      .sort((one, other) => one - other);
    return atSeqs.all(JSON.stringify(seqs.slice(0, limit)));
  };

  const rowsOf = (query: ContactQuery): readonly RowArray[] => {
    const { externalIds, sources, afterSeq, createdMsMax, limit } = query;
    if (externalIds !== null) return ofExternalIds(externalIds, query);
    return sources === null ? all.all(afterSeq, createdMsMax, limit) : ofSources(sources, query);
  };
  return (query) => rowsOf(query).map(([seq, document]) => ({ seq: Number(seq), document: String(document) }));
}
