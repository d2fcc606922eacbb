/** What a feed's file said last for a key and had settled, in SQLite. For use inside a transaction. */
import type { Said } from '#src/contacts/base.ts';
import type { SettledSaid } from '../contact-record.ts';
import type { Database } from './database.ts';

export interface SaidPlace {
  readonly feed: string;
  readonly key: string;
  /** Of the run whose file said it. */
  readonly sequence: number;
  readonly atMs: number;
}

export function writeSaid(db: Database, { feed, key, sequence, atMs }: SaidPlace, settled: SettledSaid): void {
  db.run(
    `INSERT INTO said (feed, key, said, row_hash, fingerprint, mapping_version, sequence, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (feed, key) DO UPDATE SET said = excluded.said, row_hash = excluded.row_hash, fingerprint = excluded.fingerprint,
       mapping_version = excluded.mapping_version, sequence = excluded.sequence, settled_at = excluded.settled_at`,
    feed,
    key,
    JSON.stringify(settled.said),
    settled.rowHash,
    settled.fingerprint,
    settled.mappingVersion,
    sequence,
    atMs,
  );
}

/** What an update in doubt said that has landed. Its hashes are unknown: the row is looked at again, whatever it says next. */
export function writeLanded(
  db: Database,
  key: string,
  { feed, sequence, said }: { readonly feed: string; readonly sequence: number; readonly said: Said },
  atMs: number,
): void {
  writeSaid(db, { feed, key, sequence, atMs }, { said, rowHash: null, fingerprint: null, mappingVersion: '' });
}
