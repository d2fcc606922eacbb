/** Rows of the desk as records (`tables/desk.ts`). */
import type { DeskRecord, StoredVersion, TouchedRow } from '#src/ledger/tables/desk.ts';
import { numberOrNull, parseJson, type ResultRow, textOrNull } from './columns.ts';

export function toVersion(row: ResultRow): StoredVersion {
  return {
    key: Number(row.number_key),
    id: String(row.id),
    fromMs: Number(row.from_at),
    untilMs: numberOrNull(row.until_at),
    text: String(row.document),
  };
}

export function toRecord(row: ResultRow): DeskRecord {
  return {
    number: Number(row.number),
    id: String(row.id),
    owner: textOrNull(row.owner),
    state: String(row.state),
    atMs: numberOrNull(row.at),
    document: parseJson<unknown>(row.document),
  };
}

export function toTouched(row: ResultRow): TouchedRow {
  return { position: Number(row.position), key: String(row.key), inDoubt: row.in_doubt === 1 };
}
